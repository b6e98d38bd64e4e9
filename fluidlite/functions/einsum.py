"""Sums of products by index notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..eager.recording import eager
from ..errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from ..opdef.operand import Operand


def einsum(equation: str, *operands: Operand | Sequence[Operand]) -> Tensor:
    """The sum of products that an equation says: ``"ij,jk->ik"`` is the product of matrices.

    Indices that the result does not have are summed over.  Operands are taken two by two from the
    left; what two of them share is one product of matrices.

    Args:
        equation: the indices of each operand, with commas between, ``->``, and those of the result;
            without an arrow, those that occur once, in alphabetical order.  ``...`` stands for the
            dimensions in front that are not named.
        operands: tensors.

    Raises:
        ArgumentError: the equation is none, or does not fit the operands.

    >>> x, y = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]]), fluid.to_tensor([1.0, 10.0])
    >>> fluid.einsum("ij,j->i", x, y).tolist(), float(fluid.einsum("ii", x))
    ([21.0, 43.0], 5.0)
    """
    inputs = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], list) else operands
    if not isinstance(equation, str):
        raise ArgumentError(f"einsum: expected an equation such as 'ij,jk->ik', got {equation!r}")
    return eager.einsum(list(inputs), equation=equation)
