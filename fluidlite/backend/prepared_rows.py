"""Prepared kernels of operators that take rows by number, or add them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..kernels.row_sums import PLAIN, flat_index
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, size_of
from .rows import added_at, change_along_axis, need_below, put_at, take_along_axis, taken_along_axis


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
    count, width = size_of(into), size_of(row)

    def run(x: Any, index: Any, *rest: Any, out: Any = None) -> Any:
        places = _numbers(index, into)
        rows = None if out is None else out.reshape(-1, width)
        # "raise" would take a copy of the result
        return x.reshape(count, width).take(places, 0, rows, "clip").reshape(*lead, *row)

    return Prepared(run, out=True)


@prepares("gather")
def gather(op: Any, X: Spec, Index: Spec, Axis: Spec | None) -> Prepared | None:
    """Rows by number."""
    if Axis is not None or not _fit(X) or op.axis % X.ndim or not Index.shape:
        return None
    return _taking(X.shape, 1, Index.shape[:1])


@prepares("gather_nd")
def gather_nd(op: Any, X: Spec, Index: Spec) -> Prepared | None:
    """Rows, or elements, by place."""
    if not _fit(X) or not Index.shape or not Index.shape[-1]:
        return None
    return _taking(X.shape, Index.shape[-1], Index.shape[:-1])


def _changing(shape: tuple[int, ...], depth: int, change: Callable[..., Any]) -> Prepared:
    """The kernel that changes rows in a copy of an array.

    Args:
        shape: of the array.
        depth: how many of its dimensions a place has.
        change: what is done with the copy as a matrix, numbers of rows, and new rows.
    """
    into = shape[:depth]
    count, width = size_of(into), size_of(shape[depth:])

    def run(x: Any, index: Any, updates: Any, out: Any = None) -> Any:
        places = _numbers(index, into)
        new = np.empty(shape, x.dtype) if out is None else out
        if new is not x:
            np.copyto(new, x)
        change(new.reshape(count, width), places, updates.reshape(-1, width))
        return new

    return Prepared(run, out=True)


@prepares("scatter_nd_add")
def scatter_nd_add(op: Any, X: Spec, Index: Spec, Updates: Spec) -> Prepared | None:
    """Rows, or elements, added by place."""
    if not _fit(X, Updates) or not Index.shape or not Index.shape[-1]:
        return None
    return _changing(X.shape, Index.shape[-1], added_at)


@prepares("scatter")
def scatter(op: Any, X: Spec, Ids: Spec, Updates: Spec) -> Prepared | None:
    """Rows put by number."""
    if not op.overwrite or not _fit(X, Updates):
        return None
    return _changing(X.shape, 1, put_at)


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
