"""Sums and means."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, size_of
from .half import in_single
from .samples_last import SamplesLast

_MANY = 32  #: rows that a product adds faster, also where they are no matrix


@prepares("reduce_sum")
@in_single
def reduce_sum(op: Any, X: Spec) -> Prepared | None:
    """A sum over some dimensions.

    Columns of a matrix are added by a product with ones, which is several times faster than adding
    rows (and rounds in another order).
    """
    if op.out_dtype != -1 or X.kind is not Kind.LOD_TENSOR or not X.shape:
        return None
    if not X.dtype.is_float and op.is_widened(X.dtype):  # a mean, which is none, is of floats
        return None
    axes, keep = op.axes(X.ndim), op.keep_dim
    shape = tuple(1 if i in axes else n for i, n in enumerate(X.shape) if keep or i not in axes)
    shape = shape if shape or op.zero_d else (1,)
    dtype = X.dtype.dtype
    if axes == (0,) and X.ndim == 2 and X.dtype.is_float and min(X.shape) > 1:
        ones = np.ones(X.shape[0], dtype)
        if keep:
            return Prepared(lambda x: np.dot(ones, x).reshape(shape))
        return Prepared(lambda x: np.dot(ones, x))
    if axes == tuple(range(len(axes))) and len(axes) < X.ndim > 2 and X.dtype.is_float:
        rows = size_of(X.shape[: len(axes)])
        columns = size_of(X.shape[len(axes) :])
        if rows >= _MANY and columns > 1:
            all_ones = np.ones(rows, dtype)
            return Prepared(lambda x: np.dot(all_ones, x.reshape(rows, columns)).reshape(shape))
    if X.ndim > 2 and axes == tuple(range(2, X.ndim)) and X.dtype.is_float and 0 not in X.shape:
        return _over_positions(X, shape)
    add: Any = np.add.reduce
    if shape and len(shape) == (X.ndim if keep else X.ndim - len(axes)):
        return Prepared(lambda x: add(x, axes, dtype, None, keep))
    return Prepared(lambda x: np.asarray(add(x, axes, dtype, None, keep)).reshape(shape))


def _over_positions(X: Spec, shape: tuple[int, ...]) -> Prepared:
    """Sums over the positions of images, whose samples may lie last.

    Args:
        X: the images.
        shape: of the result.
    """
    last, axes = SamplesLast(X.shape), tuple(range(2, X.ndim))
    add: Any = np.add.reduce

    def run(x: Any) -> Any:
        sums = last.sums(last.lined(x)).T if last.holds(x) else add(x, axes)
        return sums.reshape(shape)

    return Prepared(run)


@prepares("reduce_mean")
@in_single
def reduce_mean(op: Any, X: Spec) -> Prepared | None:
    """A mean over some dimensions."""
    total = reduce_sum(op, X) if X.dtype.is_float and 0 not in X.shape else None
    if total is None:
        return None
    add, count = total.function, np.asarray(op.count(X.shape), X.dtype.dtype)
    return Prepared(lambda x: np.divide(add(x), count))


@prepares("mean")
@in_single
def mean(op: Any, X: Spec) -> Prepared | None:
    """The mean of all elements."""
    count = size_of(X.shape)
    if not count:
        return None
    dtype, one = X.dtype.dtype, op.one
    share = np.asarray(count, dtype)
    if X.ndim == 2 and X.shape[1] == 1 and one:
        return Prepared(lambda x: np.add.reduce(x, 0) / share)
    return Prepared(lambda x: (np.add.reduce(x, None, dtype) / share).reshape(one))
