"""How often values occur, where they lie in order, and what is drawn by their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..ground.dtypes import as_dtype
from ..ground.spellings import Spelling, parameters_of
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .arithmetic import add, maximum, minimum, multiply, remainder, subtract
from .elementary import cast, floor, isnan
from .items import get_item, set_item
from .reduction import one_axis
from .reduction import sum as total
from .selection import chosen, scatter_nd_add, sort, values_and
from .shaping import moveaxis, numel, reshape, stack, transpose, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from .arguments import Axes, DTypeLike, Other

_PLACED = Family({"x": "a tensor.", "index": "places, of shape [n].", "axis": "the dimension."})


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
    return eager.bincount(x, None if weights is None else weights.detach(), minlength=minlength)


def histogram(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None
) -> Tensor:
    """How many elements lie in each of some intervals of one length.

    Args:
        input: a tensor.
        bins: how many intervals there are.
        min, max: where they begin and end; the smallest and largest element when both are 0.

    >>> fluid.histogram(fluid.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
    [0, 2, 1, 0]
    """
    return eager.histogram(input.detach(), bins=bins, min=min, max=max)


def searchsorted(
    sorted_sequence: Tensor,
    values: float | Tensor,
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
    if not isinstance(values, Operand):
        values = sorted_sequence.results(np.asarray(values, sorted_sequence.array.dtype))
    return eager.searchsorted(sorted_sequence, values, out_int32=out_int32, right=right)


bucketize: Callable[..., Tensor] = Spelling({"values": "x"})(
    searchsorted,
    "bucketize",
    """The places at which the elements of ``values`` keep a vector sorted.

    >>> x = fluid.to_tensor([0.5, 2.0, 9.0])
    >>> fluid.bucketize(x, fluid.to_tensor([1.0, 2.0, 3.0])).tolist()
    [0, 1, 3]
    """,
    order="x, sorted_sequence, out_int32, right, name",
)


@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The elements, or slices, that differ from the one before them.

    Args:
        x: a tensor.
        return_inverse: also which of them each element is.
        return_counts: also how often each occurs one after the other.
        axis: compare slices along this dimension; elements when None.
        dtype: the element type of places and counts.

    >>> fluid.unique_consecutive(fluid.to_tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    options = dict(return_inverse=return_inverse, return_counts=return_counts)
    wanted = {"Index": return_inverse, "Counts": return_counts}
    return values_and(wanted, eager.unique_consecutive, x, axis, dtype, **options)


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
    return eager.kthvalue(x, k=k, axis=-1 if axis is None else axis, keepdim=keepdim)


def cummax(
    x: Tensor, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The largest element up to each one, and its place.

    Args:
        x: a tensor.
        axis: the dimension; all elements in a row when None.
        dtype: the element type of places.

    >>> fluid.cummax(fluid.to_tensor([1.0, 3.0, 2.0]))[0].tolist()
    [1.0, 3.0, 3.0]
    """
    return _so_far(eager.cummax, x, axis, dtype)


@parameters_of(cummax)
def cummin(x: Tensor, axis: int | None, dtype: DTypeLike, *given: Any) -> tuple[Tensor, Tensor]:
    """The smallest element up to each one, and its place.

    >>> values, indices = fluid.cummin(fluid.to_tensor([3, 1, 2]))
    >>> values.tolist(), indices.tolist()
    ([3, 1, 1], [0, 1, 1])
    """
    return _so_far(eager.cummin, x, axis, dtype)


def _so_far(operator: Any, x: Any, axis: int | None, dtype: Any) -> Any:
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    along = one_axis(x, axis) if x.array.ndim else axis
    return operator(x, axis=along, dtype=as_dtype(dtype))


def quantile(
    x: Tensor, q: float | Sequence[float] | Tensor, axis: Axes = None, keepdim: bool = False
) -> Tensor:
    """The value below which a share of the elements lies, interpolated between two, float64.

    Args:
        x: a tensor.
        q: the share, from 0 to 1, or a list or tensor of them, which makes a first dimension.
        axis: one dimension or several; all when None.
        keepdim: keep them, with size 1.

    >>> float(fluid.quantile(fluid.to_tensor([1.0, 2.0, 4.0]), 0.75))
    3.0
    """
    q = q.array if isinstance(q, Operand) else q
    shares = np.atleast_1d(np.asarray(q, "float64"))
    if ((shares < 0) | (shares > 1)).any():
        raise ArgumentError(f"expected q in [0, 1], got {q!r}")
    rank = x.array.ndim
    given: Any = (
        [*range(rank)] if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    )
    axes = [normal_axis(a, rank) for a in given]
    rest = [a for a in range(rank) if a not in axes]
    kept = [x.array.shape[a] for a in rest]
    row = transpose(x, [*rest, *axes])
    row = row if len(axes) == 1 else reshape(row, [*kept, -1])
    lost = _sum_of_nan(row)
    row = sort(row, -1)
    quantiles = []
    for share in shares:
        value = _interpolated(row, float(share))
        value = value if lost is None else add(value, cast(lost, "float64"))
        if keepdim:
            value = unsqueeze(value, sorted(axes))
        quantiles.append(value)
    return quantiles[0] if np.ndim(q) == 0 else stack(quantiles, 0)


def _interpolated(row: Any, share: float) -> Any:
    """What lies at a share of the way along sorted rows, float64."""
    count, along = row.array.shape[-1], row.array.ndim - 1
    low: Any
    part: Any
    rest: Any
    if count == -1:  # which a run knows
        last = subtract(cast(get_item(eager.shape(row), slice(along, None)), "float64"), 1.0)
        place = multiply(last, share)
        low = floor(place)
        places = [cast(k, "int64") for k in (low, minimum(add(low, 1.0), last))]
        ends = [eager.index_select(row, k, dim=along) for k in places]
        part = total(cast(subtract(place, low), str(row.array.dtype)))
        rest = subtract(1.0, part)
    else:
        low = int(share * (count - 1))
        part = share * (count - 1) - low
        rest = 1 - part
        bounds = [slice(k, k + 1) for k in (low, min(low + 1, count - 1))]
        ends = [get_item(row, (Ellipsis, bound)) for bound in bounds]
    first, second = [total(each, -1) for each in ends]
    return cast(add(multiply(first, rest), multiply(second, part)), "float64")


def _sum_of_nan(rows: Any) -> Any:
    """NaN for rows that have one, 0 for others; None where there can be none."""
    if rows.array.dtype.kind != "f":
        return None
    return total(chosen(isnan(rows), rows, 0.0), -1)


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
    if x.appends is None:
        _need_weights(x.array.reshape(-1, x.array.shape[-1]), num_samples, replacement)
    return eager.multinomial(x, num_samples=num_samples, replacement=replacement)


def _need_weights(rows: Any, num_samples: int, replacement: bool) -> None:
    """Refuse weights by which so many places cannot be drawn."""
    if (rows < 0).any() or not np.isfinite(rows).all() or not (rows.sum(1) > 0).all():
        raise ArgumentError("multinomial: expected finite weights from 0, not all of a row 0")
    if not replacement and (np.count_nonzero(rows, 1) < num_samples).any():
        raise ArgumentError(
            f"multinomial: expected at least num_samples={num_samples} weights that are not 0, or "
            f"replacement=True"
        )


@_PLACED
def index_add(
    x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None
) -> Tensor:
    """x with slices added at places along a dimension; what is named twice gets both.

    Args:
        value: the slices: of x's shape, with n along the dimension.

    >>> x, ones = fluid.zeros([3]), fluid.ones([2])
    >>> fluid.index_add(x, fluid.to_tensor([1, 1]), 0, ones).tolist()
    [0.0, 2.0, 0.0]
    """
    along = normal_axis(axis, x.array.ndim)
    rows, added = (moveaxis(v, along, 0) if along else v for v in (x, value))
    out = scatter_nd_add(rows, reshape(index, [-1, 1]), added)
    return moveaxis(out, 0, along) if along else out


@_PLACED
def index_fill(
    x: Tensor, index: Tensor, axis: int, value: Other, name: str | None = None
) -> Tensor:
    """x with a number at places along a dimension.

    Args:
        value: the number.

    >>> x = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.index_fill(x, fluid.to_tensor([0]), 1, 9.0).tolist()
    [[9.0, 2.0], [9.0, 4.0]]
    """
    along = normal_axis(axis, x.array.ndim)
    return set_item(x, (slice(None),) * along + (index,), value)


def index_put(
    x: Tensor,
    indices: Sequence[Tensor],
    value: Tensor,
    accumulate: bool = False,
    name: str | None = None,
) -> Tensor:
    """x with elements written, or added, at places.

    Args:
        x: a tensor.
        indices: a tensor of places for each of the first dimensions, or one of truth values.
        value: what is written; spreads over the places.
        accumulate: add; what is named twice gets both.

    >>> x = fluid.to_tensor([1.0, 2.0, 3.0])
    >>> fluid.index_put(x, [fluid.to_tensor([0, 2])], fluid.to_tensor([7.0, 8.0])).tolist()
    [7.0, 2.0, 8.0]
    """
    if not isinstance(value, Operand):
        value = x.results(np.asarray(value, x.array.dtype))
    return eager.index_put(x, list(indices), value, accumulate=accumulate)


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
        index = remainder(index, numel(x))
    elif mode == "clip":
        index = minimum(maximum(index, 0), subtract(numel(x), 1))
    return get_item(reshape(x, [-1]), index)


def _like(x: Any, array: Any) -> Any:
    """A tensor of an array, of the same spelling."""
    return x.results(array)
