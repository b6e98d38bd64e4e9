"""Diagonals and triangles of matrices, and the same elements in other shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError
from ..ground.dtypes import DType, as_dtype
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .reduction import sum as total
from .shaping import flip, numbers_in, reshape, split, swapaxes, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from .arguments import DTypeLike, Numbers


def diagonal(
    x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """The elements on a diagonal of matrices, in the last dimension.

    Args:
        x: of 2 or more dimensions.
        offset: how far above the main diagonal.
        axis1, axis2: the dimensions of rows and columns.

    >>> fluid.diagonal(fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [1.0, 4.0]
    """
    return eager.diagonal(x, offset=offset, axis1=axis1, axis2=axis2)


def trace(
    x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """The sum of a diagonal of matrices; arguments as of :func:`diagonal`.

    >>> fluid.paddle.trace(fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
    dtype = x.array.dtype
    return total(diagonal(x, offset, axis1, axis2), -1, dtype if dtype.kind in "iu" else None)


def diag(x: Tensor, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Tensor:
    """A matrix with a vector on a diagonal, or the diagonal of a matrix.

    >>> fluid.diag(fluid.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    return eager.diag_v2(x, offset=offset, padding_value=float(padding_value))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Square matrices of zeros with the last dimension of a tensor on a diagonal.

    Args:
        input: of 1 or more dimensions.
        offset: how far above the main diagonal.
        dim1, dim2: the dimensions of rows and columns in the result.

    >>> fluid.diag_embed(fluid.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    places = dict(offset=offset, dim1=dim1, dim2=dim2)
    if -1 in input.array.shape[-1:]:
        return eager.diag_embed(input, **places)
    size = input.array.shape[-1] + abs(offset)
    return eager.place_diagonal(input, num_rows=size, num_columns=size, **places)


def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """A matrix of zeros with all elements of a tensor on a diagonal.

    >>> fluid.diagflat(fluid.to_tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    return diag_embed(reshape(x, [-1]), offset)


def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """A tensor turned by right angles in the plane of two dimensions.

    Args:
        x: of 2 or more dimensions.
        k: how often: from the first dimension to the second.
        axes: the two dimensions.

    >>> fluid.rot90(fluid.to_tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    first, second = (normal_axis(a, x.array.ndim) for a in axes)
    if first == second:
        raise ArgumentError(f"expected two dimensions, got {list(axes)}")
    turns = k % 4
    if turns == 0:
        return x if x.appends is None else x.clone()
    if turns == 2:
        return flip(x, [first, second])
    if turns == 1:
        return swapaxes(flip(x, [second]), first, second)
    return flip(swapaxes(x, first, second), [second])


def view(
    x: Tensor, shape_or_dtype: Numbers | DTypeLike, *more: int, name: str | None = None
) -> Tensor:
    """The elements in another shape, or of another element type.

    Args:
        x: a tensor.
        shape_or_dtype: sizes, one of which may be -1; or an element type, with whose width the last
            size changes.

    >>> fluid.view(fluid.to_tensor([1.0, 2.0, 3.0, 4.0]), [2, 2]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if isinstance(shape_or_dtype, (int, list, tuple)) and not isinstance(shape_or_dtype, DType):
        return reshape(x, shape_or_dtype, *more)
    wanted = as_dtype(shape_or_dtype).dtype
    if wanted == x.array.dtype:
        return reshape(x, list(x.array.shape))
    width, last = x.array.dtype.itemsize, [*x.array.shape, 1][-1 if not x.array.ndim else -2]
    if (wanted.itemsize > width and not x.array.ndim) or last * width % wanted.itemsize:
        raise ArgumentError(
            f"expected an element type that rows of {last} elements of {x.array.dtype} are made "
            f"of, got {shape_or_dtype!r}"
        )
    made: Any = x.results(np.ascontiguousarray(x.array).view(wanted))
    return made


def view_as(x: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """The elements in the shape of another tensor.

    >>> fluid.view_as(fluid.to_tensor([1.0, 2.0, 3.0, 4.0]), fluid.zeros([2, 2])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return reshape(x, list(other.array.shape))


def unflatten(x: Tensor, axis: int, shape: Numbers, name: str | None = None) -> Tensor:
    """One dimension as several.

    Args:
        x: a tensor.
        axis: the dimension.
        shape: their sizes; -1 for one that follows from the others.

    >>> fluid.unflatten(fluid.ones([3, 6]), 1, [2, -1]).shape
    [3, 2, 3]
    """
    sizes = list(x.array.shape)
    along = normal_axis(axis, len(sizes))
    parts = list(numbers_in("shape", shape))
    if -1 in parts and sizes[along] != -1:
        known = -int(np.prod(parts))
        parts[parts.index(-1)] = sizes[along] // known
    return reshape(x, [*sizes[:along], *parts, *sizes[along + 1 :]])


def vsplit(x: Tensor, num_or_sections: Numbers, name: str | None = None) -> list[Tensor]:
    """A tensor cut into parts along its first dimension; arguments as of ``split``.

    >>> [part.tolist() for part in fluid.vsplit(fluid.to_tensor([[1], [2]]), 2)]
    [[[1]], [[2]]]
    """
    return split(x, num_or_sections, 0)


def _widened(rank: int, inputs: tuple[Any, ...]) -> Any:
    given = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else inputs
    widened = []
    for each in given:
        while each.array.ndim < rank:
            each = unsqueeze(each, 0 if each.array.ndim < 2 else 2)
        widened.append(each)
    return widened[0] if len(inputs) == 1 and isinstance(inputs[0], Operand) else widened


@overload
def atleast_1d(*inputs: Tensor, name: str | None = None) -> Tensor: ...
@overload
def atleast_1d(*inputs: Sequence[Tensor], name: str | None = None) -> list[Tensor]: ...
def atleast_1d(
    *inputs: Tensor | Sequence[Tensor], name: str | None = None
) -> Tensor | list[Tensor]:
    """Tensors of at least 1 dimension; a list of several.

    >>> fluid.atleast_1d(fluid.to_tensor(3.0)).shape
    [1]
    """
    return _widened(1, inputs)


@overload
def atleast_2d(*inputs: Tensor, name: str | None = None) -> Tensor: ...
@overload
def atleast_2d(*inputs: Sequence[Tensor], name: str | None = None) -> list[Tensor]: ...
def atleast_2d(
    *inputs: Tensor | Sequence[Tensor], name: str | None = None
) -> Tensor | list[Tensor]:
    """Tensors of at least 2 dimensions: vectors become rows; a list of several.

    >>> fluid.atleast_2d(fluid.to_tensor([1.0, 2.0])).shape
    [1, 2]
    """
    return _widened(2, inputs)


@overload
def atleast_3d(*inputs: Tensor, name: str | None = None) -> Tensor: ...
@overload
def atleast_3d(*inputs: Sequence[Tensor], name: str | None = None) -> list[Tensor]: ...
def atleast_3d(
    *inputs: Tensor | Sequence[Tensor], name: str | None = None
) -> Tensor | list[Tensor]:
    """Tensors of at least 3 dimensions; a list of several.

    >>> fluid.atleast_3d(fluid.to_tensor([1.0, 2.0])).shape
    [1, 2, 1]
    """
    return _widened(3, inputs)
