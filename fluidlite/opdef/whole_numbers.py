"""The whole numbers that values are rounded to, and what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

LEAST_SCALE = np.float32(1e-30)  #: what less is, is 0


def largest(bits: int) -> int:
    """The largest whole number of so many bits, one of which is the sign."""
    return 2 ** (bits - 1) - 1


def scales_along(xp: Any, x: Any, axis: int) -> tuple[Any, Any]:
    """The largest of each slice along a dimension without its sign, in a row and beside x."""
    others = tuple(k for k in range(x.ndim) if k != axis)
    scale = xp.max(xp.abs(x), axis=others, initial=0).astype(x.dtype)
    return scale, beside(xp, scale, x, axis)


def beside(xp: Any, scale: Any, x: Any, axis: int) -> Any:
    """A number for each slice of x along a dimension, or one for all where the dimension is -1."""
    if axis < 0:
        return xp.reshape(scale, ())
    return xp.reshape(scale, [-1 if k == axis else 1 for k in range(x.ndim)])
