"""Random numbers in the shape of a tensor, or of a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..eager.recording import eager
from ..ground.dtypes import as_dtype

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


def _drawn_like(type: str, x: Tensor, **bounds: float) -> Any:
    dtype = as_dtype(x.array.dtype)
    if not x.array.ndim:
        return getattr(eager, type)(shape=(1,), dtype=dtype, **bounds)
    call = getattr(eager, f"{type}_batch_size_like")
    return call(x, shape=[-1, *x.array.shape[1:]], dtype=dtype, **bounds)
