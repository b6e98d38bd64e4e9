"""Numbers rounded to 8 bits in ONNX: `QuantizeLinear` and `DequantizeLinear`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..tracing import TracedArray
from ..writing import maps

LARGEST = 127


def steps_of(op: Any, dtype: Any, scale: Any) -> Any:
    """What one stands for; None where that is not known, or is no matter of 8 bits."""
    known = scale.constant if isinstance(scale, TracedArray) else scale
    if known is None or not (op.is_test and op.bit_length == 8 and dtype == np.float32):
        return None
    scales = np.asarray(known).astype(np.float32).reshape(-1)
    return scales / np.float32(LARGEST) if (scales > 1e-30).all() else None


def step_of(graph: OnnxGraph, op: Any, X: Any, InScale: Any) -> Any:
    """The same, of one scale for all."""
    steps = steps_of(op, X.dtype, InScale)
    return None if steps is None else steps[0]


def rounded(graph: OnnxGraph, X: Any, step: Any) -> Any:
    """Whole numbers of 8 bits."""
    graph.checks.append("halves are rounded to even numbers, and not away from zero")
    bound = np.asarray(step * LARGEST, np.float32)
    inside = graph.Clip(X, -bound, bound)  # -128 is not meant
    return graph.QuantizeLinear(inside, np.asarray(step), np.zeros((), np.int8))


def whole(graph: OnnxGraph, op: Any, X: Any, InScale: Any, **none: None) -> Any:
    """Whole numbers as floats."""
    step = step_of(graph, op, X, InScale)
    if step is None:
        return NotImplemented
    found = rounded(graph, X, step)
    out = graph.Cast(found, to=1)
    graph.rounded[out.cell] = found
    return dict(Out=out, OutScale=np.reshape(InScale, (1,)))


@maps("fake_quantize_moving_average_abs_max")
def moving_average(graph: OnnxGraph, op: Any, X: Any, InScale: Any) -> Any:
    return whole(graph, op, X, InScale)


@maps("fake_quantize_range_abs_max")
def in_range(graph: OnnxGraph, op: Any, X: Any, InScale: Any) -> Any:
    return whole(graph, op, X, InScale)


@maps("fake_quantize_dequantize_moving_average_abs_max")
def there_and_back(graph: OnnxGraph, op: Any, X: Any, InScale: Any) -> Any:
    step = step_of(graph, op, X, InScale)
    if step is None:
        return NotImplemented
    found = rounded(graph, X, step)
    out = graph.DequantizeLinear(found, np.asarray(step), np.zeros((), np.int8))
    return dict(Out=out, OutScale=np.reshape(InScale, (1,)))


@maps("fake_dequantize_max_abs")
def back(graph: OnnxGraph, op: Any, X: Any, Scale: Any) -> Any:
    quantized = graph.rounded.get(X.cell) if isinstance(X, TracedArray) else None
    if quantized is None or op.max_range != LARGEST or not isinstance(Scale, TracedArray):
        return NotImplemented
    step = graph.Div(np.reshape(Scale, ()), graph.like(float(LARGEST), X.dtype))
    return graph.DequantizeLinear(quantized, step, np.zeros((), np.int8))


def shared(op: Any, steps: Any) -> tuple[Any, Any, dict[str, int]]:
    """Steps, zeros and the axis for ONNX: one for all, or one for each slice."""
    if op.quant_axis < 0:
        return steps.reshape(()), np.zeros((), np.int8), {}
    return steps, np.zeros(steps.shape, np.int8), {"axis": op.quant_axis}


@maps("quantize_linear")
def to_whole(graph: OnnxGraph, op: Any, X: Any, Scale: Any) -> Any:
    steps = steps_of(op, X.dtype, Scale)
    if steps is None or op.round_type != 0 or op.only_observer:
        return NotImplemented
    step, zero, axis = shared(op, steps)
    found = graph.QuantizeLinear(X, step, zero, **axis)
    out = graph.Cast(found, to=1)
    graph.rounded[out.cell] = found
    return dict(Y=out)


@maps("dequantize_linear")
def from_whole(graph: OnnxGraph, op: Any, X: Any, Scale: Any) -> Any:
    steps = steps_of(op, np.dtype(np.float32), Scale)
    if steps is None or op.only_observer or Scale.dtype != np.float32:
        return NotImplemented
    is_traced = isinstance(X, TracedArray)
    whole = graph.rounded.get(X.cell) if is_traced else None
    if whole is None:
        whole = as_int8(X.constant if is_traced else X)
    if whole is None:
        return NotImplemented
    step, zero, axis = shared(op, steps)
    return dict(Y=graph.DequantizeLinear(whole, step, zero, **axis))


def as_int8(numbers: Any) -> Any:
    """Numbers in 8 bits; None where they are not known, or do not fit."""
    if numbers is None:
        return None
    with np.errstate(invalid="ignore"):
        small = np.asarray(numbers).astype(np.int8)
    return small if np.array_equal(small, numbers) else None
