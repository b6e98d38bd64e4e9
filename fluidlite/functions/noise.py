"""Random numbers in the shape of a tensor, or of a variable."""

from __future__ import annotations

from math import log1p as log1p_of
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..ground.dtypes import as_dtype
from ..opdef.operand import Operand
from .arithmetic import add, multiply, subtract, true_divide
from .elementary import log, log1p, tan

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def uniform_like(x: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Random numbers in the shape and element type of x, equally likely everywhere in [low, high).

    Args:
        x: a tensor of fractions.
        low, high: the bounds.
    """
    return _drawn_like("uniform_random", x, min=low, max=high)


def normal_like(x: Tensor) -> Tensor:
    """Random numbers in the shape and element type of x, of mean 0 and deviation 1."""
    return _drawn_like("gaussian_random", x, mean=0.0, std=1.0)


def exponential_like(x: Tensor, lam: float = 1.0, name: str | None = None) -> Tensor:
    """Random numbers in the shape of x, exponentially distributed with the mean ``1 / lam``."""
    return true_divide(log1p(multiply(uniform_like(x), -1.0)), -lam)


def cauchy_like(x: Tensor, loc: float = 0, scale: float = 1, name: str | None = None) -> Tensor:
    """Random numbers in the shape of x, of Cauchy's distribution.

    Args:
        x: a tensor of fractions.
        loc: the number in the middle.
        scale: how far from it half of the numbers are.

    >>> fluid.functions.noise.cauchy_like(fluid.zeros([2, 3]), scale=2.0).shape
    [2, 3]
    """
    turned = tan(multiply(subtract(uniform_like(x), 0.5), pi))
    return add(multiply(turned, scale), loc)


def geometric_like(x: Tensor, probs: float | Tensor, name: str | None = None) -> Tensor:
    """Random numbers in the shape of x, of the geometric distribution before it is rounded up.

    Args:
        x: a tensor of fractions.
        probs: the chance of each trial, between 0 and 1; a number or a tensor.

    >>> fluid.functions.noise.geometric_like(fluid.zeros([2, 3]), 0.5).shape
    [2, 3]
    """
    below = log1p(multiply(probs, -1.0)) if isinstance(probs, Operand) else log1p_of(-probs)
    return true_divide(log(_above_zero(x)), below)


def _above_zero(x: Tensor) -> Tensor:
    tiny = float(np.finfo(x.array.dtype).tiny)
    return uniform_like(x, tiny, 1.0)


def _drawn_like(type: str, x: Tensor, **bounds: float) -> Any:
    dtype = as_dtype(x.array.dtype)
    if not x.array.ndim:
        return eager.reshape(getattr(eager, type)(shape=(1,), dtype=dtype, **bounds), shape=())
    if -1 in x.array.shape[1:]:
        return getattr(eager, type)(eager.shape(x), dtype=dtype, **bounds)
    call = getattr(eager, f"{type}_batch_size_like")
    return call(x, shape=[-1, *x.array.shape[1:]], dtype=dtype, **bounds)
