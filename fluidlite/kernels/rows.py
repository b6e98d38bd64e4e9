"""Gradients of tables, of which only some rows are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.values import SelectedRows
from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec


@prepares("selected_rows")
def selected_rows(op: Any, Ids: Spec, Updates: Spec) -> Prepared | None:
    """Rows with their numbers."""
    if op.padding_idx != -1:
        return None
    return Prepared(lambda ids, updates: SelectedRows(ids, op.height, updates))


def total_of_rows(X: list[Spec]) -> Prepared | None:
    """The sum of values of which only some rows are stored, each row once."""
    if any(x.kind is not Kind.SELECTED_ROWS for x in X):
        return None
    height = X[0].shape[0]

    def run(values: list[Any]) -> Any:
        numbers = np.concatenate([value.numbers for value in values])
        rows = np.concatenate([value.value for value in values])
        return SelectedRows(numbers, height, rows).merged()

    return Prepared(run)


def sgd_on_rows(Param: Spec, Grad: Spec) -> Prepared | None:
    """A step of gradient descent in the rows that a gradient has."""
    if Grad.kind is not Kind.SELECTED_ROWS or Param.kind is not Kind.LOD_TENSOR:
        return None
    if Param.dtype != Grad.dtype or Param.dtype.dtype.itemsize < 4:
        return None

    def run(param: Any, rate: Any, grad: Any, out: Any = None) -> Any:
        rows = grad.merged()
        new = np.empty(param.shape, param.dtype) if out is None else out
        np.copyto(new, param)
        new[rows.numbers] -= rate.reshape(()) * rows.value
        return new

    return Prepared(run, out=True)
