"""Softmax and its gradient, and its cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, normal_axis
from .short_rows import largest, totals

_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce
_total: Any = np.add.reduce


@prepares("softmax")
def softmax(op: Any, X: Spec) -> Prepared | None:
    """Exponentials over their sum, in one array."""
    if X.ndim < 1 or 0 in X.shape:
        return None
    least = np.asarray(op.least_logit, X.dtype.dtype)
    largest_of, total_of = largest(X, op.axis), totals(X, op.axis)

    def run(x: Any, out: Any = None) -> Any:
        shifted = np.subtract(x, largest_of(x), out=out)
        if not _smallest(shifted, None, None, None, False, least) >= least:  # looking costs less
            np.maximum(shifted, least, out=shifted)
        e = np.exp(shifted, out=shifted)
        return np.divide(e, total_of(e), out=e)

    return Prepared(run, out=True, over=(0,))


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

    def run(value: Any, g: Any, out: Any = None) -> Any:
        products = np.multiply(g, value, out=out)
        total = total_of(products)
        return np.multiply(np.subtract(g, total), value, out=products)

    return Prepared(run, out=True, like=0)
