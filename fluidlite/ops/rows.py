"""Tensors of which only some rows are stored: gradients of tables that are looked up."""

from __future__ import annotations

from typing import Any, ClassVar

from ..ground.dtypes import Kind
from ..ground.values import SelectedRows
from ..opdef.annotations import Array
from ..opdef.attribute import REQUIRED, Long
from ..opdef.definition import Op, ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec
from .gather import RowsOfTable


class selected_rows(RowsOfTable):
    """Out = Updates as the rows Ids of a tensor whose other rows are 0; rows named twice add up.

    ``lookup_table_adjoint`` without the zeros.

    Ids: numbers of rows of Out, of shape [n].
    Updates: the rows, n of them.
    height: how many rows Out has.
    padding_idx: the id whose updates are left out; -1 for none.
    """

    height: Long = REQUIRED
    padding_idx: Long = -1

    def infer(self, Ids: Spec, Updates: Spec) -> Spec:
        return self.table(Ids, Updates, self.height)._replace(kind=Kind.SELECTED_ROWS)

    def run(self, xp: Any, Ids: Array, Updates: Array) -> Array:
        if self.padding_idx != -1:
            kept = Ids != self.padding_idx
            Ids, Updates = Ids[kept], Updates[kept]
        return SelectedRows(Ids, self.height, Updates)


class merge_selected_rows(Op):
    """Out = X with every row stored once: in ascending order, or as in X where none is twice.

    X: rows of a tensor, such as the gradient of a table of ``embedding(is_sparse=True)``.
    Out: of the same kind.
    """

    signature = "X -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(rows=("X",))
    lod: ClassVar[str | None] = None

    def run(self, xp: Any, X: Array) -> Array:
        if isinstance(X, SelectedRows) and len(xp.unique(X.numbers)) < len(X.numbers):
            return X.merged()
        return X


class get_tensor_from_selected_rows(ValueShaped):
    """Out = the rows of X that are stored, one after the other; all rows of a whole tensor.

    X: rows of a tensor, such as the gradient of a table of ``embedding(is_sparse=True)``.
    Out: of as many rows as are stored.
    """

    signature = "X -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(rows=("X",))

    def infer(self, X: Spec) -> Spec:
        if X.kind is not Kind.SELECTED_ROWS:
            return X
        return X.with_dim(0, -1)._replace(kind=Kind.LOD_TENSOR)

    def run(self, xp: Any, X: Array) -> Array:
        return X.value if isinstance(X, SelectedRows) else X
