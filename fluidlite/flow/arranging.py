"""More functions that arrange and select elements, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from ..eager import engine
from ..eager.recording import eager
from ..eager.views import reforming, viewing
from ..errors import ShapeError
from ..functions import (
    arithmetic,
    counting,
    creation,
    diagonals,
    elementary,
    reduction,
    selection,
    shaping,
)
from ..functions.items import get_item, set_item
from ..opdef.operand import Operand, appends
from .shapes import cat, in_wide_integers, numbers, split, transpose
from .spelling import ONEFLOW, found_by

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike
    from .spelling import Found, Function, Picking, Several
    from .tensor import Tensor

Tensors = Sequence["Tensor"]

swapaxes = transpose
swapdims: Function = transpose
broadcast_to: Function = viewing(ONEFLOW(shaping.broadcast_to))
tile: Function = ONEFLOW(shaping.tile, order="input, *dims", repeat_times="dims")
movedim: Function = viewing(ONEFLOW(shaping.moveaxis, "movedim"))
unflatten: Function = reforming(ONEFLOW(diagonals.unflatten, shape="sizes"))
take: Function = ONEFLOW(counting.take, fixed={"mode": "raise"})
index_fill: Function = ONEFLOW(
    counting.index_fill,
    order="input, dim, index, value",
    doc="""
    >>> x = fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.flow.index_fill(x, 1, fluid.flow.tensor([0]), 9.0).tolist()
    [[9.0, 2.0], [9.0, 4.0]]
    """,
)
cumprod: Function = ONEFLOW(
    reduction.cumprod, fixed={"dtype": None}, defaults={"dim": ...}, into={"x": in_wide_integers}
)
count_nonzero: Function = ONEFLOW(reduction.count_nonzero, fixed={"keepdim": False})
searchsorted: Function = ONEFLOW(
    counting.searchsorted, order="sorted_sequence, values, *, out_int32, right"
)
bincount: Function = ONEFLOW(counting.bincount)
kthvalue: Picking = ONEFLOW(counting.kthvalue, then=found_by("kthvalue"), defaults={"dim": -1})


def broadcast_tensors(*tensors: Tensor | Tensors) -> tuple[Tensor, ...]:
    """Tensors, each in the shape that they have together.

    >>> y = fluid.flow.tensor([1, 2])
    >>> [x.tolist() for x in fluid.flow.broadcast_tensors(y, fluid.flow.tensor([[3], [4]]))]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    made = shaping.broadcast_tensors(numbers(tensors))
    if appends(made) is not None:
        return tuple(made)
    return tuple(broadcast_to(x, list(made[0].array.shape)) for x in numbers(tensors))


def argwhere(input: Tensor, dtype: DTypeLike = "int32") -> Tensor:
    """The places of the elements that are not 0, one a row.

    Args:
        input: a tensor.
        dtype: the element type of the places.

    >>> fluid.flow.argwhere(fluid.flow.tensor([0, 5, 6])).tolist()
    [[1], [2]]
    """
    return elementary.cast(selection.nonzero(input), dtype)


def nonzero(input: Tensor, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The places of the elements that are not 0.

    Args:
        input: a tensor.
        as_tuple: give a vector for each dimension instead of a row for each place.

    >>> fluid.flow.nonzero(fluid.flow.tensor([0, 1])).tolist()
    [[1]]
    """
    return selection.indices_of(input) if as_tuple else selection.nonzero(input)


def quantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """The number below which a share of the elements is, between two of them where none is there.

    Args:
        input: a tensor.
        q: the share, or several.
        dim: along which dimension; of all elements when None.
        keepdim: the dimension stays, with size 1.

    >>> fluid.flow.quantile(fluid.flow.tensor([1.0, 2.0, 4.0]), 0.75).item()
    3.0
    """
    return elementary.cast(counting.quantile(input, q, dim, keepdim), input.array.dtype)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """So many elements along a dimension, from a place on.

    >>> fluid.flow.narrow(fluid.flow.arange(5), 0, 1, 3).tolist()
    [1, 2, 3]
    """
    size = input.array.shape[dim]
    first = start + size if start < 0 else start
    if not 0 <= first <= first + length <= size:
        raise engine.located(
            ShapeError, f"expected places within {size}, got {length} of them from {start} on"
        )
    dim %= len(input.array.shape)
    return input[(*[slice(None)] * dim, slice(first, first + length))]


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along a dimension, without it.

    >>> fluid.flow.select(fluid.flow.tensor([[1, 2], [3, 4]]), 0, 1).tolist()
    [3, 4]
    """
    dim %= len(input.array.shape)
    return input[(*[slice(None)] * dim, int(index))]


def hstack(tensors: Tensors) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along the only one.

    >>> fluid.flow.hstack([fluid.flow.tensor([1, 2]), fluid.flow.tensor([3])]).tolist()
    [1, 2, 3]
    """
    listed = _widened(1, tensors)
    return cat(listed, 0 if len(listed[0].array.shape) == 1 else 1)


def vstack(tensors: Tensors) -> Tensor:
    """Tensors one below the other; vectors count as rows.

    >>> fluid.flow.vstack([fluid.flow.tensor([1, 2]), fluid.flow.tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return cat(_widened(2, tensors), 0)


row_stack = vstack


def dstack(tensors: Tensors) -> Tensor:
    """Tensors behind each other, along the third dimension.

    >>> fluid.flow.dstack([fluid.flow.tensor([1, 2]), fluid.flow.tensor([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return cat(_widened(3, tensors), 2)


def column_stack(tensors: Tensors) -> Tensor:
    """Tensors side by side; vectors count as columns.

    >>> fluid.flow.column_stack([fluid.flow.tensor([1, 2]), fluid.flow.tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    return cat([t if len(t.array.shape) > 1 else shaping.reshape(t, [-1, 1]) for t in tensors], 1)


def _widened(rank: int, tensors: Tensors) -> list[Tensor]:
    made = [diagonals.atleast_1d, diagonals.atleast_2d, diagonals.atleast_3d][rank - 1]
    return [made(each) for each in tensors]


def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """The parts of a tensor along a dimension.

    Args:
        input: a tensor.
        indices_or_sections: how many parts, the first of which may have one more; or where to cut.
        dim: the dimension.

    >>> [p.tolist() for p in fluid.flow.tensor_split(fluid.flow.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    total, sections = input.array.shape[dim], indices_or_sections
    if isinstance(sections, (list, tuple)):
        cuts = [min(max(c + total if c < 0 else c, 0), total) for c in sections]
        sizes = np.maximum(np.diff([0, *cuts, total]), 0).tolist()
        starts = [0, *cuts]
        return tuple(narrow(input, dim, a, n) for a, n in zip(starts, sizes))
    count = int(cast("int", sections))
    size, more = divmod(total, count)
    return split(input, [size + (k < more) for k in range(count)], dim)


def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The parts of a tensor along the second dimension, of a vector along the only one.

    >>> [part.tolist() for part in fluid.flow.hsplit(fluid.flow.tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    return tensor_split(input, indices_or_sections, 0 if len(input.array.shape) == 1 else 1)


vsplit: Several = ONEFLOW(
    tensor_split, "vsplit", "The parts of a tensor along the first dimension.", fixed={"dim": 0}
)


def meshgrid(*tensors: Tensor | Tensors, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of the points of a grid.

    Args:
        tensors: the coordinates along each dimension: vectors, or a list of them.
        indexing: "ij"; with "xy" the first two dimensions are exchanged.

    >>> x = fluid.flow.tensor([1, 2])
    >>> rows, columns = fluid.flow.meshgrid(x, fluid.flow.tensor([3, 4]))
    >>> rows.tolist(), columns.tolist()
    ([[1, 1], [2, 2]], [[3, 4], [3, 4]])
    """
    listed = list(numbers(tensors))
    if indexing == "xy" and len(listed) > 1:
        listed[:2] = listed[1::-1]
        found = [transpose(each, 0, 1) for each in shaping.meshgrid(*listed)]
        return tuple(transpose(each, 0, 1) for each in (found[1], found[0], *found[2:]))
    return tuple(shaping.meshgrid(*listed))


def repeat_interleave(
    input: Tensor, repeats: int | Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice along a dimension repeated; of all elements when None.

    Args:
        input: a tensor.
        repeats: how often: a number, or one for each slice.
        dim: the dimension.
        output_size: accepted: how many there are then, which is found out in any case.

    >>> fluid.flow.repeat_interleave(fluid.flow.tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    return shaping.repeat_interleave(input, repeats, dim)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """The windows along a dimension; what is in one becomes the last dimension.

    >>> fluid.flow.arange(5).unfold(0, 3, 2).tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    dim = dimension % len(input.array.shape)
    windows = (input.array.shape[dim] - size) // step + 1
    if windows < 1:
        raise engine.located(
            ShapeError, f"expected windows of at most {input.array.shape[dim]}, got {size}"
        )
    places = (np.arange(windows)[:, None] * step + np.arange(size)).ravel()

    def shown(x: Tensor) -> Tensor:
        chosen = selection.index_select(x, x.results(places), dim)
        return movedim(unflatten(chosen, dim, (windows, size)), dim + 1, -1)

    return viewing(shown)(input)


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
    *,
    dtype: DTypeLike = "int32",
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
    *,
    dtype: DTypeLike = "int32",
) -> Tensor | tuple[Tensor, ...]: ...
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
    *,
    dtype: DTypeLike = "int32",
) -> Tensor | tuple[Tensor, ...]:
    """The different elements, in order.

    Args:
        input: a tensor.
        sorted: accepted: they are in order in any case.
        return_inverse: give for each element its place among them, too.
        return_counts: give how often each one occurs, too.
        dim: the different slices along a dimension.
        dtype: the element type of places and numbers.

    >>> fluid.flow.unique(fluid.flow.tensor([3, 1, 3])).tolist()
    [1, 3]
    """
    values, *numbers = selection.unique(input, False, True, True, dim)
    inverse, counts = (elementary.cast(each, dtype) for each in numbers)
    if dim is None:
        inverse = shaping.reshape(inverse, list(input.array.shape))
    given = [values, *[inverse] * return_inverse, *[counts] * return_counts]
    return given[0] if len(given) == 1 else tuple(given)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at indices along a dimension; of the tensor as a vector when None.

    >>> x = fluid.flow.tensor([[1, 2], [3, 4]])
    >>> fluid.flow.take_along_dim(x, fluid.flow.tensor([[1], [0]]), 1).tolist()
    [[2], [3]]
    """
    if dim is None:
        return take(input, indices)
    return selection.take_along_axis(input, indices, dim)


def _places(index: Tensor, dim: int) -> tuple[Tensor, ...]:
    """An index of all dimensions, from one along a dimension."""
    made: list[Any] = list(np.indices([+n for n in index.array.shape]))
    made[dim] = index
    return tuple(made)


def scatter(
    input: Tensor, dim: int, index: Tensor, src: Tensor | float, *, reduce: str | None = None
) -> Tensor:
    """The tensor with elements of another one, or a number, at indices along a dimension.

    Args:
        input: a tensor.
        dim: the dimension.
        index: integers, of as many dimensions.
        src: a tensor, at least as large as ``index``, or a number.
        reduce: "add" or "multiply" what is there; None writes over it.

    >>> fluid.flow.scatter(fluid.flow.zeros(3), 0, fluid.flow.tensor([2, 0]), 1.0).tolist()
    [1.0, 0.0, 1.0]
    """
    dim %= len(input.array.shape)
    places = _places(index, dim)
    values: Any = src
    if isinstance(src, Operand):
        values = get_item(values, tuple(slice(+n) for n in index.array.shape))
    if reduce is None:
        return set_item(input, places, values)
    if not isinstance(src, Operand):
        values = creation.full_like(index, src, input.dtype)
    if reduce == "add":
        return scatter_add(input, dim, index, values)
    there = selection.take_along_axis(input, index, dim, broadcast=False)
    return set_item(input, places, arithmetic.multiply(there, values))


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor | float) -> Tensor:
    """The tensor plus elements of another one at indices along a dimension.

    >>> x, y = fluid.flow.zeros(3), fluid.flow.tensor([0, 2, 2])
    >>> fluid.flow.scatter_add(x, 0, y, fluid.flow.tensor([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.0, 5.0]
    """
    sizes, dim = [+n for n in input.array.shape], dim % len(input.array.shape)
    strides = [prod(sizes[d + 1 :]) for d in range(len(sizes))]
    numbers = sum(
        (place * strides[d] for d, place in enumerate(_places(index, dim)) if d != dim),
        np.zeros((), "int64"),
    )
    flat = arithmetic.add(arithmetic.multiply(index, strides[dim]), numbers)
    values = get_item(src, tuple(slice(+n) for n in index.array.shape))
    out = eager.scatter_nd_add(
        shaping.reshape(input, [-1]), shaping.reshape(flat, [-1, 1]), shaping.reshape(values, [-1])
    )
    return shaping.reshape(out, sizes)


def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
) -> Tensor:
    """The tensor plus slices of another one at places along a dimension.

    >>> x, y = fluid.flow.tensor([1.0, 2.0]), fluid.flow.tensor([0, 0])
    >>> fluid.flow.index_add(x, 0, y, fluid.flow.tensor([10.0, 20.0])).tolist()
    [31.0, 2.0]
    """
    added = source if alpha == 1 else source * alpha
    if input.dtype.is_float and added.dtype != input.dtype:
        added = elementary.cast(added, input.dtype)
    return counting.index_add(input, index, dim, added)


@overload
def median(input: Tensor, dim: None = None, keepdim: bool = False) -> Tensor: ...
@overload
def median(input: Tensor, dim: int, keepdim: bool = False) -> Found: ...
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | Found:
    """The element in the middle, the lower one of two; along a dimension with its place.

    >>> float(fluid.flow.median(fluid.flow.tensor([3.0, 1.0, 2.0, 9.0])))
    2.0
    """
    if dim is None:
        flat = shaping.reshape(input, [-1])
        return kthvalue(flat, (flat.array.shape[0] + 1) // 2, 0)[0]
    return _median(kthvalue(input, (input.array.shape[dim] + 1) // 2, dim, keepdim))


_median = found_by("median")
