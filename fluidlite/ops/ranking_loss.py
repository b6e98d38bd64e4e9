"""Losses of scores: which one should be larger, or on which side of a margin."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float
from .elementwise import indicator
from .loss import check_label
from .matrix import same_shape


class hinge_loss(Op):
    """Loss = max(0, 1 - s Logits), with s = 2 Labels - 1.

    Logits: scores, above 0 for the class 1.
    Labels: 0 or 1.
    """

    signature = "Logits, Labels! -> Loss"

    def infer(self, Logits: Spec, Labels: Spec) -> Specs:
        need_float(Logits=Logits)
        return Logits.with_shape(same_shape(Logits=Logits, Labels=Labels))

    def run(self, xp: Any, Logits: Array, Labels: Array) -> Array:
        return xp.maximum(1 - (2 * Labels - 1) * Logits, 0)

    def grad(self, f: Any, Logits: Value, Labels: Value, dLoss: Value) -> Rules:
        def slope():
            side = Labels * 2.0 - 1.0
            return -dLoss * side * indicator(f, side * Logits < 1.0, Logits)

        return dict(Logits=slope)


class modified_huber_loss(Op):
    """Out = (1 - IntermediateVal)^2, but 0 above 1, and -4 IntermediateVal below -1.

    X: scores, above 0 for the class 1.
    Y: 0 or 1.
    IntermediateVal: (2 Y - 1) X.
    """

    signature = "X, Y! -> IntermediateVal~, Out"

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_float(X=X)
        out = X.with_shape(same_shape(X=X, Y=Y))
        return out, out

    def run(self, xp: Any, X: Array, Y: Array) -> Arrays:
        sided = (2 * Y - 1) * X
        missing = xp.clip(1 - sided, 0, 2)
        return sided, missing * (missing + 2 * (1 - sided - missing))

    def grad(
        self, f: Any, Y: Value, IntermediateVal: Value, dOut: Value, dIntermediateVal: Value = None
    ) -> Rules:
        def dx():
            g = f.clip(1.0 - IntermediateVal, min=0.0, max=2.0) * -2.0 * dOut
            g = g if dIntermediateVal is None else g + dIntermediateVal
            return g * (Y * 2.0 - 1.0)

        return dict(X=dx)


class rank_loss(Op):
    """The logistic loss of the order of two documents: ``log(1 + e^(Left - Right)) - Label (Left -
    Right)``.

    (Burges et al., Learning to rank using gradient descent, ICML 2005.)

    Label: 1 where the left one should come first, 0 where the right one should, 0.5 for neither;
        [N, 1].
    Left, Right: their scores, of the shape and element type of Label.
    """

    signature = "Label!, Left, Right -> Out"

    def infer(self, Label: Spec, Left: Spec, Right: Spec) -> Specs:
        need_float(Left=Left)
        specs = dict(Left=Left, Right=Right, Label=Label)
        if len({s.ndim for s in specs.values()}) > 1:  # one of them has a size of 1 at the end
            longest = max(s.ndim for s in specs.values())
            same_shape(**{name: with_column(s, longest) for name, s in specs.items()})
            return Label
        return Left.with_shape(same_shape(**specs))

    def run(self, xp: Any, Label: Array, Left: Array, Right: Array) -> Array:
        ahead = xp.reshape(Left, Label.shape) - xp.reshape(Right, Label.shape)
        return xp.logaddexp(0, ahead) - Label * ahead

    def grad(self, f: Any, Label: Value, Left: Value, Right: Value, dOut: Value) -> Rules:
        shaped = lambda v, shape: v if v.shape == shape else f.reshape(v, shape=list(shape))
        ahead = lambda: shaped(Left, Label.shape) - shaped(Right, Label.shape)
        slope = lambda: dOut * (f.sigmoid(ahead()) - Label)
        return dict(
            Left=lambda: shaped(slope(), Left.shape), Right=lambda: shaped(-slope(), Right.shape)
        )


def with_column(s: Any, ndim: Any) -> Any:
    """A spec with a size of 1 at the end, where it has a dimension less than ``ndim``."""
    return s.with_shape((*s.shape, 1)) if s.ndim == ndim - 1 else s


class margin_rank_loss(Op):
    """Out = max(0, margin - Label (X1 - X2)).

    X1, X2: two scores.
    Label: 1 where the first one should be larger, -1 where the second one should.
    Activated: 1 where Out is above 0, else 0.
    margin: by how much it should be larger.
    """

    signature = "X1, X2, Label! -> Activated!~, Out"
    lod: ClassVar[str | None] = None
    margin: float = 0.0

    def infer(self, X1: Spec, X2: Spec, Label: Spec) -> Specs:
        need_float(X1=X1)
        out = X1.with_shape(same_shape(X1=X1, X2=X2, Label=Label))
        return out, out

    def run(self, xp: Any, X1: Array, X2: Array, Label: Array) -> Arrays:
        loss = xp.maximum(self.margin - Label * (X1 - X2), 0)
        return (loss > 0).astype(X1.dtype), loss

    def grad(self, f: Any, Label: Value, Activated: Value, dOut: Value) -> Rules:
        slope = lambda: dOut * Label * Activated
        return dict(X1=lambda: -slope(), X2=slope)


class bpr_loss(Op):
    """Bayesian personalised ranking, the logistic losses of the right class against all others: the
    mean of ``log(1 + e^(X[j] - X[Label]))`` over all j but Label.

    (Rendle et al., UAI 2009; Hidasi et al., Session-based recommendations with recurrent neural
    networks, ICLR 2016.)

    X: scores of the classes in the last dimension, at least 2.
    Label: the right classes, with 1 as last size.
    Y: of shape [N, 1].
    """

    signature = "X, Label! -> Y"

    def infer(self, X: Spec, Label: Spec) -> Specs:
        need_float(X=X)
        check_label(X, Label, -1)
        if X.shape[-1] in (0, 1):
            raise ShapeError(f"expected X to have at least 2 classes, got shape {list(X.shape)}")
        return X.with_dim(-1, 1)

    def expand(self, f: Any, X: Value, Label: Value) -> Value:
        behind = f.softplus(X - f.pick_label(X, Label))  # log 2 where the class is Label itself
        total = f.reduce_sum(behind, dim=[-1], keep_dim=True)
        return (total - math.log(2)) / (X.shape[-1] - 1)
