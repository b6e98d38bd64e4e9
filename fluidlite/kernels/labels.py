"""Values at the positions that labels name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..opdef.fusion import Fusion, fuses
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, normal_axis

#: gives the rows and the columns that labels name, and which of the labels count; None for all
Named = Callable[[Any], tuple[Any, Any, Any]]


def _named(count: int, size: int, ignored: int) -> Named:
    """A function that looks at the labels of a matrix's rows.

    Args:
        count: how many rows there are.
        size: how many columns.
        ignored: the label that names nothing, as do those that are no column.
    """
    rows = np.arange(count)

    def look(label: Any) -> tuple[Any, Any, Any]:
        columns = label.reshape(-1)
        counted = (columns >= 0) & (columns < size) & (columns != ignored)
        if counted.all():
            return rows, columns, None
        return rows, np.where(counted, columns, 0), counted

    return look


@prepares("place_label")
def place_label(op: Any, X: Spec, Label: Spec) -> Prepared | None:
    """X where a label says, and 0 elsewhere, for rows of a matrix."""
    if X.ndim != 2 or normal_axis(op.axis, 2) != 1 or X.shape != Label.shape:
        return None
    shape, dtype = (X.shape[0], op.size), X.dtype.dtype
    look = _named(*shape, op.ignore_index)

    def run(x: Any, label: Any, out: Any = None) -> Any:
        rows, columns, counted = look(label)
        out = np.empty(shape, dtype) if out is None else out
        out.fill(0)
        values = x.reshape(-1)
        out[rows, columns] = values if counted is None else np.where(counted, values, 0)
        return out

    return Prepared(run, out=True)


@fuses("softmax_grad", "Out@GRAD", "place_label")
def softmax_grad_at_label(
    softmax_grad: Any, placing: Any, specs: Mapping[tuple[str, str], Spec | None]
) -> Fusion | None:
    """The cotangent of a softmax of rows from one that is 0 but where labels say, in one pass, and
    to the last bit what ``softmax_grad`` makes of ``place_label``.
    """
    takes = (("consumer", "Out"), ("producer", "X"), ("producer", "Label"))
    Out, At, Label = (specs[each] for each in takes)
    if Out is None or At is None or Label is None:
        return None
    op, ignored = softmax_grad.like(softmax_grad.derived_from), placing.ignore_index
    if Out.ndim != 2 or normal_axis(op.axis, 2) != 1 or At.shape != Label.shape:
        return None
    if Out.dtype != At.dtype or Out.dtype.dtype.itemsize < 4:
        return None
    count, classes = Out.shape
    look = _named(count, classes, ignored)

    def run(value: Any, at: Any, label: Any, out: Any = None) -> Any:
        rows, columns, counted = look(label)
        at = at.reshape(-1) if counted is None else np.where(counted, at.reshape(-1), 0)
        picked = value[rows, columns]
        total = at * picked  # the only term of the sum over the row that is not 0
        out = np.multiply(value, (0 - total)[:, None], out=out)
        out[rows, columns] = (at - total) * picked
        return out

    return Fusion(Prepared(run, out=True), takes)


@prepares("softmax_with_cross_entropy_grad")
def softmax_with_cross_entropy_grad(
    op: Any, Label: Spec, Softmax: Spec, dLoss: Spec | None, dSoftmax: Spec | None
) -> Prepared | None:
    """The cotangent of the logits: (Softmax - 1 at the label) dLoss, for rows of a matrix."""
    if op.soft_label or dSoftmax is not None or Softmax.ndim != 2 or normal_axis(op.axis, 2) != 1:
        return None
    if not op.use_softmax:
        return None
    if dLoss is None or dLoss.shape != Label.shape or dLoss.dtype != Softmax.dtype:
        return None
    if Softmax.dtype.dtype.itemsize < 4:
        return None
    count, classes = Softmax.shape
    look = _named(count, classes, op.ignore_index)

    def run(label: Any, softmax: Any, dloss: Any, _: Any, out: Any = None) -> Any:
        rows, columns, counted = look(label)
        if counted is not None:
            dloss = np.where(counted, dloss.reshape(-1), 0).reshape(dloss.shape)
        out = np.multiply(softmax, dloss, out=out)
        out[rows, columns] -= dloss.reshape(-1)
        return out

    return Prepared(run, out=True, like=1)


@prepares("cross_entropy2")
def cross_entropy2(op: Any, X: Spec, Label: Spec) -> Prepared | None:
    """The negative logarithm of what labels name, for rows of a matrix."""
    if X.ndim != 2 or X.dtype.dtype.itemsize < 4 or Label.shape[:1] != X.shape[:1]:
        return None
    (count, classes), dtype = X.shape, X.dtype.dtype
    shape = Label.shape
    look = _named(count, classes, op.ignore_index)
    nothing = np.zeros((count, classes, 0), dtype)

    def run(x: Any, label: Any) -> Any:
        rows, columns, counted = look(label)
        if counted is not None and not (counted == (label.reshape(-1) != op.ignore_index)).all():
            raise IndexError("a label is out of range")
        match = x[rows, columns]
        if counted is not None:
            match[~counted] = 0
        zero = match == 0
        if zero.any():
            loss = np.where(zero, -op.log_of_zero, -np.log(np.where(zero, 1, match))).astype(dtype)
        else:
            loss = -np.log(match)
        if counted is not None:
            loss[~counted] = 0
        return loss.reshape(shape), nothing, match.reshape(count, 1)

    return Prepared(run)
