"""Products and sums of tensors, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ..eager import engine
from ..eager.sweep import described
from ..errors import ShapeError
from ..functions import arithmetic, composed, diagonals
from ..functions import einsum as letters
from ..functions.arithmetic import add, multiply
from ..functions.elementary import cast, trunc


def _product(input: Any, other: Any, ranks: tuple[int, int]) -> Any:
    for given, rank in zip((input, other), ranks):
        if len(given.array.shape) != rank:
            raise engine.located(ShapeError(f"expected {rank} dimensions, got {described(given)}"))
    return arithmetic.matmul(input, other)


def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    return _product(input, mat2, (2, 2))


def bmm(input: Any, mat2: Any) -> Any:
    """The products of two matrices each: [n, a, b] and [n, b, c]."""
    return _product(input, mat2, (3, 3))


def mv(input: Any, vec: Any) -> Any:
    """The product of a matrix and a vector."""
    return _product(input, vec, (2, 1))


def outer(input: Any, vec2: Any) -> Any:
    """The products of each element of a vector with each one of another."""
    return arithmetic.outer(input, vec2)


def inner(input: Any, other: Any) -> Any:
    """The sums of products along the last dimensions."""
    return composed.inner(input, other)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2)."""
    return add(_times(input, beta), _times(mm(mat1, mat2), alpha))


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * input + alpha * (batch1 @ batch2), for each matrix of a batch."""
    return add(_times(input, beta), _times(bmm(batch1, batch2), alpha))


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """input + value * tensor1 * tensor2.

    >>> ones = fluid.flow.ones(2)
    >>> fluid.flow.addcmul(ones, ones, ones, value=0.5).tolist()
    [1.5, 1.5]
    """
    return add(input, _times(multiply(tensor1, tensor2), value))


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """input + value * tensor1 / tensor2."""
    return add(input, _times(arithmetic.divide(tensor1, tensor2), value))


def _times(tensor: Any, number: float) -> Any:
    return tensor if number == 1 else multiply(tensor, number)


def einsum(equation: str, *operands: Any) -> Any:
    """Products of tensors, summed along what an equation of letters says; see ``fluid.einsum``."""
    listed = len(operands) == 1 and isinstance(operands[0], (list, tuple))
    return letters.einsum(equation, *(operands[0] if listed else operands))


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The product of two tensors along some dimensions.

    Args:
        a, b: tensors.
        dims: how many: the last of a, the first of b; or a list of each.
    """
    return composed.tensordot(a, b, dims)


def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""
    return composed.kron(input, other)


def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross products of vectors of three elements along a dimension, the first such by
    default.
    """
    return composed.cross(input, other) if dim is None else composed.cross(input, other, dim)


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """A part of the way from one tensor to another."""
    return arithmetic.lerp(input, end, weight)


def fmod(input: Any, other: Any) -> Any:
    """The remainder of a division that is rounded towards 0: it has the sign of ``input``.

    >>> fluid.flow.fmod(fluid.flow.tensor([-5.0, 5.0]), 3.0).tolist()
    [-2.0, 2.0]
    """
    if input.array.dtype.kind != "f":
        quotient = trunc(arithmetic.divide(cast(input, "float64"), other))
        quotient = cast(quotient, input.dtype)
    else:
        quotient = trunc(arithmetic.divide(input, other))
    return arithmetic.subtract(input, multiply(quotient, other))


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    return arithmetic.add(multiply(input, -alpha), other)


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The elements on a diagonal of two dimensions, as the last dimension."""
    return diagonals.diagonal(input, offset, dim1, dim2)


def diag(input: Any, diagonal: int = 0) -> Any:
    """A matrix with a vector on its diagonal; of a matrix, the elements on its diagonal.

    >>> fluid.flow.diag(fluid.flow.tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    if len(input.array.shape) == 1:
        return diagonals.diagflat(input, diagonal)
    return diagonals.diagonal(input, diagonal)


def trace(input: Any) -> Any:
    """The sum of the elements on the diagonal of a matrix."""
    return diagonals.trace(input)
