"""NumPy as a backend: its array namespace, a few functions that it lacks, random numbers by
counter.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import OutOfRangeError
from ..kernels.half import narrowed, widened
from ..values import LoDTensorArray, SelectedRows, zeros_like
from .special import erf

name = "numpy"


def asarray(value: Any) -> Any:
    """``value`` as an array; other kinds of values as they are."""
    if type(value) is np.ndarray or isinstance(value, (LoDTensorArray, SelectedRows)):
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
    out[index] = updates
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


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices; that of float16 in float32, which is faster and does not lose more.

    Sums of products of 16 bits would be off by their own size after some thousand terms.
    """
    if x.dtype == np.float16 == y.dtype:
        return narrowed(np.asarray(np.matmul(widened(x), widened(y))))
    return np.matmul(x, y)


def total(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum over some dimensions; that of float16 is rounded once, at the end."""
    if getattr(x, "dtype", None) == np.float16 and dtype in (None, np.float16):
        wide = np.sum(x, axis=axis, dtype=np.float32, keepdims=keepdims)
        return wide.astype(np.float16)
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


xp = SimpleNamespace(**{k: v for k, v in vars(np).items() if not k.startswith("_")})
xp.matmul = matmul
xp.sum = total
xp.add_at = add_at
xp.in_range = in_range
xp.scatter_add = scatter_add
xp.scatter_set = scatter_set
xp.windows = windows
xp.erf = erf
xp.zeros_like = zeros_like


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
    text = "/".join(map(str, (seed, *counters)))
    number = zlib.crc32(text.encode(), zlib.adler32(text.encode())) & 0x7FFFFFFF or 1

    def generator(own: int = 0) -> np.random.Generator:
        start = np.random.SeedSequence((own or number) & 0xFFFFFFFFFFFFFFFF)
        return np.random.Generator(np.random.Philox(start))

    generator.number = number  # type: ignore[attr-defined]
    return generator
