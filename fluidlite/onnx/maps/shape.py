"""Shapes in ONNX: sizes that are not known stay unknown."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..rearranging import numbers
from ..writing import maps


@maps("reshape", "reshape2")
def reshape(graph: OnnxGraph, op: Any, X: Any, Shape: Any, ShapeTensor: Any) -> Any:
    if ShapeTensor:
        rank = [graph.Reshape(graph.like(n, np.int64), numbers([1])) for n in ShapeTensor]
        shape = graph.node("Concat", rank, axis=0)
    else:
        shape = numbers(op.shape) if Shape is None else graph.like(Shape, np.int64)
    return dict(Out=graph.Reshape(X, shape))


@maps("flatten", "flatten2")
def flatten(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return dict(Out=graph.Flatten(X, axis=int(op.axis)))


@maps("squeeze", "squeeze2")
def squeeze(graph: OnnxGraph, op: Any, X: Any) -> Any:
    axes = op.axes or [i for i, n in enumerate(X.sizes) if n == 1]
    return dict(Out=graph.Squeeze(X, numbers(axes)))


@maps("unsqueeze", "unsqueeze2")
def unsqueeze(graph: OnnxGraph, op: Any, X: Any, AxesTensor: Any, AxesTensorList: Any) -> Any:
    if AxesTensor is not None or AxesTensorList:
        return NotImplemented
    out = X
    for axis in op.axes:
        out = graph.Unsqueeze(out, numbers([axis]))
    return dict(Out=out if op.axes else graph.Identity(X))


@maps("transpose2")
def transpose(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return dict(Out=graph.Transpose(X, perm=[axis % X.ndim for axis in op.axis]))


@maps("shape")
def shape(graph: OnnxGraph, op: Any, Input: Any) -> Any:
    if -1 not in Input.sizes:
        return np.asarray(Input.sizes, np.int32)
    return graph.like(graph.Shape(Input), np.int32)


@maps("split")
def split(graph: OnnxGraph, op: Any, X: Any, AxisTensor: Any, SectionsTensorList: Any) -> Any:
    if AxisTensor is not None or SectionsTensorList or (-1 in op.sections):
        return NotImplemented
    axis, count = int(op.axis), op.num or len(op.sections)
    sections = numbers(op.sections) if op.sections else None
    attrs = {} if op.sections else {"num_outputs": count}
    found = graph.node("Split", [X, sections], count, axis=axis, **attrs)
    return [found] if count == 1 else list(found)


@maps("expand")
def expand(graph: OnnxGraph, op: Any, X: Any, ExpandTimes: Any, expand_times_tensor: Any) -> Any:
    if ExpandTimes is not None or expand_times_tensor:
        return NotImplemented
    return graph.Tile(X, numbers(op.expand_times))


@maps("fill_constant_batch_size_like")
def fill_like_batch(graph: OnnxGraph, op: Any, Input: Any) -> Any:
    if Input.sizes[op.input_dim_idx] != -1:
        return NotImplemented
    size = graph.Shape(Input, start=op.input_dim_idx, end=op.input_dim_idx + 1)
    at = op.output_dim_idx
    parts = [numbers(op.shape[:at]), size, numbers(op.shape[at + 1 :])]
    value = float(op.str_value) if op.str_value else op.value
    whole = graph.node("Concat", [p for p in parts if np.ndim(p) == 0 or len(p)], axis=0)
    return graph.Expand(np.asarray(value, op.dtype.dtype), whole)
