"""Random numbers that depend on a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..eager.recording import eager
from ..errors import ArgumentError
from .elementary import cast, floor
from .noise import uniform_like

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from .arguments import DTypeLike


def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """How often something happens that happens x times on average.

    Args:
        x: averages, fractions from 0.

    >>> fluid.poisson(fluid.zeros([2])).tolist()
    [0.0, 0.0]
    """
    return eager.poisson(x)


def randint_like(
    x: Tensor,
    low: int = 0,
    high: int | None = None,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """Random integers in the shape of a tensor.

    Args:
        x: a tensor.
        low, high: the bounds, low itself included; 0 and ``low`` when ``high`` is None.
        dtype: the element type; x's when None.

    Raises:
        ArgumentError: no integer lies between the bounds.

    >>> fluid.randint_like(fluid.ones([2]), 1).tolist()
    [0.0, 0.0]
    """
    first, end = (0, low) if high is None else (low, high)
    if not first < end:
        raise ArgumentError(f"randint_like: expected integers between {first} and {end}, are none")
    drawn: Any = floor(uniform_like(cast(x, "float64"), first, end))
    return cast(drawn, x.dtype if dtype is None else dtype)
