"""Norms of many vectors: distances of pairs, and slices that are kept short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from .arithmetic import subtract
from .elementary import abs
from .reduction import norm
from .reduction import sum as total
from .shaping import fits, unsqueeze

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def cdist(
    x: Tensor,
    y: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Tensor:
    """The p-norms of the differences of all pairs of vectors.

    Args:
        x: [..., m, k].
        y: [..., n, k]; dimensions in front spread over each other's.
        p: from 0, infinity among them.
        compute_mode: accepted; differences are taken element by element.

    Returns:
        [..., m, n].

    Raises:
        ArgumentError: p is negative, or ``compute_mode`` none that paddle has.
        ShapeError: the last sizes differ.

    >>> x = fluid.to_tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> fluid.cdist(x, x).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist")
    if compute_mode not in (*modes, "donot_use_mm_for_euclid_dist"):
        raise ArgumentError(f"cdist: unknown compute_mode {compute_mode!r}")
    if p < 0:
        raise ArgumentError(f"cdist: expected p from 0, got {p}")
    sizes, others = x.array.shape, y.array.shape
    if len(sizes) < 2 or len(others) < 2 or not fits(sizes[-1:], others[-1:]):
        raise ShapeError(
            f"cdist: expected vectors of one length, got shapes {list(sizes)} and {list(others)}"
        )
    apart = abs(subtract(unsqueeze(x, -2), unsqueeze(y, -3)))
    if not apart.array.shape[-1]:
        return total(apart, -1)
    return norm(apart, p, -1)


def renorm(x: Tensor, p: float, axis: int, max_norm: float, name: str | None = None) -> Tensor:
    """x with each slice along a dimension shrunk until its p-norm is at most a number.

    Args:
        x: of 2 or more dimensions.
        p: of the norm.
        axis: the dimension.
        max_norm: the number.

    >>> x = fluid.to_tensor([[3.0, 4.0], [0.0, 1.0]])
    >>> fluid.renorm(x, 2.0, 0, 2.5).numpy().round(3).tolist()
    [[1.5, 2.0], [0.0, 1.0]]
    """
    return eager.renorm(x, p=float(p), axis=axis, max_norm=float(max_norm))
