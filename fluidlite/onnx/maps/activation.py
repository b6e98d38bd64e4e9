"""Sigmoids and rectifiers in ONNX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..rearranging import in_shape, numbers, sizes_of
from ..tracing import SizesNeeded
from ..writing import MAPS, maps

MAPS.update(
    {
        "relu": lambda graph, op, X: graph.Relu(X),
        "logsigmoid": lambda graph, op, X: graph.Neg(graph.Softplus(graph.Neg(X))),
        "softplus": lambda graph, op, X: (
            graph.Softplus(X) if op.beta == 1 and op.threshold == math.inf else NotImplemented
        ),
        "log_softmax": lambda graph, op, X: (
            graph.LogSoftmax(X, axis=int(op.axis)) if X.ndim else NotImplemented
        ),
        "softsign": lambda graph, op, X: graph.Softsign(X),
        "swish": lambda graph, op, X: graph.Mul(
            X, graph.Sigmoid(X if op.beta == 1 else X * op.beta)
        ),
        "selu": lambda graph, op, X: graph.Selu(X, alpha=float(op.alpha), gamma=float(op.scale)),
        "thresholded_relu": lambda graph, op, X: graph.ThresholdedRelu(
            X, alpha=float(op.threshold)
        ),
    }
)


@maps("sigmoid")
def sigmoid(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Sigmoid(X)


@maps("hard_sigmoid")
def hard_sigmoid(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.HardSigmoid(X, alpha=float(op.slope), beta=float(op.offset))


@maps("prelu")
def prelu(graph: OnnxGraph, op: Any, X: Any, Alpha: Any) -> Any:
    slopes = op.slopes(X.sizes)
    if -1 in slopes:
        raise SizesNeeded("the slopes of prelu follow from sizes")
    return graph.PRelu(X, np.reshape(Alpha, slopes))


@maps("maxout")
def maxout(graph: OnnxGraph, op: Any, X: Any) -> Any:
    axis = op.axis % X.ndim
    if X.sizes[axis] == -1:
        raise SizesNeeded("how channels are grouped follows from their number")
    around = sizes_of(graph, X, 0, axis), sizes_of(graph, X, axis + 1, X.ndim)
    groups = numbers([X.sizes[axis] // op.groups, op.groups])
    return graph.ReduceMax(
        in_shape(graph, X, around[0], groups, around[1]), numbers([axis + 1]), keepdims=0
    )
