"""Arrays that begin where a cache line does, so that no wide load meets two of them."""

from __future__ import annotations

from math import prod

import numpy as np
from problems import Array

LINE = 64  # bytes


def empty(shape: tuple[int, ...], dtype: str | type | np.dtype) -> Array:
    """An array of anything."""
    kind = np.dtype(dtype)
    size = prod(shape) * kind.itemsize
    raw = np.empty(size + LINE, np.uint8)
    begin = -raw.ctypes.data % LINE
    return raw[begin : begin + size].view(kind).reshape(shape)


def zeros(shape: tuple[int, ...], dtype: str | type | np.dtype) -> Array:
    """An array of zeros."""
    made = empty(shape, dtype)
    made.fill(0)
    return made
