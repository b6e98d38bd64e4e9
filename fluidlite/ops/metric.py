"""Operators that rank and score predictions."""

from __future__ import annotations

from ..dtypes import DType
from ..errors import AttributeValueError, ShapeError
from ..opdef.definition import Op
from ..opdef.spec import agree, need_integer, need_ndim, spec


class top_k(Op):
    """Out = the k largest elements of X along its last dimension, the largest first.

    Indices: where they are; of equal elements the first ones come first.
    k: how many.
    K: the same as a tensor of one element; wins over ``k``.
    """

    signature = "X, K?! -> Out, Indices!"
    k: int = 1

    def infer(self, X, K):
        if X.ndim == 0:
            raise ShapeError("expected X to have at least 1 dimension, got shape []")
        if K is not None:
            need_integer(K=K)
            out = X.with_dim(-1, -1)
        else:
            self.check(self.k, X.shape[-1])
            out = X.with_dim(-1, self.k)
        return out, out.with_dtype(DType.INT64)

    def check(self, k, size):
        """Refuse a ``k`` that is no number of elements."""
        if k < 1 or -1 < size < k:
            raise AttributeValueError(f"expected k from 1 to the last size of X, {size}, got {k}")

    def run(self, xp, X, K):
        k = self.k if K is None else K.item()
        self.check(k, X.shape[-1])
        order = xp.argsort(-X, axis=-1, kind="stable")[..., :k]
        return xp.take_along_axis(X, order, -1), order

    def grad(self, f, X, Indices, dOut):
        return dict(X=lambda: f.add_along(Indices, dOut, axis=-1, size=X.shape[-1]))


class accuracy(Op):
    """Accuracy = Correct / Total.

    Out, Indices: what ``top_k`` gave for the predictions, of shape [n, k].
    Label: the right classes, of shape [n, 1].
    Correct: in how many rows Label is among the Indices.
    Total: the number of rows.
    """

    signature = "Out!, Indices!, Label! -> Accuracy, Correct, Total"
    lod = None
    grad = None

    def infer(self, Out, Indices, Label):
        need_integer(Indices=Indices, Label=Label)
        need_ndim("Indices", Indices, 2)
        need_ndim("Label", Label, 2)
        if not agree(Label.shape[0], Indices.shape[0]) or not agree(Label.shape[1], 1):
            raise ShapeError(
                f"expected Label of shape [{Indices.shape[0]}, 1], got {list(Label.shape)}"
            )
        return spec([1], DType.FP32), spec([1], DType.INT32), spec([1], DType.INT32)

    def run(self, xp, Out, Indices, Label):
        total = Indices.shape[0]
        correct = xp.reshape(xp.sum(xp.any(Indices == Label, axis=1)), (1,))
        return (
            (correct / max(total, 1)).astype(xp.float32),
            correct.astype(xp.int32),
            xp.full((1,), total, xp.int32),
        )
