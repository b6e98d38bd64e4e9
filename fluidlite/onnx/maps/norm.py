"""Normalisation in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.spec import spec
from ..graph import OnnxGraph
from ..rearranging import in_shape, numbers, sizes_of
from ..writing import maps


@maps("batch_norm")
def batch_norm(
    graph: OnnxGraph, op: Any, X: Any, Scale: Any, Bias: Any, Mean: Any, Variance: Any
) -> Any:
    if not op.scales(X, Scale):
        return NotImplemented
    y = graph.BatchNormalization(X, Scale, Bias, Mean, Variance, epsilon=float(op.epsilon))
    return dict(Y=y, MeanOut=Mean, VarianceOut=Variance)


@maps("layer_norm")
def layer_norm(graph: OnnxGraph, op: Any, X: Any, Scale: Any, Bias: Any) -> Any:
    axis = op.begin_norm_axis
    shape = X.sizes[axis:]
    if -1 in shape:
        return NotImplemented
    scale = np.ones(shape, X.dtype) if Scale is None else np.reshape(Scale, shape)
    bias = None if Bias is None else np.reshape(Bias, shape)
    attrs = dict(axis=axis, epsilon=float(op.epsilon))
    y, mean, inverse = graph.node("LayerNormalization", [X, scale, bias], 3, **attrs)
    variance = graph.Sub(
        graph.Reciprocal(graph.Mul(inverse, inverse)), graph.like(op.epsilon, X.dtype)
    )
    rows = np.array([-1], np.int64)
    return y, graph.Reshape(mean, rows), graph.Reshape(variance, rows)


@maps("affine_channel")
def affine_channel(graph: OnnxGraph, op: Any, X: Any, Scale: Any, Bias: Any) -> Any:
    along = (1,) * (X.ndim - 1) if op.data_layout == "NHWC" else (1,) * (X.ndim - 2)
    shape = (*along, -1) if op.data_layout == "NHWC" else (-1, *along)
    return X * np.reshape(Scale, shape) + np.reshape(Bias, shape)


@maps("instance_norm")
def instance_norm(graph: OnnxGraph, op: Any, X: Any, Scale: Any, Bias: Any, want: Any) -> Any:
    channels = X.sizes[1]
    if want is None or set(want) != {"Y"} or X.dtype != np.float32:
        return NotImplemented
    if channels == -1 and (Scale is None or Bias is None):
        return NotImplemented
    scale = np.ones(channels, X.dtype) if Scale is None else Scale
    bias = np.zeros(channels, X.dtype) if Bias is None else Bias
    return dict(Y=graph.InstanceNormalization(X, scale, bias, epsilon=float(op.epsilon)))


@maps("lrn")
def lrn(graph: OnnxGraph, op: Any, X: Any, want: Any) -> Any:
    if want is None or set(want) != {"Out"} or op.axis != 1 or X.dtype != np.float32:
        return NotImplemented
    alpha = float(op.alpha) * op.n  # ONNX takes the mean of the neighbours
    return dict(Out=graph.LRN(X, size=op.n, alpha=alpha, beta=float(op.beta), bias=float(op.k)))


@maps("group_norm")
def group_norm(graph: OnnxGraph, op: Any, X: Any, Scale: Any, Bias: Any, want: Any) -> Any:
    channels = X.sizes[1]
    if want is None or set(want) != {"Y"} or op.last or channels == -1 or channels % op.groups:
        return NotImplemented
    lead = sizes_of(graph, X, 0, 1)
    x = in_shape(graph, X, lead, numbers([op.groups, -1]))
    x.spec = spec([X.sizes[0], op.groups, -1], X.dtype)
    centred = x - np.mean(x, axis=2, keepdims=True)
    variance = np.mean(centred * centred, axis=2, keepdims=True)
    y = in_shape(
        graph, centred / np.sqrt(variance + op.epsilon), lead, sizes_of(graph, X, 1, X.ndim)
    )
    y.spec, along = X.spec, (-1, *[1] * (X.ndim - 2))
    y = y if Scale is None else y * np.reshape(Scale, along)
    return dict(Y=y if Bias is None else y + np.reshape(Bias, along))
