"""Prepared kernels of operators that take rows by number, or add them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..kernels.row_sums import PLAIN, add_at_rows, flat_index, is_below
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, size_of
from .numpy_ import xp
from .rows import (
    LEAST,
    MOST_WANTED,
    added_at,
    change_along_axis,
    cumsum,
    extreme_slopes,
    kind_of_size,
    known_forms,
    lists_along,
    mean_slopes,
    need_below,
    pooled_segments,
    products_added,
    put_at,
    rows_replaced,
    sizes_of,
    summed_along,
    take_along_axis,
    take_at,
    taken_along_axis,
)

LONGEST_SHORT = 32  #: elements of a list up to which a function in C counts those before each


def _fit(*specs: Spec) -> bool:
    """Whether values are tensors of one of the usual element types, with elements."""
    kinds = {spec.dtype for spec in specs}
    return len(kinds) == 1 and all(
        spec.kind is Kind.LOD_TENSOR
        and spec.dtype.dtype.char in PLAIN
        and spec.shape
        and 0 not in spec.shape
        for spec in specs
    )


def _numbers(index: Any, shape: tuple[int, ...]) -> Any:
    """Numbers of rows, in a row.

    Args:
        index: places along its last dimension.
        shape: of the dimensions that a place goes into.

    Raises:
        IndexError: one of them is outside.
    """
    parts = index.reshape(-1, len(shape)).T
    flat = flat_index(tuple(parts), shape)
    if flat is None:
        raise IndexError("a number of a row is out of range")
    return flat


class _Places:
    """Places in an array, in each of whose rows there is one.

    Args:
        Index: the places, along its last dimension.
        into: the sizes of the dimensions that they go into.
    """

    def __init__(self, Index: Spec, into: tuple[int, ...]) -> None:
        self._into, self._count, size = into, size_of(Index.shape[:-1]), size_of(Index.shape)
        #: whether they are numbers of rows as they are
        self.are_rows: bool = len(into) == 1
        self._sizes = sizes_of(len(into), 0, 1, *into)
        self._flat = known_forms("flat_places", "l", size, size, Index.dtype)

    def flat(self, index: Any) -> Any:
        """The numbers of the elements, or rows, that they name, in an array of one dimension.

        Raises:
            IndexError: one of them is outside.
        """
        if not self.are_rows:
            numbers = np.empty(self._count, np.int64)
            if self._flat((index, self._sizes, numbers)):
                return numbers
        return _numbers(index, self._into)


def _taking(X: Spec, Index: Spec, depth: int, lead: tuple[int, ...]) -> Prepared:
    """The kernel that takes rows of an array.

    Args:
        X: the array.
        Index: the places.
        depth: how many of its dimensions a place has.
        lead: the shape of the places.
    """
    into, row, dtype = X.shape[:depth], X.shape[depth:], X.dtype.dtype
    count, width, shape_of_rows = size_of(into), size_of(row), (*lead, *row)
    size, places = size_of(shape_of_rows), _Places(Index, into) if depth > 1 else None
    kind, numbers, sizes = kind_of_size(dtype), Index.dtype, sizes_of(width, count, 1)
    taken = known_forms("take_rows", kind, size, max(size, size_of(X.shape)), numbers)

    def run(x: Any, index: Any, *rest: Any, out: Any = None) -> Any:
        # a view would be copied once more
        new = np.empty(shape_of_rows, dtype) if out is None else out
        if places is not None:
            index = places.flat(index)
        if not taken((index, x, sizes, new)):
            take_at(x.reshape(count, width), index.reshape(-1), new.reshape(-1, width))
        return new

    return Prepared(run, out=True, quiet=True)


@prepares("gather")
def gather(op: Any, X: Spec, Index: Spec, Axis: Spec | None) -> Prepared | None:
    """Rows by number."""
    if Axis is not None or not _fit(X) or op.axis % X.ndim or not Index.shape:
        return None
    return _taking(X, Index, 1, Index.shape[:1])


@prepares("index_select")
def index_select(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Rows by number."""
    return None if not _fit(X) or op.dim % X.ndim else _taking(X, Index, 1, Index.shape[:1])


@prepares("lookup_table", "lookup_table_v2")
def look_up(op: Any, W: Spec, Ids: Spec) -> Prepared | None:
    """Rows of a table by number."""
    if op.padding_idx != -1 or W.kind is not Kind.LOD_TENSOR or 0 in W.shape:
        return None
    return _taking(W, Ids, 1, op.ids_shape(Ids.shape))


@prepares("gather_nd")
def gather_nd(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Rows, or elements, by place."""
    if not _fit(X) or not Index.shape or not Index.shape[-1]:
        return None
    return _taking(X, Index, Index.shape[-1], Index.shape[:-1])


@prepares("scatter_nd_add")
def scatter_nd_add(op: Any, X: Spec, Index: Spec, Updates: Spec) -> Prepared | None:
    """Rows, or elements, added by place."""
    if not _fit(X, Updates) or not Index.shape or not Index.shape[-1]:
        return None
    shape, depth = X.shape, Index.shape[-1]
    places = _Places(Index, shape[:depth])
    added = _summed(X, size_of(shape[:depth]), Index, Updates)

    def run(x: Any, index: Any, updates: Any, out: Any = None) -> Any:
        if not places.are_rows:
            index = places.flat(index)
        return added(x, index, updates, out)

    return Prepared(run, out=True, quiet=True)


def _summed(X: Spec, count: int, Index: Spec, Updates: Spec, is_zero: bool = False) -> Any:
    """A function of an array, numbers of its rows, rows that are added to these, and what it writes
    to, which gives the sum.

    Args:
        X: the array.
        count: how many rows it has.
        Index: the numbers.
        Updates: the rows that are added.
        is_zero: whether zeros stand in place of the array, which is not looked at.
    """
    shape, dtype, size = X.shape, X.dtype.dtype, size_of(X.shape)
    width, into = size_of(shape) // count, (count,)
    kind = dtype.char if dtype.char in "fdil" else ""
    sizes, work = sizes_of(width, count, 1, not is_zero), size_of(Updates.shape)
    summed = known_forms("sum_rows", kind, max(size, work), max(size, work), Index.dtype)

    def run(x: Any, index: Any, updates: Any, out: Any = None) -> Any:
        new = np.empty(shape, dtype) if out is None else out
        if summed((index, updates, x, sizes, new)):
            return new
        numbers = _numbers(index, into)
        if is_zero:
            new.fill(0)
        elif new is not x:
            np.copyto(new, x)
        with np.errstate(all="ignore"):
            added_at(new.reshape(count, width), numbers, updates.reshape(-1, width))
        return new

    return run


@prepares("scatter")
def scatter(op: Any, X: Spec, Ids: Spec, Updates: Spec) -> Prepared | None:
    """Rows put by number."""
    if not op.overwrite or not _fit(X, Updates):
        return None
    shape, count, width = X.shape, X.shape[0], size_of(X.shape[1:])
    work, sizes = size_of(shape) + size_of(Updates.shape), sizes_of(width, count, 1)
    kind = kind_of_size(X.dtype.dtype)
    replaced = known_forms("replace_rows", kind, work, work, Ids.dtype)

    def run(x: Any, index: Any, updates: Any, out: Any = None) -> Any:
        new = np.empty(shape, x.dtype) if out is None else out
        if replaced((index, updates, x, sizes, np.empty(count, np.int64), new)):
            return new
        index, updates = index.reshape(-1), updates.reshape(-1, width)
        rows = new.reshape(count, width)
        if not rows_replaced(x.reshape(count, width), index, updates, rows):
            places = _numbers(index, shape[:1])
            if new is not x:
                np.copyto(new, x)
            put_at(rows, places, updates)
        return new

    return Prepared(run, out=True, quiet=True)


def _adding(size: int, Index: Spec, Updates: Spec, padding: int) -> Prepared:
    """The kernel that adds rows to zeros.

    Args:
        size: how many rows the result has.
        Index: their numbers.
        Updates: what is added.
        padding: a number whose rows are left out; -1 for none.
    """
    made = Updates.with_shape((size, *Updates.shape[1:]))
    summed = _summed(made, size, Index, Updates, is_zero=True)

    def run(index: Any, updates: Any, out: Any = None) -> Any:
        if padding != -1:
            kept = index.reshape(-1) != padding
            if not kept.all():
                index, updates = index.reshape(-1)[kept], updates[kept]
        return summed(updates, index, updates, out)

    return Prepared(run, out=True, quiet=True)


@prepares("gather_adjoint")
def gather_adjoint(op: Any, Index: Spec, Updates: Spec) -> Prepared | None:
    """Rows added by number."""
    if not _fit(Updates) or op.size <= 0:
        return None
    return _adding(op.size, Index, Updates, -1)


@prepares("lookup_table_adjoint")
def lookup_table_adjoint(op: Any, Ids: Spec, Updates: Spec) -> Prepared | None:
    """Rows added by number, but for those of one number."""
    if not _fit(Updates) or op.size <= 0:
        return None
    return _adding(op.size, Ids, Updates, op.padding_idx)


@prepares("take_along")
def take_along(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Elements by number along a dimension."""
    if not _fit(X) or 0 in Index.shape or Index.ndim != X.ndim:
        return None
    axis, shape, dtype = op.axis % X.ndim, Index.shape, X.dtype.dtype
    size, sizes = X.shape[axis], sizes_of(*lists_along(X.shape, axis), 1)
    work, most = size_of(shape), max(size_of(shape), size_of(X.shape))
    taken = known_forms("take_along", kind_of_size(dtype), work, most, Index.dtype)

    def run(x: Any, index: Any, out: Any = None) -> Any:
        new = np.empty(shape, dtype) if out is None else out
        if taken((index, x, sizes, new)):
            return new
        if taken_along_axis(x, index, axis, new) is None:
            need_below(index, size)
            np.copyto(new, take_along_axis(x, index, axis))
        return new

    return Prepared(run, out=True, quiet=True)


@prepares("cumsum")
def cumsum_(op: Any, X: Spec) -> Prepared | None:
    """The sums up to each element along a dimension."""
    if op.flatten or op.exclusive or not _fit(X) or X.dtype.dtype.char not in "fdl":
        return None
    axis, shape, dtype, reverse = op.axis % X.ndim, X.shape, X.dtype.dtype, op.reverse
    sizes, work = sizes_of(*lists_along(shape, axis), 1, reverse), size_of(shape)
    summed = known_forms("sums_along", dtype.char, work, work)

    def run(x: Any, out: Any = None) -> Any:
        new = np.empty(shape, dtype) if out is None else out
        if summed((x, sizes, new)):
            return new
        with np.errstate(all="ignore"):
            if not reverse:
                return cumsum(x, axis, dtype, new)
            if not (x.flags.c_contiguous and summed_along(x, axis, reverse, new)):
                np.copyto(new, op.run(xp, x))
            return new

    return Prepared(run, out=True, quiet=True)


@prepares("top_k", "top_k_v2")
def largest(op: Any, X: Spec, K: Spec | None) -> Prepared | None:
    """The largest elements of lists along the last dimension, and their places."""
    if K is not None or not _fit(X) or X.dtype.dtype.char not in "fd":
        return None
    if not getattr(op, "largest", True) or getattr(op, "axis", -1) not in (-1, X.ndim - 1):
        return None
    if not 0 < op.k <= min(X.shape[-1], MOST_WANTED):
        return None
    shape, dtype, size = (*X.shape[:-1], op.k), X.dtype.dtype, size_of(X.shape)
    compute = known_forms("largest_of", dtype.char, size, size)
    sizes = sizes_of(X.shape[-1], op.k, 1)

    def run(x: Any, _: Any) -> Any:
        made = np.empty(shape, dtype), np.empty(shape, np.int64)
        if compute((x, sizes, *made)):
            return made
        with np.errstate(all="ignore"):
            return op.run_numpy(xp, x, None)

    return Prepared(run, quiet=True)


@prepares("argsort")
def in_order(op: Any, X: Spec) -> Prepared | None:
    """The elements of short lists along the last dimension in order, and their places."""
    if not _fit(X) or X.dtype.dtype.char not in "fd" or op.axis not in (-1, X.ndim - 1):
        return None
    shape, dtype, size, count = X.shape, X.dtype.dtype, size_of(X.shape), X.shape[-1]
    if count > LONGEST_SHORT:
        return None
    ordered = known_forms("short_lists", dtype.char, size, size)
    sizes = sizes_of(count, op.descending, 1)

    def run(x: Any) -> Any:
        made = np.empty(shape, dtype), np.empty(shape, np.int64)
        return made if ordered((x, sizes, *made)) else op.run(xp, x)

    return Prepared(run, quiet=True)


@prepares("add_along")
def add_along(op: Any, Index: Spec, Updates: Spec) -> Prepared | None:
    """Elements added to zeros by number along a dimension."""
    if not _fit(Updates) or op.size <= 0 or Index.shape != Updates.shape:
        return None
    axis = op.axis % Updates.ndim
    shape = (*Updates.shape[:axis], op.size, *Updates.shape[axis + 1 :])
    dtype = Updates.dtype.dtype
    added, sizes = _changed("add_along", shape, axis, Index, Updates, _WITH_ZEROS)

    def run(index: Any, updates: Any, out: Any = None) -> Any:
        new = np.empty(shape, dtype) if out is None else out
        if not added((index, updates, updates, sizes, new)):
            new.fill(0)
            with np.errstate(all="ignore"):
                change_along_axis(new, index, updates, axis, True)
        return new

    return Prepared(run, out=True, quiet=True)


#: how what is changed along a dimension begins, as functions in C take it
_AS_ANOTHER, _WITH_ZEROS = 1, 2


def _changed(
    name: str, shape: tuple[int, ...], axis: int, Index: Spec, Updates: Spec, begins: int
) -> tuple[Any, Any]:
    """A function in C that changes elements along a dimension, and the sizes that it takes.

    Args:
        name: of the function.
        shape: of what is changed.
        axis: the dimension, counted from the first.
        Index, Updates: numbers along it, and what comes there.
        begins: how it begins.
    """
    work, dtype = size_of(Index.shape), Updates.dtype.dtype
    kind = dtype.char if name == "add_along" else kind_of_size(dtype)
    kind = kind if kind in "fdil" else ""
    call = known_forms(name, kind, work, max(work, size_of(shape)), Index.dtype)
    return call, sizes_of(*lists_along(shape, axis), 1, begins)


@prepares("put_along")
def put_along(op: Any, X: Spec, Index: Spec, Value: Spec) -> Prepared | None:
    """Elements put, or added, by number along a dimension."""
    if not _fit(X, Value) or Index.shape != Value.shape or Index.ndim != X.ndim:
        return None
    axis = op.axis % X.ndim
    if any(i != axis and m != n for i, (m, n) in enumerate(zip(Index.shape, X.shape))):
        return None
    name = "add_along" if op.adds else "set_along"
    changed, sizes = _changed(name, X.shape, axis, Index, Value, _AS_ANOTHER)
    shape, dtype = X.shape, X.dtype.dtype

    def run(x: Any, index: Any, value: Any, out: Any = None) -> Any:
        new = np.empty(shape, dtype) if out is None else out
        if not changed((index, value, x, sizes, new)):
            if new is not x:
                np.copyto(new, x)
            with np.errstate(all="ignore"):
                change_along_axis(new, index, value, axis, op.adds)
        return new

    return Prepared(run, out=True, quiet=True)


@prepares("segment_pool")
def segment_pool(op: Any, X: Spec, SegmentIds: Spec) -> Prepared | None:
    """Rows of segments put together."""
    if not _fit(X) or SegmentIds.shape[:1] != X.shape[:1]:
        return None
    (rows, *row), dtype, how = X.shape, X.dtype.dtype, op.pooltype
    kind = dtype.char if dtype.char in ("fdil" if how == "SUM" else "fd") else ""
    if size_of(SegmentIds.shape) != rows:
        kind = ""
    name, size, width = f"segment_{how.lower()}", size_of(X.shape), size_of(row)
    compute = known_forms(name, kind, size, size, SegmentIds.dtype)

    def run(x: Any, index: Any, out: Any = None) -> Any:
        count = int(index.item(-1)) + 1 if out is None else len(out)
        if 0 < count <= rows:  # else they may be many
            new = np.empty((count, *row), dtype) if out is None else out
            if compute((index, x, sizes_of(width, count, 1), new)):
                return new
        with np.errstate(all="ignore"):
            pooled = pooled_segments(how, index, x, out)
            if pooled is None:
                pooled, _ = op.run(xp, x, index)
        if out is not None and pooled is not out:
            np.copyto(out, pooled)
        return pooled if out is None else out

    return Prepared(run, out=True, quiet=True)


@prepares("segment_pool_grad")
def segment_pool_grad(
    op: Any, X: Spec, SegmentIds: Spec, Out: Spec, dOut: Spec | None
) -> Prepared | None:
    """Cotangents of the rows of segments; those of sums are rows that are taken."""
    if dOut is None or dOut.shape != Out.shape or op.pooltype == "SUM":
        return None
    if not _fit(X, Out, dOut) or not X.dtype.is_float or SegmentIds.shape[:1] != X.shape[:1]:
        return None
    width, is_mean, dtype = size_of(X.shape[1:]), op.pooltype == "MEAN", X.dtype.dtype
    name = "segment_mean_slopes" if is_mean else "segment_extreme_slopes"
    kind = dtype.char if dtype.char in "fd" and size_of(SegmentIds.shape) == X.shape[0] else ""
    size, sizes = size_of(X.shape), sizes_of(width, Out.shape[0], 1)
    compute = known_forms(name, kind, size, max(size, size_of(Out.shape)), SegmentIds.dtype)

    def run(x: Any, index: Any, best: Any, g: Any, out: Any = None) -> Any:
        new = np.empty(X.shape, dtype) if out is None else out
        if compute((index, g, sizes, new) if is_mean else (index, x, best, g, sizes, new)):
            return new
        index, g, rows = index.reshape(-1), g.reshape(-1, width), new.reshape(-1, width)
        with np.errstate(all="ignore"):
            if is_mean:
                if not mean_slopes(index, g, rows):
                    counts = np.maximum(np.bincount(index, minlength=len(g)), 1)
                    take_at(g / counts.astype(g.dtype)[:, None], index, rows)
                return new
            x, best = x.reshape(-1, width), best.reshape(-1, width)
            if not extreme_slopes(index, x, best, g, rows):
                take_at(g, index, rows)
                np.multiply(rows, x == best.take(index, 0), out=rows)
        return new

    return Prepared(run, out=True, unread=(0, 2) if is_mean else (), quiet=True)


@prepares("sparse_product")
def sparse_product(op: Any, Rows: Spec, Cols: Spec, Values: Spec, Dense: Spec) -> Prepared | None:
    """Rows of a matrix, weighted and added by number."""
    if not _fit(Values, Dense) or Dense.dtype.dtype.char not in "fd" or op.size <= 0:
        return None
    if not size_of(Rows.shape) == size_of(Cols.shape) == size_of(Values.shape):
        return None

    def run(rows: Any, cols: Any, values: Any, dense: Any, out: Any = None) -> Any:
        new = np.empty((op.size, dense.shape[1]), dense.dtype) if out is None else out
        rows, cols = rows.reshape(-1), cols.reshape(-1)
        new.fill(0)
        fits = not op.ordered or (rows[1:] >= rows[:-1]).all()
        if fits and len(rows) * dense.shape[1] >= LEAST:
            if products_added(new, rows, cols, values, dense):
                return new
        elif fits and is_below(rows, op.size) and is_below(cols, len(dense)):
            add_at_rows(new, rows, values[:, None] * dense[cols])
            return new
        np.copyto(new, op.run_numpy(xp, rows, cols, values, dense))
        return new

    return Prepared(run, out=True)
