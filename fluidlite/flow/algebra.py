"""Products and sums of tensors, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..eager import engine
from ..eager.sweep import described
from ..eager.views import viewing
from ..errors import ShapeError
from ..functions import arithmetic, composed, diagonals, linear_algebra
from ..functions import einsum as letters
from ..functions.arithmetic import add, multiply
from ..functions.elementary import floor, neg
from ..functions.selection import chosen
from ..opdef.operand import Operand
from .spelling import ONEFLOW

if TYPE_CHECKING:
    from .spelling import Function
    from .tensor import Tensor


def _product(input: Tensor, other: Tensor, ranks: tuple[int, int]) -> Tensor:
    for given, rank in zip((input, other), ranks):
        if len(given.array.shape) != rank:
            raise engine.located(ShapeError, f"expected {rank} dimensions, got {described(given)}")
    return arithmetic.matmul(input, other)


outer: Function = ONEFLOW(arithmetic.outer, y="vec2")
inner: Function = ONEFLOW(composed.inner)
kron: Function = ONEFLOW(composed.kron)
cross: Function = ONEFLOW(composed.cross, defaults={"dim": None})
lerp: Function = ONEFLOW(arithmetic.lerp, y="end")
tensordot: Function = ONEFLOW(composed.tensordot, x="a", y="b", axes="dims")


diagonal: Function = viewing(
    ONEFLOW(
        diagonals.diagonal,
        "diagonal",
        """The elements on a diagonal of matrices, in the last dimension: a view.

        >>> x = fluid.flow.ones(2, 2)
        >>> zeroed = fluid.flow.diagonal(x).zero_()
        >>> x.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """,
        axis1="dim1",
        axis2="dim2",
    )
)
inverse: Function = ONEFLOW(linear_algebra.inverse)
trace: Function = ONEFLOW(
    diagonals.trace,
    fixed={"offset": 0, "axis1": 0, "axis2": 1},
    doc="""
    >>> fluid.flow.trace(fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """,
)
diag: Function = ONEFLOW(
    diagonals.diag,
    "diag",
    """A matrix with a vector on its diagonal; of a matrix, the elements on its diagonal.

    >>> fluid.flow.diag(fluid.flow.tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """,
    fixed={"padding_value": 0},
    offset="diagonal",
)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices.

    >>> x = fluid.flow.tensor([[1.0, 2.0]])
    >>> fluid.flow.mm(x, fluid.flow.tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return _product(input, mat2, (2, 2))


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two matrices each: [n, a, b] and [n, b, c].

    >>> x = fluid.flow.tensor([[[1.0, 2.0]]])
    >>> fluid.flow.bmm(x, fluid.flow.tensor([[[3.0], [4.0]]])).tolist()
    [[[11.0]]]
    """
    return _product(input, mat2, (3, 3))


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    >>> x = fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.flow.mv(x, fluid.flow.tensor([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    return _product(input, vec, (2, 1))


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2).

    >>> x, y = fluid.flow.tensor([[10.0]]), fluid.flow.tensor([[1.0, 2.0]])
    >>> fluid.flow.addmm(x, y, fluid.flow.tensor([[3.0], [4.0]])).tolist()
    [[21.0]]
    """
    return add(_times(input, beta), _times(mm(mat1, mat2), alpha))


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2), for each matrix of a batch.

    >>> x, y = fluid.flow.tensor([[[10.0]]]), fluid.flow.tensor([[[2.0]]])
    >>> fluid.flow.baddbmm(x, y, fluid.flow.tensor([[[3.0]]])).tolist()
    [[[16.0]]]
    """
    return add(_times(input, beta), _times(bmm(batch1, batch2), alpha))


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 * tensor2.

    >>> ones = fluid.flow.ones(2)
    >>> fluid.flow.addcmul(ones, ones, ones, value=0.5).tolist()
    [1.5, 1.5]
    """
    return add(input, _times(multiply(tensor1, tensor2), value))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 / tensor2.

    >>> x, y = fluid.flow.tensor([1.0]), fluid.flow.tensor([6.0])
    >>> fluid.flow.addcdiv(x, y, fluid.flow.tensor([3.0]), value=2.0).tolist()
    [5.0]
    """
    return add(input, _times(arithmetic.true_divide(tensor1, tensor2), value))


def _times(tensor: Tensor, number: float) -> Tensor:
    return tensor if number == 1 else multiply(tensor, number)


def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """Products of tensors, summed along what an equation of letters says; see ``fluid.einsum``.

    >>> x = fluid.flow.tensor([[1.0, 2.0]])
    >>> fluid.flow.einsum("ij,jk->ik", x, fluid.flow.tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    listed = len(operands) == 1 and isinstance(operands[0], (list, tuple))
    return letters.einsum(equation, *(operands[0] if listed else operands))


def fmod(input: Tensor | float, other: Tensor | float) -> Tensor:
    """The remainder of a division that is rounded towards 0, as of ``%``: it has the sign of
    ``input``.

    >>> fluid.flow.fmod(fluid.flow.tensor([-5.0, 5.0]), 3.0).tolist()
    [-2.0, 2.0]
    """
    unsigned = isinstance(other, Operand) and other.array.dtype.kind in "ub"
    size = other if unsigned else abs(other)
    above = arithmetic.remainder(input, size)
    operands = [each for each in (input, above) if isinstance(each, Operand)]
    if any(each.array.dtype.kind in "ub" for each in operands):
        return above  # there is nothing below 0
    below = neg(arithmetic.remainder(-input, size))
    if not isinstance(input, Operand):
        return below if input < 0 else above
    return chosen(arithmetic.less_than(input, 0), below, above)


def floor_divide(input: Tensor | float, other: Tensor | float) -> Tensor:
    """The quotient without its fraction, as of ``//``: rounded down, but towards 0 where both are
    integers.

    >>> fluid.flow.floor_divide(fluid.flow.tensor([-3, 3]), 2).tolist()
    [-1, 1]
    >>> fluid.flow.floor_divide(fluid.flow.tensor([-3.0, 3.0]), 2).tolist()
    [-2.0, 1.0]
    """
    rest = fmod(input, other)
    if rest.array.dtype.kind == "f":
        return floor(arithmetic.true_divide(input, other))
    return arithmetic.floor_divide(arithmetic.subtract(input, rest), other)


def rsub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """other - alpha * input.

    >>> fluid.flow.rsub(fluid.flow.tensor([1.0, 2.0]), 10.0).tolist()
    [9.0, 8.0]
    """
    return arithmetic.add(multiply(input, -alpha), other)
