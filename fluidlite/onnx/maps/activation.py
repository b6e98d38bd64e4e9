"""Sigmoids and rectifiers in ONNX."""

from __future__ import annotations

from typing import Any

from ..graph import OnnxGraph
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
