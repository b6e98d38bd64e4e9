"""Parts of tensors, and tensors with other elements in a part."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..ground.spellings import Spelling
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .arithmetic import cast_to
from .items import set_item
from .shaping import flip, known_in_run, numbers_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from .arguments import Numbers


def slice(
    input: Tensor, axes: Sequence[int], starts: Numbers, ends: Numbers, name: str | None = None
) -> Tensor:
    """The elements from some places up to others.

    Args:
        input: a tensor.
        axes: the dimensions that are cut.
        starts, ends: places along each of them, which may count from the end or lie beyond it;
            integers or tensors.

    >>> fluid.slice(fluid.to_tensor([[1, 2, 3], [4, 5, 6]]), [1], [-2], [9]).tolist()
    [[2, 3], [5, 6]]
    """
    (first, *of_starts), (last, *of_ends) = _told("starts", starts), _told("ends", ends)
    tensors = [each for pair in zip(of_starts, of_ends) for each in pair]
    bounds = dict(axes=tuple(axes), starts=first, ends=last)
    return eager.slice(input, *tensors, **bounds, may_be_empty=True)


def _told(what: str, given: Any) -> tuple[tuple[int, ...], Any, Any]:
    """Numbers as operators take them: those that are known; or a vector, or a list of tensors."""
    inside = known_in_run(what, given)
    if inside is None:
        return numbers_in(what, given), None, None
    return ((), inside, None) if isinstance(inside, Operand) else ((), None, inside)


def strided_slice(
    x: Tensor,
    axes: Sequence[int],
    starts: Numbers,
    ends: Numbers,
    strides: Numbers,
    name: str | None = None,
) -> Tensor:
    """The elements from some places up to others, in steps.

    Args:
        x: a tensor.
        axes: the dimensions that are cut.
        starts, ends: as of :func:`slice`.
        strides: the steps along each of them; negative ones go backwards.

    >>> fluid.strided_slice(fluid.to_tensor([1, 2, 3, 4]), [0], [0], [4], [2]).tolist()
    [1, 3]
    """
    told = [_told(*each) for each in (("starts", starts), ("ends", ends), ("strides", strides))]
    known, *tensors = zip(*told)
    bounds = dict(zip(("starts", "ends", "strides"), known))
    given = [each for group in tensors for each in group]
    return eager.strided_slice(x, *given, axes=tuple(axes), **bounds, may_be_empty=True)


def crop(
    x: Tensor, shape: Numbers | None = None, offsets: Numbers | None = None, name: str | None = None
) -> Tensor:
    """A part of a tensor.

    Args:
        x: a tensor.
        shape: the sizes of the part; -1, or None for all, for what is behind the offset.
        offsets: where it begins along each dimension; at 0 when None.

    Raises:
        ShapeError: the part does not lie within the tensor.

    >>> fluid.crop(fluid.to_tensor([[1, 2, 3], [4, 5, 6]]), [1, 2], [0, 1]).tolist()
    [[2, 3]]
    """
    rank = x.array.ndim
    sizes = [-1] * rank if shape is None else shape
    begin = [0] * rank if offsets is None else offsets
    (part, *of_shape), (first, *of_offsets) = _told("shape", sizes), _told("offsets", begin)
    tensors = [each for pair in zip(of_shape, of_offsets) for each in pair]
    return eager.crop_tensor(x, *tensors, shape=part, offsets=first)


def reverse(x: Tensor, axis: Numbers, name: str | None = None) -> Tensor:
    """x with its elements in reverse order along some dimensions; the same as ``flip``.

    >>> fluid.reverse(fluid.to_tensor([1, 2, 3]), [0]).tolist()
    [3, 2, 1]
    """
    return flip(x, axis)


def as_strided(
    x: Tensor, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None
) -> Tensor:
    """The elements that lie at equal distances in memory; one may be taken several times.

    Args:
        x: a tensor, whose elements lie one after the other, the last dimension first.
        shape: sizes of the result.
        stride: how many elements lie between neighbours, for each dimension.
        offset: where the first one lies, in bytes.

    Raises:
        ArgumentError: an element would lie outside of x, or ``offset`` within an element.

    >>> fluid.as_strided(fluid.to_tensor([1, 2, 3, 4]), [3, 2], [1, 1]).tolist()
    [[1, 2], [2, 3], [3, 4]]
    """
    return eager.as_strided(x, dims=tuple(shape), stride=tuple(stride), offset=offset)


def unfold(x: Tensor, axis: int, size: int, step: int, name: str | None = None) -> Tensor:
    """Windows that move along a dimension; the places within a window are the last dimension.

    Args:
        x: a tensor.
        axis: the dimension.
        size: how many elements a window has.
        step: how far it moves.

    Raises:
        ShapeError: a window is larger than the dimension.

    >>> fluid.unfold(fluid.to_tensor([1, 2, 3, 4]), 0, 2, 2).tolist()
    [[1, 2], [3, 4]]
    """
    return eager.tensor_unfold(x, axis=axis, size=size, step=step)


def select_scatter(
    x: Tensor, values: Tensor, axis: int, index: int, name: str | None = None
) -> Tensor:
    """x with other elements at one place along a dimension.

    Args:
        x: a tensor.
        values: of x's shape without the dimension.
        axis: the dimension.
        index: the place along it.

    Raises:
        ShapeError: the shape of ``values`` is another one.

    >>> fluid.select_scatter(fluid.zeros([2, 2]), fluid.ones([2]), 0, 1).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    along = normal_axis(axis, x.array.ndim)
    part = [n for k, n in enumerate(x.array.shape) if k != along]
    _need_part("values", values, part)
    return set_item(x, (builtins.slice(None),) * along + (index,), values)


def _need_part(name: str, values: Any, part: list[int]) -> None:
    shape = list(values.array.shape)
    if len(shape) != len(part) or any(m != n and -1 not in (m, n) for m, n in zip(shape, part)):
        raise ShapeError(f"expected {name} of shape {part}, got {shape}")


def diagonal_scatter(
    x: Tensor, y: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """x with other elements on a diagonal of its matrices.

    Args:
        x: of 2 or more dimensions.
        y: of the shape of ``diagonal(x, offset, axis1, axis2)``.
        offset: how far above the main diagonal.
        axis1, axis2: the dimensions of rows and columns.

    Raises:
        ShapeError: y is of another shape.

    >>> fluid.diagonal_scatter(fluid.zeros([2, 2]), fluid.ones([2])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    y = y if y.array.dtype == x.array.dtype else cast_to(y, x.array.dtype)
    return eager.fill_diagonal_tensor(x, y, offset=offset, dim1=axis1, dim2=axis2)


fill_diagonal_tensor: Callable[..., Tensor] = Spelling({"axis1": "dim1", "axis2": "dim2"})(
    diagonal_scatter,
    "fill_diagonal_tensor",
    doc="""
    >>> fluid.fill_diagonal_tensor(fluid.zeros([2, 2]), fluid.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """,
    words={"axis1, axis2)": "dim1, dim2)"},
)


def multiplex(inputs: Sequence[Tensor], index: Tensor, name: str | None = None) -> Tensor:
    """Each row from one of several tensors.

    Args:
        inputs: two or more tensors of one shape, n rows each.
        index: which tensor each row comes from, int32 of shape [n, 1].

    >>> x = fluid.to_tensor([[1, 2], [3, 4]])
    >>> fluid.multiplex([x, x * 10], fluid.to_tensor([[1], [0]], "int32")).tolist()
    [[10, 20], [3, 4]]
    """
    if len(inputs) < 2:
        raise ArgumentError(f"multiplex: expected two or more tensors, got {len(inputs)}")
    return eager.multiplex(index, list(inputs))


def shard_index(
    input: Tensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1
) -> Tensor:
    """Indices counted within their shard, where that is a certain one.

    Args:
        input: indices below ``index_num``, with 1 as last size.
        index_num: how many indices there are in all shards.
        nshards: how many shards there are.
        shard_id: which one is meant.
        ignore_value: stands for indices of other shards.

    >>> fluid.shard_index(fluid.to_tensor([[16], [1]]), 20, 2, 0).tolist()
    [[-1], [1]]
    """
    return eager.shard_index(
        input, index_num=index_num, nshards=nshards, shard_id=shard_id, ignore_value=ignore_value
    )


def shape(input: Tensor) -> Tensor:
    """The sizes of a tensor, as a vector of int32.

    >>> fluid.shape(fluid.ones([2, 3])).tolist()
    [2, 3]
    """
    return eager.shape(input)
