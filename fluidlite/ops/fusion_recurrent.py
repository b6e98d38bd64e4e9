"""Recurrent networks together with the product of their input; saved inference models hold them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError
from ..ground.values import bare
from ..opdef.annotations import Specs, Value, Values
from ..opdef.attribute import attr
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import offsets_of
from ..opdef.spec import Spec, need_integer, need_ndim, need_shape, same_dtype, same_float


class FusedMemory(Op, abstract=True):
    """What long short-term memories with their input's product share.

    WeightH: [size, 4 size], as Weight of ``lstm``.
    Bias: [1, 4 size]; with peepholes [1, 7 size].
    H0, C0: the states before the first word, a row for each sequence.
    Hidden, Cell: the states, a row for each word.
    XX, BatchedInput, BatchedHidden, BatchedCell, ReorderedH0, ReorderedC0: stay empty; fluid's
        kernels keep intermediate results there.
    use_peepholes: the gates see the cell, too.
    is_reverse: whether a sequence begins at its end.
    gate_activation, cell_activation, candidate_activation: the activations.
    """

    use_peepholes: bool = True
    is_reverse: bool = False
    use_seq: bool = attr(True, inert=True)
    gate_activation: str = "sigmoid"
    cell_activation: str = "tanh"
    candidate_activation: str = "tanh"
    fluid: ClassVar[FluidForm] = FluidForm(
        idle=("XX", "BatchedInput", "BatchedHidden", "BatchedCell", "ReorderedH0", "ReorderedC0")
    )

    def states(self, f, rows, like, WeightH, Bias, H0, C0):
        """Hidden and Cell by slot.

        Args:
            rows: what the input adds to the candidate and the gates.
            like: has the sequences.
        """
        attrs = dict(use_peepholes=self.use_peepholes, is_reverse=self.is_reverse)
        attrs |= dict(
            gate_activation=self.gate_activation,
            cell_activation=self.cell_activation,
            candidate_activation=self.candidate_activation,
        )
        hidden, cell = f.lstm(f.like_rows(rows, like), H0, C0, WeightH, Bias, **attrs)
        return dict(Hidden=f.bare_rows(hidden), Cell=f.bare_rows(cell))

    def widths(self, rows: Any, WeightH: Any) -> Any:
        """Specs of the states."""
        need_ndim(2, WeightH=WeightH)
        size = WeightH.shape[0]
        if -1 not in WeightH.shape and WeightH.shape[1] != 4 * size:
            raise ShapeError(f"expected WeightH [size, 4 size], got {list(WeightH.shape)}")
        state = rows.with_shape([rows.shape[0], size])
        return dict(Hidden=state, Cell=state)


class fusion_lstm(FusedMemory):
    """Hidden, Cell = the long short-term memory of X WeightX.

    X: [n, width], in sequences.
    WeightX: [width, 4 size]: for the candidate, then for the gates of input, forgetting and output.
    CheckedCell: stays empty.
    """

    signature = (
        "X[], WeightX, WeightH, Bias, H0?, C0? -> Hidden, Cell, XX~, BatchedInput~, "
        "BatchedHidden~, BatchedCell~, ReorderedH0~, ReorderedC0~, CheckedCell~"
    )
    fluid: ClassVar[FluidForm] = FluidForm(idle=(*FusedMemory.fluid.idle, "CheckedCell"))

    def infer(self, X: Spec, WeightX: Spec, WeightH: Spec, Bias: Spec, H0: Spec, C0: Spec) -> Specs:
        same_float(X=X, WeightX=WeightX, WeightH=WeightH, Bias=Bias, H0=H0, C0=C0)
        need_product(X, WeightX, WeightH)
        return self.widths(X, WeightH)

    def expand(
        self, f: Any, X: Value, WeightX: Value, WeightH: Value, Bias: Value, H0: Value, C0: Value
    ) -> Values:
        offsets_of(X, "X")
        rows = f.matmul(f.bare_rows(X), WeightX)
        return self.states(f, rows, X, WeightH, Bias, H0, C0)


class fused_embedding_fc_lstm(FusedMemory):
    """Hidden, Cell = the long short-term memory of the rows of Embeddings that Ids select.

    Ids: [n, 1], in sequences.
    Embeddings: [ids, 4 size]: what each id adds to the candidate and the gates, with the bias; of
        Bias only the weights of peepholes are read.
    """

    signature = (
        "Ids![], Embeddings, WeightH, Bias, H0?, C0? -> Hidden, Cell, XX~, BatchedInput~, "
        "BatchedHidden~, BatchedCell~, ReorderedH0~, ReorderedC0~"
    )

    def infer(
        self, Ids: Spec, Embeddings: Spec, WeightH: Spec, Bias: Spec, H0: Spec, C0: Spec
    ) -> Specs:
        need_integer(Ids=Ids)
        same_dtype(Embeddings=Embeddings, WeightH=WeightH, Bias=Bias, H0=H0, C0=C0)
        need_ndim(2, Embeddings=Embeddings)
        need_shape("Embeddings", Embeddings, (-1, WeightH.shape[-1]))
        rows = Embeddings.with_dim(0, Ids.shape[0])._replace(lod_level=Ids.lod_level)
        return self.widths(rows, WeightH)

    def expand(self, f, Ids, Embeddings, WeightH, Bias, H0, C0):
        offsets_of(Ids, "Ids")
        rows = f.lookup_table_v2(Embeddings, bare(Ids).reshape(-1))
        peepholes = np.arange(Bias.shape[1]) >= Embeddings.shape[1]  # the rows have the rest
        bias = f.elementwise_mul(Bias, peepholes[None].astype(Embeddings.dtype))
        return self.states(f, rows, Ids, WeightH, bias, H0, C0)


class fusion_gru(Op):
    """Hidden = the gated recurrent units of X WeightX.

    X: [n, width], in sequences.
    WeightX: [width, 3 size]: for the gates of update and reset, then for the candidate.
    WeightH: [size, 3 size], as Weight of ``gru``.
    Bias: [1, 3 size].
    H0: the state before the first word, a row for each sequence.
    XX, ReorderedH0, BatchedInput, BatchedOut: stay empty; fluid's kernels keep intermediate
        results there.
    activation, gate_activation: of the candidate, and of the gates.
    is_reverse: whether a sequence begins at its end.
    origin_mode: the gate of update says how much of the state stays.
    """

    signature = (
        "X[], H0?, WeightX, WeightH, Bias? -> ReorderedH0~, XX~, BatchedInput~, BatchedOut~, Hidden"
    )
    activation: str = "tanh"
    gate_activation: str = "sigmoid"
    is_reverse: bool = False
    use_seq: bool = attr(True, inert=True)
    origin_mode: bool = False
    fluid: ClassVar[FluidForm] = FluidForm(idle=("XX", "ReorderedH0", "BatchedInput", "BatchedOut"))

    def infer(self, X: Spec, H0: Spec, WeightX: Spec, WeightH: Spec, Bias: Spec) -> Specs:
        same_float(X=X, H0=H0, WeightX=WeightX, WeightH=WeightH, Bias=Bias)
        need_product(X, WeightX, WeightH)
        size = WeightH.shape[0]
        if -1 not in WeightH.shape and WeightH.shape[1] != 3 * size:
            raise ShapeError(f"expected WeightH [size, 3 size], got {list(WeightH.shape)}")
        return dict(Hidden=X.with_dim(1, size))

    def expand(self, f, X, H0, WeightX, WeightH, Bias):
        offsets_of(X, "X")
        rows = f.matmul(f.bare_rows(X), WeightX)
        attrs = dict(activation=self.activation, gate_activation=self.gate_activation)
        attrs |= dict(is_reverse=self.is_reverse, origin_mode=self.origin_mode)
        hidden = f.gru.all(f.like_rows(rows, X), H0, WeightH, Bias, **attrs)["Hidden"]
        return dict(Hidden=f.bare_rows(hidden))


def need_product(X: Spec, WeightX: Spec, WeightH: Spec) -> None:
    """Check that X WeightX has as many columns as WeightH."""
    need_ndim(2, X=X, WeightX=WeightX, WeightH=WeightH)
    need_shape("WeightX", WeightX, (X.shape[1], WeightH.shape[1]))
