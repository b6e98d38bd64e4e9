"""Labels that are probabilities: making them, and the loss of independent ones."""

from __future__ import annotations

from typing import Any, ClassVar

from ..ground.dtypes import DType
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import need_range
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_float, need_rank, need_shape, same_dtype, same_float
from .loss import check_soft_label


class label_smooth(Op):
    """Probabilities mixed with those of a prior: ``(1 - epsilon) * X + epsilon * PriorDist``.

    Szegedy et al., Rethinking the Inception architecture for computer vision, CVPR 2016.

    X: probabilities of the classes in the last dimension, as ``layers.one_hot`` gives them; no
        gradient flows to it any more.
    PriorDist: probabilities of the classes, of shape [1, classes]; all equal where it is absent.
    epsilon: the part that the prior gets, in [0, 1].
    """

    signature = "X, PriorDist?! -> Out"
    epsilon: float = 0.0

    def infer(self, X: Spec, PriorDist: Spec | None) -> Specs:
        same_float(X=X, PriorDist=PriorDist)
        need_range(self, 0, 1, "epsilon")
        need_rank("X", X, 1)
        wanted = (1, X.shape[-1])
        need_shape("PriorDist", PriorDist, wanted, "a probability for each class")
        return X

    def run(self, xp: Any, X: Array, PriorDist: Array) -> Array:
        prior = 1.0 / X.shape[-1] if PriorDist is None else xp.reshape(PriorDist, (-1,))
        return (1.0 - self.epsilon) * X + self.epsilon * prior

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * (1.0 - self.epsilon))


class sigmoid_cross_entropy_with_logits(Op):
    """``-Label * log(p) - (1 - Label) * log(1 - p)`` with ``p = sigmoid(X)``, for each element.

    X: unnormalised logarithms of odds, float.
    pos_weight: the loss is ``(1 - Label) * X - pos_weight * log(p)`` where it is given: 1 and
        ``Label`` times the weight of the class less 1.
    Label: probabilities, of the shape and element type of X; classes that do not exclude each other
        have one each.
    normalize: divide by the number of labels that are not ignored.
    ignore_index: where the whole part of Label is this, Out and its gradient are 0, as in fluid.
    """

    signature = "X, Label!, pos_weight?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True, newer=("pos_weight",))
    normalize: bool = False
    ignore_index: int = -100

    def infer(self, X: Spec, Label: Spec, pos_weight: Spec | None) -> Specs:
        need_float(X=X)
        check_soft_label(X, Label)
        if pos_weight is not None:
            same_dtype(X=X, pos_weight=pos_weight)
            need_shape("pos_weight", pos_weight, X.shape, "as X")
        return X

    def run(self, xp: Any, X: Array, Label: Array, pos_weight: Array | None) -> Array:
        counted = xp.trunc(Label) != self.ignore_index
        small = xp.log1p(xp.exp(-xp.abs(X)))
        if pos_weight is None:
            loss = xp.maximum(X, 0) - X * Label + small
        else:
            loss = (1 - Label) * X + pos_weight * (small + xp.maximum(-X, 0))
        loss = xp.where(counted, loss, xp.zeros_like(loss))
        if not self.normalize:
            return loss
        return loss / xp.maximum(xp.sum(counted), 1).astype(loss.dtype)

    def grad(self, f: Any, X: Value, Label: Value, pos_weight: Value, dOut: Value) -> Rules:
        def dx():
            whole = f.cast(Label, in_dtype=Label.dtype, out_dtype=DType.INT32)
            ignored = f.fill_any_like(whole, value=self.ignore_index)
            counted = f.cast(f.not_equal(whole, ignored), in_dtype=DType.BOOL, out_dtype=X.dtype)
            slope = f.sigmoid(X) - Label
            if pos_weight is not None:
                slope = slope + (1.0 - pos_weight) * f.sigmoid(-X)
            slope = slope * counted * dOut
            if not self.normalize:
                return slope
            count = f.reduce_sum(counted, reduce_all=True)
            return slope / f.elementwise_max(count, f.fill_any_like(count, value=1.0))

        return dict(X=dx)
