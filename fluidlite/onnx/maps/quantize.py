"""Numbers rounded to 8 bits in ONNX: `QuantizeLinear` and `DequantizeLinear`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..tracing import TracedArray
from ..writing import maps

LARGEST = 127


def step_of(graph: OnnxGraph, op: Any, X: Any, InScale: Any) -> Any:
    """What one stands for; None where that is not known, or is no matter of 8 bits."""
    known = isinstance(InScale, TracedArray) and InScale.constant is not None
    if not (op.is_test and known and op.bit_length == 8 and X.dtype == np.float32):
        return None
    scale = np.float32(np.asarray(InScale.constant).reshape(-1)[0])
    return scale / np.float32(LARGEST) if scale > 1e-30 else None


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
