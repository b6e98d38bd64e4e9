"""Quantised numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..building import need_room
from ..forms import operator
from ..types import numpy_type
from ..widened import HELD, ROUNDED, Widened, bare
from .conv import DENSE, ConvWindows, conv, less_zero
from .elementwise import clipped, rounded, to_short_floats
from .matrix import matmul


@dataclass(frozen=True)
class Blocks:
    """Attributes of quantised tensors: the element type, and which elements share a scale."""

    axis: int = 1
    block_size: int = 0
    output_dtype: int = 0

    def spread(self, f: Any, v: Any, x: Any) -> Any:
        """A scale or a zero for each element: from one for all, for a row, or for blocks."""
        rank = f.ndim(x)
        if f.ndim(v) == 0 or f.sizes(v) == (1,):
            return f.reshaped(v, [])
        if f.ndim(v) == 1 and not self.block_size:
            return f.reshaped(v, [-1 if i == self.axis % rank else 1 for i in range(rank)])
        size, count = f.known_sizes(x, [self.axis])[0], f.known_sizes(v, [self.axis])[0]
        need_room(size)
        each = self.block_size or -(-size // count)
        return f.index_select(v, np.arange(size) // each, dim=self.axis % rank)


@operator("QuantizeLinear", fixed=["scale", "zero"], unread=["precision"])
def quantize(
    f: Any, x: Any, scale: Any, zero: Any = None, *, saturate: int = 1, blocks: Blocks = Blocks()
) -> Any:
    number = 0 if zero is not None else blocks.output_dtype
    number = zero.number if isinstance(zero, Widened) else number
    x, scale, zero = bare(x), bare(scale), bare(zero)
    quantized = f.to(rounded(f, f.elementwise_div(x, blocks.spread(f, scale, x))), "float64")
    if zero is not None:
        quantized = f.elementwise_add(quantized, f.to(blocks.spread(f, zero, x), "float64"))
    if number in ROUNDED:
        exact = f.elementwise_div(x, blocks.spread(f, scale, x))
        return to_short_floats(f, exact, number, saturate)
    if number in HELD:
        least, most = Widened(None, number).bounds
        inside = clipped(f, quantized, f.like(least, quantized), f.like(most, quantized))
        return Widened(f.to(inside, HELD[number][0]), number)
    return in_range(f, quantized, numpy_type(number or 2) if zero is None else f.type_of(zero))


def in_range(f: Any, x: Any, kind: Any) -> Any:
    """Numbers as integers of a type, the nearest ones it has."""
    ends = np.iinfo(kind)
    return f.to(clipped(f, x, f.like(ends.min, x), f.like(ends.max, x)), kind)


@operator("DequantizeLinear", fixed=["scale", "zero"])
def dequantize(f: Any, x: Any, scale: Any, zero: Any = None, *, blocks: Blocks = Blocks()) -> Any:
    x, scale, zero = bare(x), bare(scale), bare(zero)
    kind = numpy_type(blocks.output_dtype) if blocks.output_dtype else f.type_of(scale)
    wide = f.to(x, "float32" if f.type_of(x).itemsize < 4 else "float64")
    if zero is not None:
        zero = f.to(blocks.spread(f, zero, x), f.type_of(wide))
        wide = f.elementwise_sub(wide, zero)
    factor = f.to(blocks.spread(f, scale, x), f.type_of(wide))
    return f.to(f.elementwise_mul(wide, factor), kind)


@operator("MatMulInteger")
def matmul_integer(f: Any, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    left, right = less_zero(f, a, a_zero, f.ndim(a) - 2), less_zero(f, b, b_zero, -1)
    return f.to(matmul(f, left, right), "int32")


@operator("QLinearMatMul", fixed=["a_scale", "b_scale", "y_scale"])
def q_linear_matmul(
    f: Any,
    a: Any,
    a_scale: Any,
    a_zero: Any,
    b: Any,
    b_scale: Any,
    b_zero: Any,
    y_scale: Any,
    y_zero: Any,
) -> Any:
    left, right = less_zero(f, a, a_zero, f.ndim(a) - 2), less_zero(f, b, b_zero, -1)
    return _requantized(f, matmul(f, left, right), a_scale, b_scale, y_scale, y_zero)


def _requantized(f: Any, x: Any, a_scale: Any, b_scale: Any, y_scale: Any, y_zero: Any) -> Any:
    """A product of integers, in the scale of the result."""
    a, b, y = (f.to(v, "float64") for v in (a_scale, b_scale, y_scale))
    factor = f.elementwise_div(f.elementwise_mul(a, b), y)
    found = rounded(f, f.elementwise_mul(x, factor))
    found = f.elementwise_add(found, f.to(y_zero, "float64"))
    return in_range(f, found, f.type_of(y_zero))


@operator("QLinearConv", fixed=["x_scale", "w_scale", "y_scale"])
def q_linear_conv(
    f: Any,
    x: Any,
    x_scale: Any,
    x_zero: Any,
    w: Any,
    w_scale: Any,
    w_zero: Any,
    y_scale: Any,
    y_zero: Any,
    b: Any = None,
    *,
    windows: ConvWindows = DENSE,
) -> Any:
    bias = None if b is None else f.to(b, "float64")
    x, w = less_zero(f, x, x_zero), less_zero(f, w, w_zero)
    out = conv(f, x, w, bias, windows=windows)
    if f.ndim(w_scale) == 1 and f.sizes(w_scale) != (1,):
        w_scale = f.reshaped(w_scale, [-1, *[1] * (f.ndim(x) - 2)])
    return _requantized(f, out, x_scale, w_scale, y_scale, y_zero)
