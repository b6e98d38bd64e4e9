"""Sparse tensors in other shapes: the places change, and values are taken or added up."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, AxisError, ShapeError
from ...functions import reduction, views
from ...functions.elementary import cast
from ...functions.items import get_item
from ...ground.docstrings import Family
from ...ground.tracebacks import api_boundaries
from ...opdef.spec import normal_axis, resolved
from .tensor import CooTensor, CsrTensor, SparseTensor, need_sparse, numbers_of, sum_at, taken

__all__ = ["coalesce", "reshape", "slice", "sum", "transpose"]

_SHAPED = Family({"x": "a sparse tensor, in either form.", "name": "accepted."})


def _merged(places: Any, sizes: Sequence[int], values: Any) -> tuple[Any, Any]:
    """Places, each once and in order, and the sums of the values of each."""
    numbers = numbers_of(places, sizes)
    if (np.diff(numbers) > 0).all():
        return places, values
    each, inverse = np.unique(numbers, return_inverse=True)
    found = np.stack(np.unravel_index(each, sizes)).astype(places.dtype)
    return found, sum_at(values, inverse.reshape(-1), len(each))


def coalesce(x: SparseTensor, name: str | None = None) -> Any:
    """The same tensor, each place once and in order; values of one place are added up.

    Args:
        x: a sparse tensor.
        name: accepted.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0], [2])
    >>> paddle.sparse.coalesce(x).values().tolist()
    [2.0, 4.0]
    """
    need_sparse("coalesce", x=x)
    places = x.coordinates()
    found, values = _merged(places, x.sparse_shape(), x.values())
    return x if found is places else type(x).of(found, values, x.shape)


@_SHAPED
def transpose(x: SparseTensor, perm: Sequence[int], name: str | None = None) -> Any:
    """The tensor with its dimensions in another order.

    Args:
        perm: the old dimension in place of each new one.  Those with coordinates stay in front
            of those without.

    Raises:
        AxisError: it is no order of the dimensions.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], [2, 3])
    >>> paddle.sparse.transpose(x, [1, 0]).indices().tolist()
    [[2, 0], [0, 1]]
    """
    need_sparse("transpose", x=x)
    order = [normal_axis(axis, x.ndim, "perm") for axis in perm]
    split = len(x.sparse_shape())
    if sorted(order) != [*range(x.ndim)] or sorted(order[:split]) != [*range(split)]:
        raise AxisError(
            f"expected perm to order {x.ndim} dimensions, the {split} with coordinates in front, "
            f"got {[*perm]}"
        )
    values = x.values()
    if order[split:] != [*range(split, x.ndim)]:
        values = views.transpose(values, [0, *(axis - split + 1 for axis in order[split:])])
    shape = [x.shape[axis] for axis in order]
    return type(x).of(x.coordinates()[order[:split]], values, shape)


@_SHAPED
def reshape(x: SparseTensor, shape: Sequence[int], name: str | None = None) -> Any:
    """The tensor in another shape.

    Args:
        shape: sizes; 0 for that of ``x`` in its place, -1 for what is left.  Dimensions without
            coordinates stay as they are, at the end.

    Raises:
        ShapeError: the number of elements is another one, or dimensions without coordinates change.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], [2, 3])
    >>> paddle.sparse.reshape(x, [-1]).indices().tolist()
    [[2, 3]]
    """
    need_sparse("reshape", x=x)
    sizes = [*resolved([int(size) for size in shape], tuple(x.shape))]
    old = x.sparse_shape()
    within = x.shape[len(old) :]
    split = len(sizes) - len(within)
    if split < 1 or sizes[split:] != within or math.prod(sizes) != x.size:
        raise ShapeError(
            f"expected a shape of {x.size} elements that ends in {within}, which has no "
            f"coordinates, got {[*shape]}"
        )
    numbers = numbers_of(x.coordinates(), old)
    places = np.stack(np.unravel_index(numbers, sizes[:split])).astype(x.coordinates().dtype)
    return type(x).of(places, x.values(), sizes)


@_SHAPED
def slice(
    x: SparseTensor,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    name: str | None = None,
) -> Any:
    """A part of the tensor.

    Args:
        axes: the dimensions of which a part is taken.
        starts: where each part begins; may count from the end.
        ends: where it ends; may count from the end, or lie behind it.

    Raises:
        ArgumentError: the lists are not equally long, or name a dimension twice.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], [2, 3])
    >>> paddle.sparse.slice(x, [1], [1], [3]).to_dense().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    need_sparse("slice", x=x)
    order = [normal_axis(axis, x.ndim, "axes") for axis in axes]
    if not len(order) == len({*order}) == len(starts) == len(ends):
        raise ArgumentError(
            f"expected a start and an end for each of some dimensions, got axes {[*axes]}, starts "
            f"{[*starts]} and ends {[*ends]}"
        )
    places, values, shape = x.coordinates(), x.values(), x.shape
    split = len(x.sparse_shape())
    first = np.zeros(split, places.dtype)
    inside = np.ones(places.shape[1], bool)
    for axis, start, end in zip(order, starts, ends):
        begin, stop, _ = builtins.slice(int(start), int(end)).indices(shape[axis])
        shape[axis] = max(0, stop - begin)
        if axis < split:
            first[axis] = begin
            inside &= (places[axis] >= begin) & (places[axis] < stop)
        else:
            whole = (builtins.slice(None),) * (axis - split + 1)
            values = get_item(values, (*whole, builtins.slice(begin, max(begin, stop))))
    if not inside.all():
        values = taken(values, np.flatnonzero(inside))
    return type(x).of(places[:, inside] - first[:, None], values, shape)


@_SHAPED
def sum(
    x: SparseTensor,
    axis: int | Sequence[int] | None = None,
    dtype: Any = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """The sum over some dimensions, or over all, as a sparse tensor.

    Args:
        axis: the dimensions; all when None.
        dtype: of the result; of int32 and truth values int64 when None.
        keepdim: keep them, with the size 1.

    Returns:
        a tensor in the form of ``x``.  Where no dimension with coordinates is left, it has one of
        the size 1; matrices by rows keep theirs, in any case.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [1.0, 2.0, 4.0], [2, 3])
    >>> paddle.sparse.sum(x, axis=0).to_dense().tolist()
    [2.0, 0.0, 5.0]
    """
    need_sparse("sum", x=x)
    listed = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = {normal_axis(each, x.ndim) for each in listed} or {*range(x.ndim)}
    values, places, sizes = x.values(), x.coordinates(), [*x.sparse_shape()]
    if dtype is not None or values.array.dtype.name in ("int32", "bool"):
        values = cast(values, "int64" if dtype is None else dtype)
    split = len(sizes)
    keepdim = keepdim or (isinstance(x, CsrTensor) and x.ndim - len(gone) < 2)
    within = sorted(each - split + 1 for each in gone if each >= split)
    if within:
        values = reduction.sum(values, within, keepdim=keepdim)
    if keepdim:
        new = [1 if each in gone else size for each, size in enumerate(sizes)]
        places = np.stack([each * (i not in gone) for i, each in enumerate(places)])
    else:
        left = [each for each in range(split) if each not in gone]
        new = [sizes[each] for each in left] or [1]
        places = places[left] if left else np.zeros((1, places.shape[1]), places.dtype)
    if gone & {*range(split)}:
        places, values = _merged(places, new, values)
    kind = CooTensor if len(new) not in (2, 3) else type(x)
    return kind.of(places, values, [*new, *values.shape[1:]])


api_boundaries(globals())
