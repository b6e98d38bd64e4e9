"""What selects elements by place, by value or by condition, and what puts them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, DTypeError, ShapeError
from ..ground.dtypes import as_dtype
from ..opdef.operand import Operand, appends
from ..opdef.spec import normal_axis
from .arithmetic import cast_to, not_equal, operands, truths
from .items import get_item
from .reduction import of_number, scalar_in
from .shaping import broadcast_to, numbers_in, spread_alike

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from .arguments import DTypeLike, Numbers, Other

_INT = np.dtype("int64")


@overload
def where(
    condition: Tensor, x: None = None, y: None = None, name: str | None = None
) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, x: Other, y: Other, name: str | None = None) -> Tensor: ...
def where(
    condition: Tensor, x: Other | None = None, y: Other | None = None, name: str | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The elements of x where a condition holds, and those of y elsewhere.

    Args:
        condition: truth values; broadcast against x and y.
        x, y: tensors or numbers; without both, the places where the condition holds.

    >>> x = fluid.to_tensor([-1.0, 2.0])
    >>> fluid.where(x > 0, x, 0.0).tolist()
    [0.0, 2.0]
    """
    if x is None and y is None:
        return nonzero(condition, True)
    if x is None or y is None:
        raise ArgumentError("where: expected both x and y, or none of them")
    if isinstance(condition, Operand) and condition.array.dtype != np.bool_:
        raise DTypeError(
            f"where: expected a condition of truth values, got {condition.array.dtype}; compare "
            f"first: x != 0"
        )
    if not isinstance(x, Operand) and not isinstance(y, Operand):
        kind = np.result_type(type(x), type(y))
        x = condition.results(np.asarray(x, kind))
    return chosen(condition, *operands(x, y, "where"))


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """The elements of x where a condition holds, and those of y elsewhere; numbers take the type of
    the tensor beside them in any spelling.
    """
    x, y = operands(x, y, "chosen")
    mask = truths(condition)
    shapes = [_array(v).shape for v in (mask, x, y)]
    if any(-1 in shape for shape in shapes):  # a size that is known in a run only
        return eager.where(*spread_alike([mask, x, y]))
    full = np.broadcast_shapes(*shapes)
    mask, x, y = (v if _array(v).shape == full else _spread(v, full) for v in (mask, x, y))
    return eager.where(mask, x, y)


def _array(v: Any) -> Any:
    return v.array if isinstance(v, Operand) else v


def _spread(v: Any, shape: tuple[int, ...]) -> Any:
    return broadcast_to(v, shape) if isinstance(v, Operand) else np.broadcast_to(v, shape)  # type: ignore[arg-type]


@overload
def nonzero(x: Tensor, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(x: Tensor, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero(x: Tensor, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The places of the elements that are not 0.

    Args:
        x: a tensor.
        as_tuple: give a column for each dimension instead of a row for each place.

    >>> fluid.nonzero(fluid.to_tensor([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    places = _places(x)
    if not as_tuple:
        return places
    return tuple(get_item(places, (slice(None), slice(i, i + 1))) for i in range(x.array.ndim))


def _places(x: Any) -> Any:
    if x.array.ndim:
        return eager.where_index(truths(x))
    return x.results(np.argwhere(x.array).astype("int64"))


def indices_of(x: Any) -> tuple[Any, ...]:
    """The places of the elements that are not 0: a vector for each dimension, as indices are.

    Args:
        x: a tensor.
    """
    places = _places(x)
    return tuple(get_item(places, (slice(None), i)) for i in range(x.array.ndim))


def gather(
    x: Tensor, index: Tensor, axis: int | Tensor | None = None, name: str | None = None
) -> Tensor:
    """The slices of x along a dimension that an index names; those named twice add up backwards.

    Args:
        x: a tensor.
        index: integers, of shape [n].
        axis: the dimension; the first one when None.

    >>> fluid.gather(fluid.to_tensor([1.0, 2.0, 3.0]), fluid.to_tensor([2, 0])).tolist()
    [3.0, 1.0]
    """
    along = scalar_in("axis", 0 if axis is None else axis)
    if index.array.ndim == 0:
        return get_item(x, (slice(None),) * normal_axis(along, x.array.ndim) + (index,))
    return eager.index_select(x, index, dim=along)


def index_select(x: Tensor, index: Tensor, axis: int = 0, name: str | None = None) -> Tensor:
    """The slices of x along a dimension that an index names; the same as ``gather``.

    >>> x = fluid.to_tensor([[1, 2], [3, 4], [5, 6]])
    >>> fluid.index_select(x, fluid.to_tensor([0, 2])).tolist()
    [[1, 2], [5, 6]]
    """
    return eager.index_select(x, index, dim=axis)


def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """What stands at places of x, whose numbers are in the last dimension of the index.

    >>> x = fluid.to_tensor([[1, 2], [3, 4]])
    >>> fluid.gather_nd(x, fluid.to_tensor([[0, 1], [1, 0]])).tolist()
    [2, 3]
    """
    return eager.gather_nd(x, index)


def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """For each row of x the elements that the same row of the index names.

    >>> x = fluid.to_tensor([[1, 2], [3, 4]])
    >>> fluid.index_sample(x, fluid.to_tensor([[1, 0], [1, 1]])).tolist()
    [[2, 1], [4, 4]]
    """
    return eager.take_along(x, index, axis=1)


def take_along_axis(arr: Tensor, indices: Tensor, axis: int, broadcast: bool = True) -> Tensor:
    """The elements at indices along a dimension.

    Args:
        arr: a tensor.
        indices: as many dimensions; of the same sizes, or 1, but along ``axis``.
        axis: the dimension.
        broadcast: stretch sizes of 1; else the result has the shape of ``indices``.

    Raises:
        ShapeError: there are not as many dimensions.

    >>> x = fluid.to_tensor([[1, 2], [3, 4]])
    >>> fluid.take_along_axis(x, fluid.to_tensor([[1], [0]]), 1).tolist()
    [[2], [3]]
    """
    along = _need_rank(arr, indices, axis)
    if broadcast:
        return eager.take_along(arr, _aligned(arr, indices, along), axis=along)
    return eager.take_along_axis(arr, indices, Axis=along)


def _need_rank(arr: Any, indices: Any, axis: int) -> int:
    rank = arr.array.ndim
    if indices.array.ndim != rank:
        raise ShapeError(
            f"expected indices of as many dimensions as the tensor, got shapes "
            f"{list(indices.array.shape)} and {list(arr.array.shape)}"
        )
    return normal_axis(axis, rank)


def _aligned(arr: Any, indices: Any, along: int) -> Any:
    shape = list(arr.array.shape)
    shape[along] = indices.array.shape[along]
    return _stretched(indices, shape)


def _stretched(x: Any, shape: Sequence[int]) -> Any:
    """x in a shape that it broadcasts to: itself where it has that."""
    same = -1 not in shape and x.array.shape == tuple(shape)
    return x if same else broadcast_to(x, shape)


def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: float | Tensor,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """A tensor with other elements at indices along a dimension.

    Args:
        arr: a tensor.
        indices: as many dimensions; of the same sizes, or 1, but along ``axis``.
        values: a number, or a tensor that broadcasts to the shape of ``indices``.
        axis: the dimension.
        reduce: "assign", or what is made of the values that meet at a place and of what is there:
            their sum ("add"), product ("mul" or "multiply"), "mean", "amin" or "amax".
        include_self: whether what is there takes part.
        broadcast: stretch sizes of 1 of ``indices``.

    >>> x, index = fluid.to_tensor([[1.0, 2.0]]), fluid.to_tensor([[0, 0]])
    >>> fluid.put_along_axis(x, index, fluid.to_tensor([[3.0, 4.0]]), 1, "mul").tolist()
    [[12.0, 2.0]]
    """
    along = _need_rank(arr, indices, axis)
    if broadcast:
        indices = _aligned(arr, indices, along)
    if isinstance(values, Operand):
        source: Any = _stretched(values, indices.array.shape)
    else:
        source = eager.fill_any_like(indices, value=values, dtype=as_dtype(arr.array.dtype))
    options = dict(Axis=along, Reduce=reduce, Include_self=include_self)
    return eager.put_along_axis(arr, indices, source, **options)


def scatter(
    x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None
) -> Tensor:
    """x with some rows replaced.

    Args:
        x: a tensor.
        index: numbers of rows, of shape [n]; one of no dimensions for one row.
        updates: the new rows, n of them.
        overwrite: of rows named twice the last one stays; if not, they add up.

    >>> x = fluid.to_tensor([1.0, 2.0, 3.0])
    >>> fluid.scatter(x, fluid.to_tensor([0, 2]), fluid.to_tensor([7.0, 8.0])).tolist()
    [7.0, 2.0, 8.0]
    """
    if not index.array.ndim:  # one row, without the dimension of rows
        index = eager.reshape(index, shape=(1,))
        updates = eager.unsqueeze(updates, axes=(0,))
    return eager.scatter(x, index, updates, overwrite=overwrite)


def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """x with updates added at places, whose numbers are in the last dimension of the index.

    >>> x, y = fluid.to_tensor([1.0, 1.0]), fluid.to_tensor([[0], [0]])
    >>> fluid.scatter_nd_add(x, y, fluid.to_tensor([2.0, 3.0])).tolist()
    [6.0, 1.0]
    """
    return eager.scatter_nd_add(x, index, updates)


def scatter_nd(index: Tensor, updates: Tensor, shape: Numbers, name: str | None = None) -> Tensor:
    """Zeros with updates added at places.

    >>> fluid.scatter_nd(fluid.to_tensor([[1], [3]]), fluid.to_tensor([7.0, 8.0]), [4]).tolist()
    [0.0, 7.0, 0.0, 8.0]
    """
    zeros = updates.results(np.zeros(numbers_in("shape", shape), updates.array.dtype))
    return eager.scatter_nd_add(zeros, index, updates)


def masked_select(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements of x where a mask holds, as a vector.

    >>> x = fluid.to_tensor([1.0, -2.0, 3.0])
    >>> fluid.masked_select(x, x > 0).tolist()
    [1.0, 3.0]
    """
    return eager.masked_select(x, mask)


def masked_fill(x: Tensor, mask: Tensor, value: Other, name: str | None = None) -> Tensor:
    """x with a number, or a tensor of one element, where a mask holds; both in the type of x.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> fluid.masked_fill(x, fluid.to_tensor([True, False]), 9.0).tolist()
    [9.0, 2.0]
    """
    filling = value if isinstance(value, Operand) else np.asarray(value)
    return chosen(mask, cast_to(filling, x.array.dtype), x)


def sort(x: Tensor, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """x with its elements in order along a dimension.

    >>> fluid.sort(fluid.to_tensor([3.0, 1.0, 2.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    if not x.array.ndim:
        return of_number(sort, x, axis)
    return eager.argsort(x, axis=axis, descending=descending)[0]


def argsort(x: Tensor, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """The places of the elements in order along a dimension; equal ones stay in theirs.

    >>> fluid.argsort(fluid.to_tensor([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    """
    if not x.array.ndim:
        return of_number(argsort, x, axis)
    return eager.argsort(x, axis=axis, descending=descending)[1]


def topk(
    x: Tensor,
    k: int | Tensor,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along a dimension, and their places.

    Args:
        x: a tensor.
        k: how many.
        axis: the dimension; the last one when None.
        largest: False: the smallest.
        sorted: accepted; they always are in order.

    >>> values, places = fluid.topk(fluid.to_tensor([1.0, 3.0, 2.0]), 2)
    >>> values.tolist(), places.tolist()
    ([3.0, 2.0], [1, 2])
    """
    if appends([k]) is not None:
        return eager.top_k_v2(x, k, axis=-1 if axis is None else axis, largest=largest)
    count = scalar_in("k", k)
    return of_ranks(x, 0, count, -1 if axis is None else axis, largest)


def of_ranks(x: Any, begin: int, k: int, axis: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The elements from one rank up to the k-th along a dimension, and their places.

    Args:
        x: a tensor.
        begin: the first rank, from 0.
        k: the last one, from 1.
        axis: the dimension.
        largest: whether the largest element has the first rank; else the smallest has.

    Raises:
        ShapeError: the dimension has no such rank.
    """
    if not x.array.ndim:
        found: tuple[Tensor, Tensor] = of_number(
            lambda row, along: of_ranks(row, begin, k, along, largest), x, axis
        )
        return found
    along = normal_axis(axis, x.array.ndim)
    size = x.array.shape[along]
    if k < 1 or (size != -1 and k > size):
        raise ShapeError(f"expected k from 1 to the size {size} along {along}, got {k}")
    if largest and not begin:
        first: tuple[Tensor, Tensor] = eager.top_k_v2(x, k=k, axis=along)
        return first
    order = eager.argsort(x, axis=along, descending=largest)[1]
    places = get_item(order, (slice(None),) * along + (slice(begin, k),))
    return eager.take_along(x, places, axis=along), places


def runs(x: Any, ordered: bool) -> tuple[Any, Any, Any, Any]:
    """Of the elements of a variable, each that differs from the one before it, the place of that,
    which of them each element is, and how many stand one after the other.

    Args:
        x: a variable of a program.
        ordered: bring the elements in order first; places are those before it.
    """
    flat = eager.reshape(x.detach(), shape=(-1,))
    order = None
    if ordered:
        flat, order = eager.argsort(flat, axis=0)
    differs = not_equal(get_item(flat, slice(1, None)), get_item(flat, slice(None, -1)))
    new = eager.concat(
        [get_item(eager.fill_any_like(flat, value=1.0), slice(1)), cast_to(differs, x.array.dtype)],
        axis=0,
    )
    starts = eager.reshape(eager.where_index(new), shape=(-1,))
    number = eager.elementwise_sub(eager.cumsum(cast_to(new, _INT), axis=0), np.asarray([1]))
    ends = eager.concat([get_item(starts, slice(1, None)), eager.size(flat)], axis=0)
    counts = eager.elementwise_sub(ends, starts)
    if order is None:
        return eager.gather(flat, starts), starts, number, counts
    inverse = eager.scatter(eager.fill_any_like(number, value=0.0), order, number)
    return eager.gather(flat, starts), eager.gather(order, starts), inverse, counts


@overload
def unique(
    x: Tensor,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor: ...
@overload
def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The values that occur, in ascending order.

    Args:
        x: a tensor.
        return_index: also the first place of each.
        return_inverse: also which of them each element is.
        return_counts: also how often each occurs.
        axis: compare slices along this dimension; elements when None.
        dtype: the element type of places and counts.

    Returns:
        the values, or a tuple of them and the other requested results.

    >>> fluid.unique(fluid.to_tensor([3, 1, 3])).tolist()
    [1, 3]
    """
    wanted = {"Indices": return_index, "Index": return_inverse, "Counts": return_counts}
    return values_and(wanted, eager.unique, x, axis, dtype, is_sorted=True)


def values_and(
    wanted: dict[str, bool], operator: Any, x: Any, axis: int | None, dtype: Any, **attributes: Any
) -> Any:
    """The values that an operator finds, alone or in front of its other outputs.

    Args:
        wanted: output -> whether it is.
        operator: takes a tensor and the attributes.
        x: the tensor.
        axis: the dimension of slices; elements when None.
        dtype: the element type of places and counts.
        attributes: others.
    """
    slots = [slot for slot, asked in wanted.items() if asked]
    along = () if axis is None else (axis,)
    results = operator.asked(slots, x.detach(), axis=along, dtype=as_dtype(dtype), **attributes)
    chosen = tuple(results[slot] for slot in ("Out", *slots))
    return chosen if slots else chosen[0]
