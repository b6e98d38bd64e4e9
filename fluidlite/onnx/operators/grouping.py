"""Elements, or parts along a dimension, that are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..building import need_room
from ..forms import operator

MOST_COLUMNS = 1024  #: numbers of each part that are compared one after the other


def _columns(f: Any, x: Any, axis: int | None) -> tuple[Any, list[Any]]:
    """What parts are taken of, and what they are compared by: vectors, the first one first."""
    if axis is None:
        flat = f.reshaped(x, [-1])
        return flat, [flat]
    order = [axis, *(i for i in range(f.ndim(x)) if i != axis)]
    width = int(np.prod(f.known_sizes(x, order[1:]), dtype=np.int64))
    need_room(width, most=MOST_COLUMNS)
    rows = f.reshaped(f.transposed(x, order), [-1, width])
    return x, [f.reshaped(f.cut(rows, 1, k, k + 1), [-1]) for k in range(width)]


@operator("Unique")
def unique(f: Any, x: Any, *, axis: int | None = None, sorted: int = 1) -> Any:
    """The parts sorted, so that equal ones are neighbours, with those that begin a group."""
    axis = None if axis is None else axis % f.ndim(x)
    if 0 in f.sizes(x):
        none = np.zeros(0, np.int64)
        return (f.reshaped(x, [0]) if axis is None else x), none, none, none
    along, taken = 0 if axis is None else axis, lambda v, index: f.index_select(v, index, dim=0)
    place = lambda v: f.to(f.argsort(v, axis=0)[1], np.int64)  # equal ones stay in their order
    whole, columns = _columns(f, x, axis)
    columns = [f.to(v, "int32") if f.type_of(v).kind == "b" else v for v in columns]
    order: Any = None
    for column in reversed(columns):
        key = place(column if order is None else taken(column, order))
        order = key if order is None else taken(order, key)
    number = f.counted(order, 0, 1, 0)
    before = f.maximum(f.elementwise_sub(number, np.array([1])), np.array([0]))
    begins = f.equal(number, np.array([0]))
    for column in columns:
        value = taken(column, order)
        begins = f.logical_or(begins, f.not_equal(value, taken(value, before)))
    group = f.elementwise_sub(f.cumsum(f.to(begins, np.int64), axis=0), np.array([1]))
    starts = f.reshaped(f.where_index(begins), [-1])
    first, index = taken(order, starts), taken(group, place(order))
    ends = f.concat([starts, f.size_of(order, 0)], axis=0)
    counts = f.elementwise_sub(f.slice(ends, axes=[0], starts=[1], ends=[2**30]), starts)
    if not sorted:  # in the order of the first ones
        turned = place(first)
        first, counts = taken(first, turned), taken(counts, turned)
        index = taken(place(turned), index)
    return f.index_select(whole, first, dim=along), first, index, counts
