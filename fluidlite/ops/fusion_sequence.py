"""What fluid's passes make of several operators on sequences; saved inference models hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError, ShapeError
from ..ground.values import bare
from ..opdef.annotations import Rules, Specs, Value, Values
from ..opdef.attribute import REQUIRED, Long, attr, need_choice, need_least
from ..opdef.definition import Op, ValueShaped
from ..opdef.gradient import differentiated
from ..opdef.sequences import lengths_of, offsets_of, one_level_of, positions_in
from ..opdef.spec import Spec, agree, need_float, need_integer, need_ndim, same_float, size_of
from .inert_attributes import ShapeAtRuntime
from .sequence_conv import seen_from

_KINDS = ("AVERAGE", "SUM", "SQRT")


class fused_embedding_seq_pool(ShapeAtRuntime, Op):
    """Out = for each sequence of Ids the sum of the rows of W that they select.

    W: the table, [ids, D].
    Ids: [N, 1], in sequences of one level.
    combiner: ``sum``.
    padding_idx: the id that stands for zeros, through which no gradient flows; -1 for none.
    is_sparse: the gradient of W has only the rows that were used.
    """

    signature = "W, Ids![] -> Out"
    combiner: str = "sum"
    padding_idx: Long = -1
    grad_inplace: bool = attr(False, inert=True)
    is_sparse: bool = False
    per_sequence: ClassVar[tuple[str, ...]] = ("Out",)
    host: ClassVar[bool] = True
    lod: ClassVar[str | None] = None

    def infer(self, W: Spec, Ids: Spec) -> Specs:
        need_float(W=W)
        need_integer(Ids=Ids)
        need_ndim(2, W=W)
        need_choice(self, "combiner", "sum")
        if Ids.shape[-1] not in (-1, 1):
            raise ShapeError(f"expected Ids of shape [N, 1], got {list(Ids.shape)}")
        return W.with_dim(0, -1)._replace(lod_level=0)

    def expand(self, f: Any, W: Value, Ids: Value) -> Value:
        offsets = np.asarray(one_level_of(Ids, "Ids"))
        rows = f.lookup_table_v2(W, bare(Ids).reshape(-1), padding_idx=self.padding_idx)
        return f.segment_sum(rows, offsets)

    def grad(self, f: Any, W: Value, Ids: Value, dOut: Value) -> Rules:
        if not self.is_sparse:
            return differentiated(f, self, dict(W=W, Ids=Ids, dOut=dOut))

        def table():
            rows = f.segment_spread(dOut, np.asarray(one_level_of(Ids, "Ids")))
            ids, how = bare(Ids).reshape(-1), dict(padding_idx=self.padding_idx)
            return f.selected_rows(ids, rows, height=W.shape[0], **how)

        return dict(W=table)

    def sparse_gradients(self) -> frozenset[str]:
        return frozenset({"W"} if self.is_sparse else ())


class PooledTogether(ValueShaped, abstract=True):
    """The base: values in equally many sequences, each pooled, side by side.

    X: rows of one size.
    pooltype: ``SUM``, ``AVERAGE`` or ``SQRT``.
    axis: 1.
    """

    pooltype: str = "SUM"
    axis: int = 1
    per_sequence: ClassVar[tuple[str, ...]] = ("Out",)

    def out_like(self, X: Any) -> Any:
        """What is known of the pooled rows, side by side."""
        if self.pooltype not in _KINDS or self.axis != 1:
            raise AttributeValueError(
                f"expected axis 1 and pooltype {', '.join(_KINDS)}, got {self.axis} and "
                f"{self.pooltype!r}"
            )
        if any(x.ndim != 2 or not agree(x.shape[1], X[0].shape[1]) for x in X):
            raise ShapeError(
                f"expected all X with rows of one size, got shapes {[list(x.shape) for x in X]}"
            )
        widths = [x.shape[1] for x in X]
        return X[0].with_shape([-1, -1 if -1 in widths else sum(widths)])

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        count = len(offsets_of(ins["X"][0], "X[0]"))
        return {"Out": (tuple(range(count)),)}

    def pooled(self, f: Any, X: list[Any]) -> list[Value]:
        """One row for each sequence, of each X."""
        counts = [len(offsets_of(x, f"X[{k}]")) - 1 for k, x in enumerate(X)]
        if len(set(counts)) > 1:
            raise LoDError(f"expected all X with equally many sequences, got {counts}")
        return [f.sequence_pool(x, pooltype=self.pooltype) for x in X]


class fusion_seqpool_concat(PooledTogether):
    """Out = one row for each sequence of each X, those of one number side by side."""

    signature = "X*[] -> Out"

    def infer(self, X: list[Spec]) -> Specs:
        return self.out_like(X)._replace(lod_level=1)

    def expand(self, f: Any, X: list[Value]) -> Value:
        return f.concat(self.pooled(f, X), axis=1)


class fusion_seqpool_cvm_concat(PooledTogether):
    """Out = one row for each sequence of each X, of which the first two columns, counts of shows
    and clicks, become logarithms; those of one number side by side.

    CVM: shows and clicks, [sequences, 2].
    use_cvm: true.
    """

    signature = "X*[], CVM! -> Out"
    use_cvm: bool = True
    grad = None

    def infer(self, X: Spec, CVM: Spec) -> Specs:
        if not self.use_cvm:
            raise AttributeValueError("expected use_cvm to be true")
        return self.out_like(X)._replace(lod_level=0)

    def expand(self, f: Any, X: list[Value], CVM: Value) -> Value:
        return f.concat([f.cvm(x, CVM) for x in self.pooled(f, X)], axis=1)


class fusion_seqconv_eltadd_relu(Op):
    """Out = relu of a convolution along sequences, plus Bias.

    X: [N, D], in sequences.
    Filter: [contextLength * D, M].
    Bias: M numbers.
    ColMat: what is multiplied with Filter: the rows that each row sees, side by side.
    contextLength: how many rows are seen at once.
    contextStart: the first of them, from the row that is computed.
    contextStride: 1.
    """

    signature = "X[], Filter, Bias -> Out, ColMat~"
    contextLength: int = REQUIRED
    contextStart: int = 0
    contextStride: int = 1
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Filter: Spec, Bias: Spec) -> Specs:
        same_float(X=X, Filter=Filter, Bias=Bias)
        need_ndim(2, X=X, Filter=Filter)
        need_choice(self, "contextStride", 1)
        need_least(self, 1, "contextLength")
        width = -1 if X.shape[1] == -1 else self.contextLength * X.shape[1]
        if not agree(Filter.shape[0], width) or not agree(size_of(Bias.shape), Filter.shape[1]):
            raise ShapeError(
                f"expected Filter with {width} rows and Bias with a number for each of its "
                f"columns, got shapes {list(Filter.shape)} and {list(Bias.shape)}"
            )
        return X.with_dim(1, Filter.shape[1]), X.with_dim(1, width)._replace(lod_level=0)

    def expand(self, f: Any, X: Value, Filter: Value, Bias: Value) -> Values:
        rows, _ = seen_from(offsets_of(X, "X"), self.contextStart, self.contextLength)
        seen = f.take_rows(X, rows.reshape(-1))
        seen = f.reshape(seen, shape=[-1, self.contextLength * bare(X).shape[1]])
        out = f.elementwise_add(f.matmul(seen, Filter), f.reshape(Bias, shape=[-1]), axis=1)
        return f.relu(out), seen

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": ins["X"].offsets}


class fusion_seqexpand_concat_fc(ValueShaped):
    """Out = a fully connected layer of the rows of X[0], each beside the rows of all other X for
    its sequence.

    X: rows in sequences of one level; then values with a row for each of these.
    FCWeight: a matrix.
    FCBias: a number for each column of FCWeight.
    FCOut: what the other X contribute, a row for each sequence.
    fc_activation: ``identity``, ``relu``, ``tanh`` or ``sigmoid``.
    """

    signature = "X*[], FCWeight, FCBias? -> Out, FCOut~"
    fc_activation: str = "identity"

    def infer(self, X: list[Spec], FCWeight: Spec, FCBias: Spec) -> Specs:
        need_ndim(2, FCWeight=FCWeight)
        need_choice(self, "fc_activation", "identity", "relu", "tanh", "sigmoid")
        if len(X) < 2 or any(x.ndim != 2 for x in X):
            raise ShapeError(
                f"expected at least 2 matrices X, got shapes {[list(x.shape) for x in X]}"
            )
        widths = [x.shape[1] for x in X]
        if -1 not in widths and not agree(FCWeight.shape[0], sum(widths)):
            raise ShapeError(
                f"expected FCWeight with {sum(widths)} rows, got shape {list(FCWeight.shape)}"
            )
        out = X[0].with_dim(1, FCWeight.shape[1])
        return out, out.with_dim(0, -1)._replace(lod_level=0)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": ins["X"][0].offsets}

    def expand(self, f: Any, X: list[Value], FCWeight: Value, FCBias: Value) -> Values:
        offsets = one_level_of(X[0], "X[0]")
        counts = [bare(x).shape[0] for x in X[1:]]
        if set(counts) != {len(offsets) - 1}:
            raise LoDError(
                f"expected the other X with {len(offsets) - 1} rows, one for each sequence of "
                f"X[0] (lengths {lengths_of(offsets).tolist()}), got {counts}"
            )
        width, size = bare(X[0]).shape[1], FCWeight.shape[0]
        top = f.slice(FCWeight, axes=[0], starts=[0], ends=[width])
        rest = f.slice(FCWeight, axes=[0], starts=[width], ends=[size])
        others = f.matmul(f.concat([f.bare_rows(x) for x in X[1:]], axis=1), rest)
        number, _ = positions_in(offsets)
        out = f.matmul(f.bare_rows(X[0]), top) + f.take_rows(others, number)
        if FCBias is not None:
            out = f.elementwise_add(out, f.reshape(FCBias, shape=[-1]), axis=1)
        if self.fc_activation != "identity":
            out = getattr(f, self.fc_activation)(out)
        return out, others
