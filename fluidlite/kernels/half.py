"""float16 to float32 and back, several times faster than NumPy, to the same bits.

NumPy converts one number after the other.  Here the bits of many are shifted at a time: a float16
has 5 bits of exponent and 10 of fraction where a float32 has 8 and 23, and their exponents are 112
apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.prepared import Prepared
from ..opdef.spec import Spec

HALF, SINGLE = np.dtype("float16"), np.dtype("float32")
CHUNK = 1 << 15  # elements, so that what is worked on stays in the cache
SMALLEST = 8192  # elements; fewer are left to NumPy
_SIGN_AND_REST = np.int32(-0x70000001)  # all bits but three, which copies of the sign are in
_SCALE = np.float32(2.0**112)
_LARGE = np.float32(65536.0)  # what infinities and NaN become at least
_SIZE = np.uint32(0x7FFFFFFF)
_ONE = np.uint32(1)
_TO_NEAREST = np.uint32((0xFFF - (112 << 23)) & 0xFFFFFFFF)
_TOO_LARGE = np.uint32(0x477FF000)  # the first number that is rounded to infinity
_NORMAL = np.uint32(0x38800000)  # 2^-14; numbers below have fewer digits
_HALF_BITS = np.uint32(0x3F000000)  # of 0.5, whose last digit is that of the smallest float16
_HALF_SIGN = np.uint32(0x8000)


def widened(x: Any, out: Any = None) -> Any:
    """An array of float16 as float32, in the same order in memory.

    Args:
        x: the array.
        out: where to write; a new array when None.
    """
    return _by_chunks(x, out, SINGLE, _widen, rooms=0)


def _by_chunks(x: Any, out: Any, kind: Any, convert: Callable[..., None], rooms: int) -> Any:
    """An array in another type, worked on chunk by chunk, with so many arrays to work in."""
    if out is None:
        out = np.empty_like(x, kind)
    source, target = _in_a_row(x, out)
    if source is None:
        np.copyto(out, x, casting="unsafe")
        return out
    room = np.empty((rooms, min(CHUNK, x.size)), np.uint32)
    for begin in range(0, x.size, CHUNK):
        part = source[begin : begin + CHUNK]
        convert(part, target[begin : begin + CHUNK], *room[:, : part.size])
    return out


def _in_a_row(x: Any, out: Any) -> tuple[Any, Any]:
    """The elements of two arrays as they lie in memory; None where they are few, or lie apart or in
    another order.
    """
    if x.size < SMALLEST:
        return None, None
    if not (x.flags.c_contiguous and out.flags.c_contiguous):
        order = sorted(range(x.ndim), key=lambda i: -x.strides[i])
        x, out = x.transpose(order), out.transpose(order)
        if not (x.flags.c_contiguous and out.flags.c_contiguous):
            return None, None
    return x.reshape(-1), out.reshape(-1)


def _widen(x: Any, out: Any) -> None:
    bits = out.view(np.int32)
    np.copyto(bits, x.view(np.int16))
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, _SIGN_AND_REST, out=bits)
    np.multiply(out, _SCALE, out=out)
    if not -_LARGE < out.min() <= out.max() < _LARGE:
        np.copyto(out, x)


def narrowed(x: Any, out: Any = None) -> Any:
    """An array of float32 as float16, rounded to the nearest, in the same order in memory.

    Args:
        x: the array.
        out: where to write; a new array when None.
    """
    return _by_chunks(x, out, HALF, _narrow, rooms=2)


def _narrow(x: Any, out: Any, size: Any, found: Any) -> None:
    bits = x.view(np.uint32)
    np.bitwise_and(bits, _SIZE, out=size)
    if size.max() >= _TOO_LARGE:
        np.copyto(out, x, casting="unsafe")
        return
    np.right_shift(size, 13, out=found)
    np.bitwise_and(found, _ONE, out=found)
    np.add(found, size, out=found)
    np.add(found, _TO_NEAREST, out=found)
    np.right_shift(found, 13, out=found)
    low = np.less(size, _NORMAL)
    if low.any():
        number = size.view(SINGLE)
        np.add(number, np.float32(0.5), out=number)
        np.subtract(size, _HALF_BITS, out=size)
        np.copyto(found, size, where=low)
    np.right_shift(bits, 16, out=size)
    np.bitwise_and(size, _HALF_SIGN, out=size)
    np.bitwise_or(found, size, out=found)
    np.copyto(out.view(np.uint16), found, casting="unsafe")


def in_single(preparation: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for functions that make kernels ready: those of float16 work in float32 inside,
    and round at the end.

    Args:
        preparation: makes a kernel of one result.
    """

    @wraps(preparation)
    def prepare(op: Any, *specs: Any, **more: Any) -> Any:
        if not any(_is_half(spec) for spec in specs):
            return preparation(op, *specs, **more)
        wide = [s.with_dtype(DType.FP32) if _is_half(s) else s for s in specs]
        inner = preparation(op, *wide, **more)
        return None if inner is None else _rounding(inner, list(map(_is_half, specs)))

    return prepare


def _is_half(spec: Any) -> bool:
    return isinstance(spec, Spec) and spec.dtype is DType.FP16


def _rounding(inner: Prepared, halves: list[bool]) -> Prepared:
    """A kernel of float16 that has one of float32 inside."""
    function = inner.function

    def run(*values: Any, out: Any = None) -> Any:
        wide = [
            widened(v) if half else v for v, half in zip(values, [*halves, False], strict=False)
        ]
        return narrowed(np.asarray(function(*wide)), out)

    return Prepared(run, out=True, like=inner.like, scratch=inner.scratch, between=inner.between)
