"""Softmax and its gradient, by rows that stay in the cache, and its cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, normal_axis, size_of
from .batch import pieces
from .short_rows import largest, totals

_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce
_total: Any = np.add.reduce


def _by_rows(function: Any, X: Spec, axis: int) -> Any:
    """A function of arrays like X, and of what it writes to, that works on rows which stay in the
    cache, where they lie one after the other.

    Args:
        function: of such arrays, or of some rows; takes ``out``.
        X: the arrays.
        axis: along which the function looks at several elements.
    """
    width = X.shape[-1]
    cut = list(pieces(size_of(X.shape[:-1]), width * X.dtype.dtype.itemsize))
    if normal_axis(axis, X.ndim) != X.ndim - 1 or len(cut) < 2:
        return function

    def run(*arrays: Any, out: Any = None) -> Any:
        if not all(a.flags.c_contiguous for a in (*arrays, *(() if out is None else (out,)))):
            return function(*arrays, out=out)
        result = np.empty(X.shape, X.dtype.dtype) if out is None else out
        *rows, written = [a.reshape(-1, width) for a in (*arrays, result)]
        for some in cut:
            function(*[a[some] for a in rows], out=written[some])
        return result

    return run


@prepares("softmax")
def softmax(op: Any, X: Spec) -> Prepared | None:
    """Exponentials over their sum, in one array."""
    if X.ndim < 1 or 0 in X.shape:
        return None
    least = np.asarray(op.least_logit, X.dtype.dtype)
    largest_of, total_of = largest(X, op.axis), totals(X, op.axis)

    def some(x: Any, out: Any = None) -> Any:
        shifted = np.subtract(x, largest_of(x), out=out)
        if not _smallest(shifted, None, None, None, False, least) >= least:  # looking costs less
            np.maximum(shifted, least, out=shifted)
        e = np.exp(shifted, out=shifted)
        return np.divide(e, total_of(e), out=e)

    return Prepared(_by_rows(some, X, op.axis), out=True, over=(0,))


@prepares("softmax_with_cross_entropy")
def softmax_with_cross_entropy(op: Any, Logits: Spec, Label: Spec) -> Prepared | None:
    """The softmax, and the negative logarithm of what a label names, for rows of a matrix."""
    if op.soft_label or not op.use_softmax or Logits.ndim != 2 or normal_axis(op.axis, 2) != 1:
        return None
    count, classes = Logits.shape
    rows, ignored = np.arange(count), op.ignore_index
    may_be_ignored = 0 <= ignored < classes
    least = np.asarray(op.least_logit, Logits.dtype.dtype)

    def run(logits: Any, label: Any) -> Any:
        shifted = logits - _largest(logits, 1, None, None, True)
        if not _smallest(shifted, None, None, None, False, least) >= least:
            np.maximum(shifted, least, out=shifted)
        inside = names = label.reshape(-1)
        every = bool(((names >= 0) & (names < classes)).all()) and not may_be_ignored
        if not every:
            counted = names != ignored
            inside = np.where(counted, names, 0)
            if not ((inside >= 0) & (inside < classes)).all():
                raise IndexError("a label is out of range")
        picked = shifted[rows, inside]
        e = np.exp(shifted, out=shifted)
        total = _total(e, 1, None, None, True)
        loss = np.log(total) - picked.reshape(count, 1)
        if not every:
            loss[~counted] = 0.0
        return np.divide(e, total, out=e), loss

    return Prepared(run)


@prepares("softmax_grad")
def softmax_grad(op: Any, Out: Spec, dOut: Spec | None) -> Prepared | None:
    """Out (dOut - the sum of dOut Out along the classes)."""
    if dOut is None or dOut != Out or not Out.shape or Out.dtype is DType.FP16:
        return None
    total_of = totals(Out, op.axis)

    def some(value: Any, g: Any, out: Any = None) -> Any:
        products = np.multiply(g, value, out=out)
        total = total_of(products)
        return np.multiply(np.subtract(g, total), value, out=products)

    return Prepared(_by_rows(some, Out, op.axis), out=True, like=0)
