"""NumPy as a backend: its array namespace, a few functions that it lacks, random numbers by
counter.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import OutOfRangeError
from ..ground.brain_float import is_bfloat16
from ..ground.values import LoDTensor, LoDTensorArray, SelectedRows, zeros_like
from ..kernels import linear_algebra, slopes
from ..kernels.half import narrowed, widened
from ..kernels.special import erf, erfc
from ..opdef.rank_table import RankTable
from . import panels, recurrence, stacks
from . import rows as numbered_rows

name = "numpy"


_KINDS = (LoDTensor, LoDTensorArray, RankTable, SelectedRows)


def asarray(value: Any) -> Any:
    """``value`` as an array; other kinds of values as they are."""
    if type(value) is np.ndarray or isinstance(value, _KINDS):
        return value
    return np.asarray(value)


def scatter_add(x: Any, index: Any, updates: Any) -> Any:
    """A copy of ``x`` with ``updates`` added at the rows ``index``; rows named twice get both."""
    out = np.array(x)
    np.add.at(out, index, updates)
    return out


def scatter_set(x: Any, index: Any, updates: Any) -> Any:
    """A copy of ``x`` with ``updates`` at the rows ``index``; of rows named twice the last one
    stays.
    """
    out = np.array(x)
    # NumPy goes through other layouts in the order of memory, in which another one may be the last
    parts = index if isinstance(index, tuple) else (index,)
    out[tuple([np.asarray(p, order="C") if isinstance(p, np.ndarray) else p for p in parts])] = (
        np.asarray(updates, order="C")
    )
    return out


def in_range(index: Any, size: int, what: str) -> Any:
    """``index``, after a look at its values.

    Raises:
        OutOfRangeError: one of them is outside [0, size).
    """
    if index.size and (index.min() < 0 or index.max() >= size):
        wrong = index[(index < 0) | (index >= size)][0]
        raise OutOfRangeError(f"expected {what} in [0, {size}), got {wrong}")
    return index


def windows(
    x: Any, kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Any:
    """A read-only view of all windows over the last dimensions of ``x``.

    Args:
        x: [..., *sizes].
        kernel, strides, dilations: one number for each of the last dimensions.

    Returns:
        [..., *positions, *kernel].
    """
    n = len(kernel)
    span = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, span, axis=tuple(range(x.ndim - n, x.ndim)))
    lead = (slice(None),) * (x.ndim - n)
    return view[
        lead
        + tuple(slice(None, None, s) for s in strides)
        + tuple(slice(None, None, d) for d in dilations)
    ]


def add_at(x: Any, index: Any, values: Any) -> Any:
    """``x`` with ``values`` added at a basic index; ``x`` itself must not be used any more."""
    x[index] += values
    return x


def segment_sum(x: Any, offsets: Any) -> Any:
    """The sums of rows that lie one after the other; zero for a segment without rows.

    Args:
        x: rows, [n, ...].
        offsets: where each segment begins, and where the last one ends.
    """
    return _segments(np.add, x, np.asarray(offsets)).astype(x.dtype, copy=False)


def segment_max(x: Any, offsets: Any) -> Any:
    """The largest of rows that lie one after the other; zero for a segment without rows.

    Args:
        x: rows, [n, ...].
        offsets: where each segment begins, and where the last one ends.
    """
    return _segments(np.maximum, x, np.asarray(offsets))


#: elements of a segment from which on one call of its own is faster than its share of ``reduceat``
_LONG_SEGMENT = 1024


def _segments(ufunc: Any, x: Any, offsets: Any) -> Any:
    begins, ends = offsets[:-1], offsets[1:]
    filled = ends > begins
    out = np.zeros((len(begins), *x.shape[1:]), x.dtype)
    if x.size >= _LONG_SEGMENT * len(begins) and x.dtype != np.float16:
        for k in np.flatnonzero(filled).tolist():
            ufunc.reduce(x[begins[k] : ends[k]], axis=0, out=out[k, ...])
    elif len(begins) and filled.all():
        return _reduced(ufunc, x, begins)
    elif filled.any():
        out[filled] = _reduced(ufunc, x, begins[filled])
    return out


_FEW_SEGMENTS = 8  #: up to which each is reduced by a call of its own


def _reduced(ufunc: Any, x: Any, begins: Any) -> Any:
    """What ``reduceat`` gives of rows.  Extremes of wide rows are taken of the first rows of all
    segments at once, then with the second ones, and so on, which is several times as fast.
    """
    if ufunc is np.add or x[0].size < _FEW_SEGMENTS:
        return ufunc.reduceat(x, begins, axis=0)
    lengths = np.diff(begins, append=len(x))
    order = np.argsort(-lengths, kind="stable")
    first, left = begins[order], lengths[order]
    best, count, row = x[first], len(first), 1
    alone = count if x.size >= 4 * _LONG_SEGMENT * count else _FEW_SEGMENTS
    while (count := int(np.searchsorted(-left[:count], -row))) > alone:
        ufunc(best[:count], x[first[:count] + row], out=best[:count])
        row += 1
    for k in range(count):
        rest = ufunc.reduce(x[first[k] + row : first[k] + left[k]], axis=0)
        ufunc(best[k], rest, out=best[k])
    out = np.empty_like(best)
    out[order] = best
    return out


def segment_argmax(x: Any, offsets: Any) -> Any:
    """The numbers of the rows where each column is largest in its segment, the first of equal ones;
    -1 for a segment without rows.

    Args:
        x: rows, [n, ...].
        offsets: where each segment begins, and where the last one ends.
    """
    lengths = np.diff(offsets)
    number = np.repeat(np.arange(len(lengths)), lengths)
    largest = segment_max(x, offsets)
    hit = x == largest[number]
    if np.isnan(largest.sum()):  # what is no number is taken as the largest
        hit |= np.isnan(x)
    width = math.prod(x.shape[1:])
    out = np.full((len(lengths), width), -1, np.int64)
    row, column = np.divmod(np.flatnonzero(hit)[::-1], max(width, 1))
    out[number[row], column] = row  # the first of equal ones is written last
    return out.reshape(len(lengths), *x.shape[1:])


def add_rows(index: Any, updates: Any, size: int) -> Any:
    """Zeros with rows added at ``index``; those at -1 are left out.

    Args:
        index: numbers of rows of the result, [n].
        updates: rows, [n, ...].
        size: how many rows the result has.
    """
    return _rows(np.add, index, updates, size)


def max_rows(index: Any, updates: Any, size: int) -> Any:
    """The largest of the rows at each ``index``; zeros if there are none.

    Args:
        index, updates, size: as of :func:`add_rows`.
    """
    return _rows(np.maximum, index, updates, size)


def min_rows(index: Any, updates: Any, size: int) -> Any:
    """The smallest of the rows at each ``index``; zeros if there are none.

    Args:
        index, updates, size: as of :func:`add_rows`.
    """
    return _rows(np.minimum, index, updates, size)


def _rows(ufunc: Any, index: Any, updates: Any, size: int) -> Any:
    out = np.zeros((size, *updates.shape[1:]), updates.dtype)
    if len(index) and index.min() < 0:
        kept = index >= 0
        index, updates = index[kept], updates[kept]
    if not len(index):
        return out
    if np.bincount(index, minlength=size).max() <= 1:
        out[index] = updates
        return out
    if (index[1:] < index[:-1]).any():
        order = np.argsort(index, kind="stable")
        index, updates = index[order], updates[order]
    begins = np.flatnonzero(np.diff(index, prepend=index[0] - 1))
    out[index[begins]] = _reduced(ufunc, updates, begins)
    return out


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices; that of float16 in float32, which is faster and does not lose more.

    Sums of products of 16 bits would be off by their own size after some thousand terms.
    """
    if x.dtype == np.float16 == y.dtype:
        return narrowed(np.asarray(np.matmul(widened(x), widened(y))))
    found = np.matmul(x, y)  # of bfloat16 float32
    return found if found.dtype == x.dtype or not is_bfloat16(x.dtype) else found.astype(x.dtype)


_SMALL_TRIANGLE = 64  #: rows up to which the mask of a triangle is kept


@lru_cache(maxsize=128)
def _triangle(rows: int, columns: int, k: int, lower: bool, size: int) -> Any:
    """Ones in all bits of the elements of a triangle, zeros elsewhere."""
    inside = (np.tril if lower else np.triu)(np.ones((rows, columns), bool), k)
    return -inside.astype(f"i{size}")


def tril(x: Any, k: int = 0, lower: bool = True) -> Any:
    """What is on a diagonal and below, or above; of stacks of small matrices by masking bits."""
    stacked = type(x) is np.ndarray and x.ndim > 2 and max(x.shape[-2:]) <= _SMALL_TRIANGLE
    if not stacked or x.dtype.kind not in "fi" or x.dtype.itemsize > 8:
        return (np.tril if lower else np.triu)(x, k)
    mask = _triangle(*x.shape[-2:], k, lower, x.dtype.itemsize)
    return np.bitwise_and(x.view(mask.dtype), mask).view(x.dtype)


def triu(x: Any, k: int = 0) -> Any:
    """What is on a diagonal and above."""
    return tril(x, k, False)


def complex_of(x: Any, y: Any) -> Any:
    """x + iy of arrays of one shape.  (Python's sum makes NaN of an infinite part.)"""
    out = np.empty(x.shape, np.result_type(x.dtype, np.complex64))
    out.real, out.imag = x, y
    return out


def real(x: Any) -> Any:
    """The real parts, one after the other."""
    return np.ascontiguousarray(np.real(x)).reshape(x.shape)


def imag(x: Any) -> Any:
    """The imaginary parts, one after the other."""
    return np.ascontiguousarray(np.imag(x)).reshape(x.shape)


def total(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum over some dimensions; that of float16 is rounded once, at the end."""
    if getattr(x, "dtype", None) == np.float16 and dtype in (None, np.float16):
        wide = np.sum(x, axis=axis, dtype=np.float32, keepdims=keepdims)
        return wide.astype(np.float16)
    if is_bfloat16(getattr(x, "dtype", None)):
        return np.asarray(np.sum(x, axis=axis, dtype=np.float32, keepdims=keepdims)).astype(x.dtype)
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def largest(x: Any, axis: Any = None, keepdims: bool = False, **initial: Any) -> Any:
    """The largest element along some dimensions; of zeros 0 is larger than -0."""
    found = np.max(x, axis=axis, keepdims=keepdims, **initial)
    return _zeros_signed(found, x, axis, keepdims, np.all)


def least(x: Any, axis: Any = None, keepdims: bool = False, **initial: Any) -> Any:
    """The least element along some dimensions; of zeros -0 is less than 0."""
    found = np.min(x, axis=axis, keepdims=keepdims, **initial)
    return _zeros_signed(found, x, axis, keepdims, np.any)


def _zeros_signed(found: Any, x: Any, axis: Any, keepdims: bool, which: Callable[..., Any]) -> Any:
    """Extremes of which zeros are negative where ``which`` of the elements have a sign; those of
    NumPy have that of any of the zeros.  (What is traced for exported source stays as it is.)
    """
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or found.all():
        return found
    negative = which(np.signbit(x), axis=axis, keepdims=keepdims)
    zero = np.where(negative, found.dtype.type(-0.0), found.dtype.type(0.0))
    return np.where(found == 0, zero, found)[()]


class _Transforms:
    """Fourier transforms, whose module is imported at the first use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np.fft, name)


xp: SimpleNamespace = SimpleNamespace(
    **{k: v for k, v in vars(np).items() if not k.startswith("_")}
)
xp.matmul = matmul
xp.tril, xp.triu = tril, triu
xp.sum = total
xp.max = xp.amax = largest
xp.min = xp.amin = least
xp.add_at = add_at
xp.argsort, xp.cumsum = numbered_rows.argsort, numbered_rows.cumsum
xp.take_along_axis = numbered_rows.take_along_axis
xp.complex_of = complex_of
xp.fft = _Transforms()
xp.imag = imag
xp.real = real
xp.in_range = numbered_rows.checked(in_range)
xp.scatter_add = numbered_rows.scattering(scatter_add)
xp.scatter_set = numbered_rows.scattering(scatter_set, numbered_rows.put_at)
xp.segment_sum = segment_sum
xp.segment_max = segment_max
xp.segment_argmax = segment_argmax
xp.add_rows = numbered_rows.adding(add_rows)
xp.pooled_segments, xp.largest_of = numbered_rows.pooled_segments, numbered_rows.largest_of
xp.max_rows = numbered_rows.extremes("max_rows", max_rows)
xp.min_rows = numbered_rows.extremes("min_rows", min_rows)
xp.windows = windows
xp.lstm_steps, xp.lstm_slopes = recurrence.lstm_steps, recurrence.lstm_slopes
xp.erf = erf
xp.erfc = erfc
xp.zeros_like = zeros_like
for _name in linear_algebra.NAMES:
    _of_sizes = getattr(stacks, _name, None) or getattr(panels, _name, None)
    setattr(xp, _name, _of_sizes or getattr(linear_algebra, _name))
for _name in slopes.SLOPES:
    setattr(xp, _name, getattr(stacks, _name, None) or getattr(slopes, _name))


def generators(seed: int, *counters: int | str) -> Callable[[int], np.random.Generator]:
    """A source of random numbers that depends on nothing but its arguments.

    Args:
        seed: the program's; 0 counts as any other.
        counters: what tells this draw from others: the number of the run, a variable's name.

    Returns:
        a function of an operator's own ``seed``: 0 draws from ``seed`` and ``counters``, another
        number from it alone. Its attribute ``number`` is what 0 stands for, so that the same draw
        can be had again. The bits come from Philox (Salmon et al., Parallel random numbers: as easy
        as 1, 2, 3, SC 2011).
    """
    text = "/".join(map(str, (seed, *counters))).encode("utf-8", "surrogatepass")
    number = zlib.crc32(text, zlib.adler32(text)) & 0x7FFFFFFF or 1

    def generator(own: int = 0) -> np.random.Generator:
        start = np.random.SeedSequence((own or number) & 0xFFFFFFFFFFFFFFFF)
        return np.random.Generator(np.random.Philox(start))

    generator.number = number  # type: ignore[attr-defined]
    return generator
