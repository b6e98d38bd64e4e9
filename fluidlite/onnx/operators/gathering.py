"""Elements taken and put by their places, sorted, and found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..building import need_room
from ..forms import operator


def counted_from_front(f: Any, index: Any, x: Any, axis: int) -> Any:
    """Places, of which negative ones count from the end."""
    index = f.to(index, np.int64)
    known = f.elements(index)
    size = f.sizes(x)[axis]
    if known is not None and (size != -1 or not (known < 0).any()):
        return np.where(known < 0, known + size, known)
    below = f.to(f.less_than(index, np.array(0)), np.int64)
    found = f.elementwise_add(index, f.elementwise_mul(below, f.size_of(x, axis)))
    return found if f.ndim(index) else f.reshaped(found, [])


@operator("Gather")
def gather(f: Any, x: Any, indices: Any, *, axis: int = 0) -> Any:
    rank = f.ndim(x)
    axis %= rank
    kind = f.type_of(x)
    if kind.kind == "b":
        return f.to(gather(f, f.to(x, "int32"), indices, axis=axis), bool)
    index = counted_from_front(f, indices, x, axis)
    if 0 in f.sizes(index):
        sizes = f.sizes(x)
        return np.zeros(f.known_sizes(index) + sizes[axis + 1 :], kind) if axis == 0 else x
    if f.ndim(index) == 0:
        return f.dropped(f.index_select(x, f.reshaped(index, [1]), dim=axis), axis)
    if f.ndim(index) == 1:
        return f.index_select(x, index, dim=axis)
    first = f.transposed(x, [axis, *(i for i in range(rank) if i != axis)])
    out = f.gather_nd(first, f.added(index, f.ndim(index)))
    more = f.ndim(index)
    front = [more + i for i in range(axis)]
    back = [more + i for i in range(axis, rank - 1)]
    return f.transposed(out, [*front, *range(more), *back])


@operator("GatherElements")
def gather_elements(f: Any, x: Any, indices: Any, *, axis: int = 0) -> Any:
    """Elements along a dimension; the index may be shorter along the others."""
    axis %= f.ndim(x)
    index = counted_from_front(f, indices, x, axis)
    return f.take_along(_begin_of(f, x, index, axis), index, axis=axis)


def _begin_of(f: Any, x: Any, index: Any, axis: int) -> Any:
    """A tensor cut to the sizes of an index, but along a dimension."""
    for i, (m, n) in enumerate(zip(f.sizes(x), f.sizes(index))):
        if i != axis and m != n and n != -1:
            x = f.cut(x, i, 0, n)
    return x


@operator("GatherND")
def gather_nd(f: Any, x: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    places = whole_places(f, x, indices, batch_dims)
    if batch_dims:
        lead = f.known_sizes(indices, range(f.ndim(indices) - 1))
        need_room(*lead)
        axes = [
            np.arange(n).reshape([-1 if i == k else 1 for i in range(len(lead) + 1)])
            for k, n in enumerate(lead[:batch_dims])
        ]
        fixed = [np.broadcast_to(a, (*lead, 1)).astype("int64") for a in axes]
        places = f.concat([*fixed, places], axis=-1)
    return f.gather_nd(x, places)


def whole_places(f: Any, x: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Places in some dimensions, of which negative numbers count from the end."""
    count = f.known_sizes(indices, [f.ndim(indices) - 1])[0]
    need_room(count, most=f.ndim(x) - batch_dims)
    indices = f.to(indices, np.int64)
    known = f.elements(indices)
    if known is not None and not (known < 0).any():
        return known
    sizes = [f.size_of(x, batch_dims + i) for i in range(count)]
    whole = (
        np.concatenate(sizes)
        if all(isinstance(n, np.ndarray) for n in sizes)
        else f.concat(sizes, axis=0)
    )
    below = f.to(f.less_than(indices, np.array(0)), np.int64)
    return f.elementwise_add(indices, f.elementwise_mul(below, whole))


@operator("ScatterND")
def scatter_nd(f: Any, x: Any, indices: Any, updates: Any, *, reduction: str = "none") -> Any:
    """Updates put at places, or combined with what stands there; the last one of a place counts."""
    places = whole_places(f, x, indices)
    if reduction == "add":
        return f.scatter_nd_add(x, places, updates)
    width = f.known_sizes(places, [f.ndim(places) - 1])[0]
    lead, rest = f.known_sizes(x, range(width)), f.sizes(x)[width:]
    number: Any = np.zeros((), np.int64)
    for i, size in enumerate(lead):
        at = f.dropped(f.cut(places, f.ndim(places) - 1, i, i + 1), f.ndim(places) - 1)
        number = f.elementwise_add(f.elementwise_mul(number, np.array(size)), at)
    kind = f.type_of(x)
    wide = bool if kind.kind == "b" else None
    rows = f.reshaped(f.to(x, "int32") if wide else x, [math.prod(lead), *rest])
    count = math.prod(f.known_sizes(places, range(f.ndim(places) - 1)))
    new = f.reshaped(f.to(updates, "int32") if wide else updates, [count, *rest])
    number = f.reshaped(number, [count])
    if reduction == "none":
        out = f.scatter(rows, number, new)
    else:
        out = _one_by_one(f, rows, number, new, count, _REDUCED[reduction])
    return f.to(f.reshaped(out, f.sizes(x)), kind)


_REDUCED = {"mul": "elementwise_mul", "max": "maximum", "min": "minimum"}


def _one_by_one(f: Any, rows: Any, number: Any, new: Any, count: int, combine: str) -> Any:
    """Rows that are combined with what stands there, one after the other."""
    if count > 1024:
        raise UnsupportedError(f"updates by {combine} are written out one by one, up to 1024")
    for i in range(count):
        at = f.cut(number, 0, i, i + 1)
        made = getattr(f, combine)(f.gather(rows, at), f.cut(new, 0, i, i + 1))
        rows = f.scatter(rows, at, made)
    return rows


@operator("ScatterElements", "Scatter")
def scatter_elements(
    f: Any, x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: str = "none"
) -> Any:
    axis %= f.ndim(x)
    index = counted_from_front(f, indices, x, axis)
    unknown = -1 in (*f.sizes(x), *f.sizes(indices))
    if unknown and reduction in ("none", "add"):
        return _put_among_all(f, x, index, updates, axis, reduction)
    sizes = f.known_sizes(indices)
    need_room(*sizes)
    grids = [
        np.broadcast_to(
            np.arange(n).reshape([-1 if i == k else 1 for i in range(len(sizes))]), sizes
        )
        for k, n in enumerate(sizes)
    ]
    parts = [index if k == axis else grid.astype("int64") for k, grid in enumerate(grids)]
    places = f.stack(parts, axis=-1)
    return scatter_nd(f, x, places, updates, reduction=reduction)


def _put_among_all(f: Any, x: Any, index: Any, updates: Any, axis: int, reduction: str) -> Any:
    """Updates put along a dimension where sizes are not known: by the numbers of elements."""
    rank, kind = f.ndim(x), f.type_of(x)
    number: Any = np.zeros((), np.int64)
    for k in range(rank):
        at = index if k == axis else f.counted(index, k, rank, k)
        number = f.elementwise_add(f.elementwise_mul(number, f.size_of(x, k)), at)
    wide = "int32" if kind.kind == "b" else kind
    flat, number, new = (
        f.reshape2(v, shape=[-1]) for v in (f.to(x, wide), number, f.to(updates, wide))
    )
    if reduction == "add":
        out = f.scatter_nd_add(flat, f.added(number, 1), new)
    else:
        out = f.scatter(flat, number, new)
    sizes = list(f.sizes(x))
    shape = {} if sizes.count(-1) < 2 else dict(Shape=f.to(f.shape(x), "int32"))
    return f.to(f.reshape2(out, **shape, shape=sizes), kind)


@operator("OneHot")
def one_hot(f: Any, indices: Any, depth: Any, values: Any, *, axis: int = -1) -> Any:
    count = int(f.number(depth, "the depth of OneHot"))
    kind, rank = f.type_of(values), f.ndim(indices)
    need_room(count)
    index = f.to(indices, np.int64)
    below = f.to(f.less_than(index, np.array(0)), np.int64)
    index = f.elementwise_add(index, f.elementwise_mul(below, np.array(count)))
    found = f.equal(f.added(index, rank), np.arange(count))
    found = f.to(found, kind)
    off, on = f.cut(values, 0, 0, 1), f.cut(values, 0, 1, 2)
    out = f.elementwise_add(f.elementwise_mul(found, f.elementwise_sub(on, off)), off)
    order = list(range(rank))
    order.insert(axis % (rank + 1), rank)
    return f.transposed(out, order)


@operator("TopK", moved=["k"], unread=["sorted"])
def top_k(f: Any, x: Any, k: Any, *, axis: int = -1, largest: int = 1) -> Any:
    out, index = f.argsort(x, axis=axis, descending=bool(largest))
    rank = f.ndim(x)
    if f.elements(k) is None:
        ends = f.to(f.reshaped(k, [1]), "int32")
        attrs = dict(axes=[axis % rank], starts=[0], ends=[-1], infer_flags=[-1])
        begin = dict(StartsTensor=np.zeros(1, "int32"), EndsTensor=ends)
        return f.slice(out, **begin, **attrs), f.slice(index, **begin, **attrs)
    kept = int(f.number(k, "k of TopK"))
    return f.cut(out, axis % rank, 0, kept), f.cut(index, axis % rank, 0, kept)


@operator("NonZero")
def non_zero(f: Any, x: Any) -> Any:
    return f.transposed(f.where_index(x), [1, 0])


@operator("Compress")
def compress(f: Any, x: Any, condition: Any, *, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = f.reshaped(x, [-1]), 0
    place = f.reshape2(f.where_index(condition), shape=[-1])
    return f.index_select(x, place, dim=axis % f.ndim(x))


@operator("TensorScatter")
def tensor_scatter(
    f: Any,
    past: Any,
    update: Any,
    write_indices: Any = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Any:
    """Rows of a cache replaced by new ones, which begin at a place for each sequence."""
    rank = f.ndim(past)
    axis %= rank
    size, count = f.known_sizes(past, [axis])[0], f.known_sizes(update, [axis])[0]
    batch = f.known_sizes(past, [0])[0]
    need_room(batch, count)
    begin = np.zeros(batch, "int64") if write_indices is None else write_indices
    steps = f.elementwise_add(f.reshaped(begin, [batch, 1]), np.arange(count).reshape(1, -1))
    if mode == "circular":
        steps = f.remainder(steps, np.array(size))
    rows = np.repeat(np.arange(batch), count).reshape(batch, count, 1)
    places = f.concat([rows, f.added(steps, 2)], axis=-1)
    front = [0, axis, *(i for i in range(1, rank) if i != axis)]
    back = list(np.argsort(front))
    out = scatter_nd(f, f.transposed(past, front), places, f.transposed(update, front))
    return f.transposed(out, back)
