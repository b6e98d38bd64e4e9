"""Losses of cosines with margins, and losses that are made elsewhere."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import AttributeValueError
from ..ground.dtypes import as_dtype
from ..opdef.annotations import Specs, Value, Values
from ..opdef.attribute import Double, need_choice
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float, need_integer, need_ndim


class margin_cross_entropy(Op):
    """Loss = the cross entropy of scaled cosines, that of the right class made smaller by margins:
    cos(margin1 angle + margin2) - margin3 (Deng, Guo, Xue and Zafeiriou, ArcFace, CVPR 2019).

    Logits: cosines, [N, classes].
    Label: the right classes, [N] or [N, 1].
    Softmax: the probabilities, [N, classes].
    Loss: [N, 1].
    return_softmax: whether somebody reads Softmax.
    ring_id, rank, nranks: of several processes; 0, 0 and 1.
    margin1, margin2, margin3: times the angle, added to it, and less than the cosine.
    scale: of all cosines.
    """

    signature = "Logits, Label! -> Softmax~, Loss"
    return_softmax: bool = False
    ring_id: int = 0
    rank: int = 0
    nranks: int = 1
    margin1: Double = 1.0
    margin2: Double = 0.5
    margin3: Double = 0.0
    scale: Double = 64.0

    def infer(self, Logits: Spec, Label: Spec) -> Specs:
        need_float(Logits=Logits)
        need_integer(Label=Label)
        need_ndim(2, Logits=Logits)
        if self.nranks != 1:
            raise AttributeValueError(f"expected nranks of 1, got {self.nranks}")
        return Logits, Logits.with_dim(1, 1)

    def expand(self, f: Any, Logits: Value, Label: Value) -> Values:
        rows, classes = Logits.shape
        label = f.reshape(Label, shape=[rows, 1])
        right = f.one_hot(label, depth=classes, dtype=as_dtype(Logits.dtype))
        angle = f.acos(f.clip(Logits, min=-1.0, max=1.0))
        numbers = (self.margin1, self.margin2, self.margin3, self.scale)
        # as texts, which are exact where attributes are of single precision
        exact = [
            f.fill_constant(shape=[1], dtype=as_dtype(Logits.dtype), str_value=repr(number))
            for number in numbers
        ]
        moved = f.cos(angle * exact[0] + exact[1]) - exact[2]
        scaled = (Logits + right * (moved - Logits)) * exact[3]
        found = f.softmax_with_cross_entropy.all(scaled, label)
        return found["Softmax"], found["Loss"]


class identity_loss(Op):
    """Out = a loss as it is, or put together.

    X: losses.
    reduction: 0: their sum, 1: their mean, 2: as they are.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    reduction: int = 1

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_choice(self, "reduction", 0, 1, 2)
        return X if self.reduction == 2 else X.with_shape([])

    def expand(self, f: Any, X: Value) -> Value:
        if self.reduction == 2:
            return f.assign(X)
        reduce = f.reduce_sum if self.reduction == 0 else f.reduce_mean
        return reduce(X, reduce_all=True, zero_d=True)
