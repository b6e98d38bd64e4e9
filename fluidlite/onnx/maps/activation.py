"""Sigmoids and rectifiers in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..rearranging import in_shape, numbers, sizes_of
from ..tracing import SizesNeeded
from ..writing import maps


@maps("relu")
def relu(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Relu(X)


@maps("sigmoid")
def sigmoid(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Sigmoid(X)


@maps("logsigmoid")
def logsigmoid(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Neg(graph.Softplus(graph.Neg(X)))


@maps("softplus")
def softplus(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Softplus(X)


@maps("softsign")
def softsign(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Softsign(X)


@maps("swish")
def swish(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Mul(X, graph.Sigmoid(X if op.beta == 1 else X * op.beta))


@maps("selu")
def selu(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Selu(X, alpha=float(op.alpha), gamma=float(op.scale))


@maps("hard_sigmoid")
def hard_sigmoid(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.HardSigmoid(X, alpha=float(op.slope), beta=float(op.offset))


@maps("thresholded_relu")
def thresholded_relu(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.ThresholdedRelu(X, alpha=float(op.threshold))


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
