"""Norms of vectors and matrices, in OneFlow's spelling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..eager.engine import located
from ..errors import DTypeError, ShapeError, UnsupportedError
from ..functions import elementary, reduction, shaping
from ..functions.reduction import dims_of
from ..ground.spellings import given_first

if TYPE_CHECKING:
    from ..functions.arguments import Axes, DTypeLike
    from .spelling import Function
    from .tensor import Tensor


def vector_norm(
    input: Tensor, ord: float = 2, dim: Axes = None, keepdim: bool = False, dtype: DTypeLike = None
) -> Tensor:
    """(The sum of |x|^ord)^(1/ord); of inf the largest |x|, of -inf the least, of 0 how many are
    not 0.

    Args:
        input: a tensor of fractions.
        ord: the number above.
        dim: the dimensions of the vectors; all when None.
        keepdim: they stay, with size 1.
        dtype: the element type to compute in; that of the tensor when None.

    Raises:
        DTypeError: the elements are integers or truth values.

    >>> fluid.flow.linalg.vector_norm(fluid.flow.tensor([[3.0, 4.0], [0.0, 1.0]]), 1, dim=1)
    tensor([7., 1.], dtype=oneflow.float32)
    """
    x = _fractions(input, dtype)
    dims = dims_of(x, dim)
    if ord == 2 or (dims is not None and len(dims) == 1):
        return reduction.norm(x, ord, dim, keepdim)
    if dims is None:
        return reduction.norm(x, ord, None, keepdim)
    behind = list(range(-len(dims), 0))
    rows = shaping.flatten(shaping.moveaxis(x, list(dims), behind), -len(dims), -1)
    found = reduction.norm(rows, ord, -1)
    return shaping.unsqueeze(found, sorted(dims)) if keepdim else found


def matrix_norm(
    input: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    dtype: DTypeLike = None,
) -> Tensor:
    """A norm of matrices.

    Args:
        input: a tensor of fractions.
        ord: "fro": the root of the sum of all squares; 1 and -1: the largest and the least sum of
            |x| of a column; inf and -inf: of a row.
        dim: the dimension of the rows' places, and that of the columns'.
        keepdim: they stay, with size 1.
        dtype: the element type to compute in; that of the tensor when None.

    Raises:
        UnsupportedError: another ``ord``.
        ShapeError: these are not two dimensions.
        DTypeError: the elements are integers or truth values.

    >>> x = fluid.flow.tensor([[1.0, -2.0], [3.0, 4.0]])
    >>> float(fluid.flow.linalg.matrix_norm(x, 1)), float(fluid.flow.linalg.matrix_norm(x, -1))
    (6.0, 4.0)
    """
    dims = dims_of(input, list(dim))
    if dims is None or len(dims) != 2 or len(dim) != 2:
        raise located(ShapeError, f"expected dim to be two dimensions, got {dim!r:.60}")
    if ord == "fro":
        return vector_norm(input, 2, list(dims), keepdim, dtype)
    if isinstance(ord, str) or abs(ord) not in (1, math.inf):
        raise located(
            UnsupportedError,
            f"expected ord of a matrix to be 'fro', 1, -1, inf or -inf, got {ord!r:.60}",
        )
    summed, left = dims if abs(ord) == 1 else (dims[1], dims[0])
    sums = reduction.sum(elementary.abs(_fractions(input, dtype)), summed, keepdim=True)
    found = (reduction.amax if ord > 0 else reduction.amin)(sums, left, True)
    return found if keepdim else shaping.squeeze(found, list(dims))


def _norm_of_order(
    flat: bool,
    input: Tensor,
    ord: float | str | None = None,
    dim: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike = None,
) -> Tensor:
    """The norm of a vector or a matrix, or of several.

    Args:
        flat: whether 2 without ``dim`` is the norm of all elements.
        input: a tensor of fractions.
        ord: which one; see :func:`vector_norm` and :func:`matrix_norm`.  When None, the root of
            the sum of all squares.
        dim: one dimension for vectors, two for matrices; all when None.
        keepdim: they stay, with size 1.
        dtype: the element type to compute in; that of the tensor when None.

    Raises:
        ShapeError: there is an ``ord`` and no ``dim``, and the tensor is neither a vector nor a
            matrix.
    """
    dims = dims_of(input, dim)
    count = input.array.ndim if dims is None else len(dims)
    if (
        ord is None
        or (flat and ord == 2 and dim is None)
        or (ord == "fro" and (dims is None or count == 1))
    ):
        return vector_norm(input, 2, dim, keepdim, dtype)
    if count == 2:
        return matrix_norm(input, ord, dims or (0, 1), keepdim, dtype)
    if count != 1 or isinstance(ord, str):
        raise located(
            ShapeError,
            f"expected a vector or a matrix for the norm {ord!r:.60}, got shape "
            f"{list(input.array.shape)}{'' if dims is None else f' and dim={list(dims)}'}",
        )
    return vector_norm(input, ord, dim, keepdim, dtype)


norm_of_order: Function = given_first(
    _norm_of_order,
    False,
    "norm_of_order",
    """The norm of a vector or a matrix, or of several.

    >>> float(fluid.flow.linalg.norm(fluid.flow.tensor([[1.0, -2.0], [3.0, 4.0]]), 1))
    6.0
    """,
)
norm: Function = given_first(
    _norm_of_order,
    True,
    "norm",
    """The same as :func:`linalg.norm`, but that 2 without ``dim`` means the root of the sum of all
    squares of a matrix, too.

    >>> float(fluid.flow.norm(fluid.flow.tensor([3.0, 4.0])))
    5.0
    """,
    ord="p",
)


def _fractions(x: Tensor, dtype: DTypeLike) -> Tensor:
    x = x if dtype is None else elementary.cast(x, dtype)
    if x.array.dtype.kind in "iub":
        raise located(
            DTypeError, f"expected a tensor of fractions for a norm, got {x.array.dtype.name}"
        )
    return x
