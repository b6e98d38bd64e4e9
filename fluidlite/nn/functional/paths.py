"""Paths of a beam search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...eager.recording import eager
from ...errors import ShapeError

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    """Whole paths of a beam search: at each step the token from which the rest was reached.

    Args:
        ids: the tokens that were chosen at each step, [steps, N, beam].
        parents: which path of the step before each of them continues.

    Raises:
        ShapeError: they have not three dimensions, or not the same.

    >>> ids = fluid.to_tensor([[[2, 5]], [[3, 4]]])
    >>> fluid.nn.functional.gather_tree(ids, fluid.to_tensor([[[0, 0]], [[1, 0]]])).tolist()
    [[[5, 2]], [[3, 4]]]
    """
    if len(ids.array.shape) != 3 or ids.array.shape != parents.array.shape:
        raise ShapeError(
            f"expected ids and parents of one shape, [steps, N, beam], got {list(ids.shape)} and "
            f"{list(parents.shape)}"
        )
    return eager.gather_tree(ids, parents)
