"""How often values occur, where they lie in order, and what is drawn by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import as_dtype
from ..errors import ArgumentError, ShapeError
from ..opdef.spec import normal_axis
from .arithmetic import add, multiply, remainder
from .elementary import cast, clip
from .items import get_item, set_item
from .prepared import generator
from .recording import Handle, eager
from .reduction import sum as total
from .selection import scatter_nd_add, sort
from .shaping import moveaxis, reshape, squeeze, stack, transpose

if TYPE_CHECKING:
    from .tensor import Tensor


def bincount(
    x: Tensor, weights: Tensor | None = None, minlength: int = 0, name: str | None = None
) -> Tensor:
    """How often each number from 0 occurs.

    Args:
        x: integers from 0, of shape [n].
        weights: what each of them counts; 1 when None.
        minlength: the least length of the result.

    >>> fluid.bincount(fluid.to_tensor([1, 2, 2])).tolist()
    [0, 1, 2]
    """
    given = None if weights is None else weights.array
    found = np.bincount(x.array, given, minlength)
    return _like(x, found if given is None else found.astype(given.dtype))


def histogram(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None
) -> Tensor:
    """How many elements lie in each of some intervals of one length.

    Args:
        input: a tensor.
        bins: how many intervals there are.
        min, max: where they begin and end; the smallest and largest element when both are 0.
    """
    array = input.array
    ends = (float(array.min()), float(array.max())) if min == max == 0 else (min, max)
    return _like(input, np.histogram(array, bins, ends)[0].astype("int64"))


def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Tensor:
    """Where values would be put into a sequence, so that it stays in order.

    Args:
        sorted_sequence: in order along the last dimension.
        values: of the same shape but there; or of any shape where the sequence is a vector.
        out_int32: places are int32, not int64.
        right: behind equal elements, not before them.

    >>> fluid.searchsorted(fluid.to_tensor([1.0, 2.0, 3.0]), fluid.to_tensor([2.5])).tolist()
    [2]
    """
    where: Any = sorted_sequence.array
    side: Any = "right" if right else "left"
    wanted: Any = values.array if isinstance(values, Handle) else np.asarray(values)
    if where.ndim == 1:
        found: Any = np.searchsorted(where, wanted, side)
    elif where.shape[:-1] == wanted.shape[:-1]:
        rows = zip(where.reshape(-1, where.shape[-1]), wanted.reshape(-1, wanted.shape[-1]))
        lines = [np.searchsorted(row, line, side) for row, line in rows]
        found = np.reshape(lines, wanted.shape)
    else:
        raise ShapeError(
            f"expected values of shape {[*where.shape[:-1], -1]}, got {list(wanted.shape)}"
        )
    return _like(sorted_sequence, np.asarray(found, "int32" if out_int32 else "int64"))


def bucketize(
    x: Tensor,
    sorted_sequence: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Tensor:
    """Where the elements of x would be put into a vector; arguments as of :func:`searchsorted`."""
    return searchsorted(sorted_sequence, x, out_int32, right)


def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The elements, or slices, that differ from the one before them.

    Args:
        x: a tensor.
        return_inverse: also which of them each element is.
        return_counts: also how often each occurs one behind the other.
        axis: compare slices along this dimension; elements when None.
        dtype: the element type of places and counts.

    >>> fluid.unique_consecutive(fluid.to_tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    along = 0 if axis is None else normal_axis(axis, x.array.ndim)
    array = x.array.reshape(-1) if axis is None else np.moveaxis(x.array, along, 0)
    new = np.ones(len(array), bool)
    new[1:] = (array[1:] != array[:-1]).reshape(max(len(array) - 1, 0), -1).any(1)
    kind, places = as_dtype(dtype).dtype, np.flatnonzero(new)
    found = [_like(x, np.moveaxis(array[new], 0, along))]
    if return_inverse:
        found.append(_like(x, (np.cumsum(new) - 1).astype(kind)))
    if return_counts:
        found.append(_like(x, np.diff([*places, len(array)]).astype(kind)))
    return tuple(found) if len(found) > 1 else found[0]


def kthvalue(
    x: Tensor, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The k-th smallest elements along a dimension, and their places.

    Args:
        x: a tensor.
        k: from 1.
        axis: the dimension; the last one when None.
        keepdim: keep it, with size 1.

    >>> value, place = fluid.kthvalue(fluid.to_tensor([3.0, 1.0, 2.0]), 2)
    >>> float(value), int(place)
    (2.0, 2)
    """
    along = normal_axis(-1 if axis is None else axis, x.array.ndim)
    if not 1 <= k <= x.array.shape[along]:
        raise ShapeError(
            f"expected k from 1 to the size {x.array.shape[along]} along {along}, got {k}"
        )
    order = eager.argsort(x, axis=along, descending=False)[1]
    places = get_item(order, (slice(None),) * along + (slice(k - 1, k),))
    values = eager.take_along(x, places, axis=along)
    if keepdim:
        return values, places
    return squeeze(values, along), squeeze(places, along)


def cummax(
    x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The largest element up to each one, and its place.

    Args:
        x: a tensor.
        axis: the dimension; all elements in a row when None.
        dtype: the element type of places.

    >>> fluid.cummax(fluid.to_tensor([1.0, 3.0, 2.0]))[0].tolist()
    [1.0, 3.0, 3.0]
    """
    return _extreme_so_far(np.greater_equal, x, axis, dtype)


def cummin(
    x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The smallest element up to each one, and its place; arguments as of :func:`cummax`."""
    return _extreme_so_far(np.less_equal, x, axis, dtype)


def _extreme_so_far(better: Any, x: Any, axis: int | None, dtype: Any) -> Any:
    x = reshape(x, [-1]) if axis is None else x
    along = 0 if axis is None else normal_axis(axis, x.array.ndim)
    array = np.moveaxis(x.array, along, 0)
    places = np.zeros(array.shape, "int64")
    if len(array):
        best = array[0]
        for k in range(1, len(array)):
            here = better(array[k], best)
            best = np.where(here, array[k], best)
            places[k] = np.where(here, k, places[k - 1])
    where: Any = x.results(np.ascontiguousarray(np.moveaxis(places, 0, along)))
    return eager.take_along(x, where, axis=along), _like(
        x, where.array.astype(as_dtype(dtype).dtype)
    )


def quantile(x: Tensor, q: Any, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The value below which a share of the elements lies, interpolated between two, float64.

    Args:
        x: a tensor.
        q: the share, from 0 to 1, or a list of them, which makes a first dimension.
        axis: one dimension or several; all when None.
        keepdim: keep them, with size 1.

    >>> float(fluid.quantile(fluid.to_tensor([1.0, 2.0, 4.0]), 0.75))
    3.0
    """
    shares = np.atleast_1d(np.asarray(q, "float64"))
    if ((shares < 0) | (shares > 1)).any():
        raise ArgumentError(f"expected q in [0, 1], got {q!r}")
    rank = x.array.ndim
    given = [*range(rank)] if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    axes = [normal_axis(a, rank) for a in given]
    rest = [a for a in range(rank) if a not in axes]
    kept = [x.array.shape[a] for a in rest]
    row = transpose(x, [*rest, *axes])
    row = sort(row if len(axes) == 1 else reshape(row, [*kept, -1]), -1)
    count = row.array.shape[-1]
    made = []
    for share in shares:
        place = share * (count - 1)
        low = int(place)
        high, part = min(low + 1, count - 1), place - low
        ends = [total(get_item(row, (Ellipsis, slice(k, k + 1))), -1) for k in (low, high)]
        value = cast(add(multiply(ends[0], 1 - part), multiply(ends[1], part)), "float64")
        if keepdim:
            value = reshape(value, [1 if a in axes else x.array.shape[a] for a in range(rank)])
        made.append(value)
    return made[0] if np.ndim(q) == 0 else stack(made, 0)


def multinomial(
    x: Tensor, num_samples: int = 1, replacement: bool = False, name: str | None = None
) -> Tensor:
    """Places that are drawn by their weights.

    Args:
        x: weights from 0, of shape [n] or [rows, n].
        num_samples: how many are drawn of each row.
        replacement: whether one may be drawn again.

    Raises:
        ArgumentError: weights are below 0, or fewer than ``num_samples`` are not 0.

    >>> fluid.multinomial(fluid.to_tensor([0.0, 1.0]), 3, replacement=True).tolist()
    [1, 1, 1]
    """
    weights = x.array.astype("float64")
    rows = weights.reshape(-1, weights.shape[-1])
    if (rows < 0).any() or not np.isfinite(rows).all() or not (rows.sum(1) > 0).all():
        raise ArgumentError("multinomial: expected finite weights from 0, not all of a row 0")
    if not replacement and (np.count_nonzero(rows, 1) < num_samples).any():
        raise ArgumentError(
            f"multinomial: expected at least num_samples={num_samples} weights that are not 0, or "
            f"replacement=True"
        )
    draw = generator.get()()
    drawn = [draw.choice(len(row), num_samples, replacement, row / row.sum()) for row in rows]
    shape = (*weights.shape[:-1], num_samples)
    return _like(x, np.asarray(drawn, "int64").reshape(shape))


def index_add(
    x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None
) -> Tensor:
    """x with slices added at places along a dimension; what is named twice gets both.

    Args:
        x: a tensor.
        index: places, of shape [n].
        axis: the dimension.
        value: the slices: of x's shape, with n along the dimension.

    >>> x, ones = fluid.zeros([3]), fluid.ones([2])
    >>> fluid.index_add(x, fluid.to_tensor([1, 1]), 0, ones).tolist()
    [0.0, 2.0, 0.0]
    """
    along = normal_axis(axis, x.array.ndim)
    rows, added = (moveaxis(v, along, 0) if along else v for v in (x, value))
    out = scatter_nd_add(rows, reshape(index, [-1, 1]), added)
    return moveaxis(out, 0, along) if along else out


def index_fill(x: Tensor, index: Tensor, axis: int, value: Any, name: str | None = None) -> Tensor:
    """x with a number at places along a dimension.

    Args:
        x: a tensor.
        index: places, of shape [n].
        axis: the dimension.
        value: the number.
    """
    along = normal_axis(axis, x.array.ndim)
    return set_item(x, (slice(None),) * along + (index,), value)


def index_put(
    x: Tensor, indices: Any, value: Tensor, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """x with elements written, or added, at places.

    Args:
        x: a tensor.
        indices: a tensor of places for each of the first dimensions, or one of truth values.
        value: what is written; spreads over the places.
        accumulate: add; what is named twice gets both.
    """
    places = tuple(indices)
    if not accumulate:
        return set_item(x, places, value)
    arrays = np.broadcast_arrays(*(p.array for p in _as_numbers(x, places)))
    index: Any = x.results(np.stack(arrays, -1))
    shape = [*arrays[0].shape, *x.array.shape[len(arrays) :]]
    return scatter_nd_add(x, index, value.expand(shape))


def _as_numbers(x: Any, places: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = []
    for each in places:
        if each.array.dtype.kind == "b":
            found.extend(x.results(array) for array in np.nonzero(each.array))
        else:
            found.append(each)
    return found


def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements by their number in a row of all.

    Args:
        x: a tensor.
        index: numbers, of any shape.
        mode: what to do with numbers out of range: raise, wrap (count around) or clip.

    >>> fluid.take(fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]]), fluid.to_tensor([3, 0])).tolist()
    [4.0, 1.0]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ArgumentError(f"expected mode to be raise, wrap or clip, got {mode!r}")
    if mode == "wrap":
        index = remainder(index, x.array.size)
    elif mode == "clip":
        index = clip(index, 0, x.array.size - 1)
    return get_item(reshape(x, [-1]), index)


def _like(x: Any, array: Any) -> Any:
    """A tensor of an array, of the same spelling."""
    return x.results(array)
