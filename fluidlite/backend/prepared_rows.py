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
    added_at,
    change_along_axis,
    extreme_slopes,
    mean_slopes,
    need_below,
    pooled_segments,
    products_added,
    put_at,
    rows_replaced,
    take_along_axis,
    take_at,
    taken_along_axis,
)


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


def _taking(shape: tuple[int, ...], depth: int, lead: tuple[int, ...]) -> Prepared:
    """The kernel that takes rows of an array.

    Args:
        shape: of the array.
        depth: how many of its dimensions a place has.
        lead: the shape of the places.
    """
    into, row = shape[:depth], shape[depth:]
    count, width, shape_of_rows = size_of(into), size_of(row), (*lead, *row)

    def run(x: Any, index: Any, *rest: Any, out: Any = None) -> Any:
        places = index.reshape(-1) if depth == 1 else _numbers(index, into)
        # a view would be copied once more
        new = np.empty(shape_of_rows, x.dtype) if out is None else out
        take_at(x.reshape(count, width), places, new.reshape(-1, width))
        return new

    return Prepared(run, out=True)


@prepares("gather")
def gather(op: Any, X: Spec, Index: Spec, Axis: Spec | None) -> Prepared | None:
    """Rows by number."""
    if Axis is not None or not _fit(X) or op.axis % X.ndim or not Index.shape:
        return None
    return _taking(X.shape, 1, Index.shape[:1])


@prepares("index_select")
def index_select(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Rows by number."""
    return None if not _fit(X) or op.dim % X.ndim else _taking(X.shape, 1, Index.shape[:1])


@prepares("lookup_table", "lookup_table_v2")
def look_up(op: Any, W: Spec, Ids: Spec) -> Prepared | None:
    """Rows of a table by number."""
    if op.padding_idx != -1 or W.kind is not Kind.LOD_TENSOR or 0 in W.shape:
        return None
    return _taking(W.shape, 1, op.ids_shape(Ids.shape))


@prepares("gather_nd")
def gather_nd(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Rows, or elements, by place."""
    if not _fit(X) or not Index.shape or not Index.shape[-1]:
        return None
    return _taking(X.shape, Index.shape[-1], Index.shape[:-1])


@prepares("scatter_nd_add")
def scatter_nd_add(op: Any, X: Spec, Index: Spec, Updates: Spec) -> Prepared | None:
    """Rows, or elements, added by place."""
    if not _fit(X, Updates) or not Index.shape or not Index.shape[-1]:
        return None
    shape, depth = X.shape, Index.shape[-1]
    count, width = size_of(shape[:depth]), size_of(shape[depth:])

    def run(x: Any, index: Any, updates: Any, out: Any = None) -> Any:
        places = _numbers(index, shape[:depth])
        new = np.empty(shape, x.dtype) if out is None else out
        if new is not x:
            np.copyto(new, x)
        added_at(new.reshape(count, width), places, updates.reshape(-1, width))
        return new

    return Prepared(run, out=True)


@prepares("scatter")
def scatter(op: Any, X: Spec, Ids: Spec, Updates: Spec) -> Prepared | None:
    """Rows put by number."""
    if not op.overwrite or not _fit(X, Updates):
        return None
    shape, count, width = X.shape, X.shape[0], size_of(X.shape[1:])

    def run(x: Any, index: Any, updates: Any, out: Any = None) -> Any:
        index, updates = index.reshape(-1), updates.reshape(-1, width)
        new = np.empty(shape, x.dtype) if out is None else out
        rows = new.reshape(count, width)
        if not rows_replaced(x.reshape(count, width), index, updates, rows):
            places = _numbers(index, shape[:1])
            if new is not x:
                np.copyto(new, x)
            put_at(rows, places, updates)
        return new

    return Prepared(run, out=True)


def _adding(shape: tuple[int, ...], dtype: Any, padding: int) -> Prepared:
    """The kernel that adds rows to zeros.

    Args:
        shape: of the result.
        dtype: its element type.
        padding: a number whose rows are left out; -1 for none.
    """
    size, width = shape[0], size_of(shape[1:])

    def run(index: Any, updates: Any, out: Any = None) -> Any:
        index, updates = index.reshape(-1), updates.reshape(-1, width)
        if padding != -1:
            kept = index != padding
            if not kept.all():
                index, updates = index[kept], updates[kept]
        places = _numbers(index, (size,))
        new = np.empty(shape, dtype) if out is None else out
        new.fill(0)
        added_at(new.reshape(size, width), places, updates)
        return new

    return Prepared(run, out=True)


@prepares("gather_adjoint")
def gather_adjoint(op: Any, Index: Spec, Updates: Spec) -> Prepared | None:
    """Rows added by number."""
    if not _fit(Updates) or op.size <= 0:
        return None
    return _adding((op.size, *Updates.shape[1:]), Updates.dtype.dtype, -1)


@prepares("lookup_table_adjoint")
def lookup_table_adjoint(op: Any, Ids: Spec, Updates: Spec) -> Prepared | None:
    """Rows added by number, but for those of one number."""
    if not _fit(Updates) or op.size <= 0:
        return None
    return _adding((op.size, *Updates.shape[1:]), Updates.dtype.dtype, op.padding_idx)


@prepares("take_along")
def take_along(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Elements by number along a dimension."""
    if not _fit(X) or 0 in Index.shape or Index.ndim != X.ndim:
        return None
    axis = op.axis % X.ndim
    size = X.shape[axis]

    def run(x: Any, index: Any) -> Any:
        out = taken_along_axis(x, index, axis)
        if out is None:
            need_below(index, size)
            out = take_along_axis(x, index, axis)
        return out

    return Prepared(run)


@prepares("add_along")
def add_along(op: Any, Index: Spec, Updates: Spec) -> Prepared | None:
    """Elements added to zeros by number along a dimension."""
    if not _fit(Updates) or op.size <= 0 or Index.shape != Updates.shape:
        return None
    axis = op.axis % Updates.ndim
    shape = (*Updates.shape[:axis], op.size, *Updates.shape[axis + 1 :])
    dtype = Updates.dtype.dtype

    def run(index: Any, updates: Any, out: Any = None) -> Any:
        new = np.empty(shape, dtype) if out is None else out
        new.fill(0)
        change_along_axis(new, index, updates, axis, True)
        return new

    return Prepared(run, out=True)


@prepares("put_along")
def put_along(op: Any, X: Spec, Index: Spec, Value: Spec) -> Prepared | None:
    """Elements put, or added, by number along a dimension."""
    if not _fit(X, Value) or Index.shape != Value.shape or Index.ndim != X.ndim:
        return None
    axis = op.axis % X.ndim
    if any(i != axis and m != n for i, (m, n) in enumerate(zip(Index.shape, X.shape))):
        return None

    def run(x: Any, index: Any, value: Any, out: Any = None) -> Any:
        new = np.empty(x.shape, x.dtype) if out is None else out
        if new is not x:
            np.copyto(new, x)
        change_along_axis(new, index, value, axis, op.adds)
        return new

    return Prepared(run, out=True)


@prepares("segment_pool")
def segment_pool(op: Any, X: Spec, SegmentIds: Spec) -> Prepared | None:
    """Rows of segments put together."""
    if not _fit(X) or SegmentIds.shape[:1] != X.shape[:1]:
        return None

    def run(x: Any, index: Any, out: Any = None) -> Any:
        pooled = pooled_segments(op.pooltype, index, x, out)
        if pooled is None:
            pooled, _ = op.run(xp, x, index)
        if out is not None and pooled is not out:
            np.copyto(out, pooled)
        return pooled if out is None else out

    return Prepared(run, out=True)


@prepares("segment_pool_grad")
def segment_pool_grad(
    op: Any, X: Spec, SegmentIds: Spec, Out: Spec, dOut: Spec | None
) -> Prepared | None:
    """Cotangents of the rows of segments; those of sums are rows that are taken."""
    if dOut is None or dOut.shape != Out.shape or op.pooltype == "SUM":
        return None
    if not _fit(X, Out, dOut) or not X.dtype.is_float or SegmentIds.shape[:1] != X.shape[:1]:
        return None
    width, is_mean = size_of(X.shape[1:]), op.pooltype == "MEAN"

    def run(x: Any, index: Any, best: Any, g: Any, out: Any = None) -> Any:
        new = np.empty(X.shape, g.dtype) if out is None else out
        index, g, rows = index.reshape(-1), g.reshape(-1, width), new.reshape(-1, width)
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

    return Prepared(run, out=True, unread=(0, 2) if is_mean else ())


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
