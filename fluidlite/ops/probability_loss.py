"""Losses of predicted probabilities, and of their logits and logarithms."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, OutOfRangeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long
from ..opdef.definition import Op
from ..opdef.spec import (
    Shape,
    Spec,
    known,
    need_float,
    need_integer,
    need_ndim,
    need_shape,
    same_dtype,
    same_float,
    spec,
)
from .activation import between
from .elementwise import indicator
from .families import OneNumber
from .loss import pick_label
from .matrix import same_shape

LARGEST_LOSS = 100  #: of one element of ``bce_loss``, whose logarithms stop here


class log_loss(Op):
    """Minus the logarithm of the probability of the right one of two classes:
    ``-Labels log(Predicted + epsilon) - (1 - Labels) log(1 - Predicted + epsilon)``.

    Predicted: probabilities of the class 1, [N, 1].
    Labels: 0 or 1, or a probability, of the shape and element type of Predicted.
    epsilon: keeps the logarithms finite.
    Loss: of the shape of Predicted.
    """

    signature = "Predicted, Labels! -> Loss"
    epsilon: float = REQUIRED

    def infer(self, Predicted: Spec, Labels: Spec) -> Specs:
        need_float(Predicted=Predicted)
        return Predicted.with_shape(same_shape(Predicted=Predicted, Labels=Labels))

    def run(self, xp: Any, Predicted: Array, Labels: Array) -> Array:
        right = xp.log(Predicted + self.epsilon)
        return -Labels * right - (1 - Labels) * xp.log(1 - Predicted + self.epsilon)

    def grad(self, f: Any, Predicted: Value, Labels: Value, dLoss: Value) -> Rules:
        def slope():
            wrong = (1.0 - Labels) / (1.0 - Predicted + self.epsilon)
            return dLoss * (wrong - Labels / (Predicted + self.epsilon))

        return dict(Predicted=slope)


class bce_loss(Op):
    """Out = -Label log(X) - (1 - Label) log(1 - X), each logarithm at least -100.

    X: probabilities of the class 1.
    Label: 0 or 1, or the probability that X should be.
    """

    signature = "X, Label! -> Out"

    def infer(self, X: Spec, Label: Spec) -> Specs:
        need_float(X=X)
        return X.with_shape(same_shape(X=X, Label=Label))

    def run(self, xp: Any, X: Array, Label: Array) -> Array:
        if isinstance(X, np.ndarray):  # what is traced has no values yet
            need_probabilities(X)

        def logarithm(v):
            smallest = math.exp(-LARGEST_LOSS)
            return xp.where(v < smallest, -LARGEST_LOSS, xp.log(xp.maximum(v, smallest)))

        return -Label * logarithm(X) - (1 - Label) * logarithm(1 - X)

    def grad(self, f: Any, X: Value, Label: Value, dOut: Value) -> Rules:
        def slope():
            below = X * (1.0 - X)  # 0 where X is sure of itself
            below = f.elementwise_max(below, f.fill_any_like(below, value=1e-12))
            return dOut * (X - Label) / below

        return dict(X=slope)


def need_probabilities(x: Array) -> None:
    """Refuse numbers outside of [0, 1], and those that are none.

    Raises:
        OutOfRangeError: there is one.
    """
    inside = (x >= 0) & (x <= 1)
    if not inside.all():
        wrong = x[~inside].flat[0]
        raise OutOfRangeError(
            f"expected probabilities in [0, 1] in X, got {wrong:g}; of logits take sigmoid first, "
            f"or the loss with logits"
        )


class kldiv_loss(OneNumber):
    """The relative entropy of a distribution to another: ``Target (log(Target) - X)``, and 0 where
    Target is not above 0.

    X: logarithms of probabilities, float.
    Target: probabilities, of the shape and element type of X.
    Loss: of shape [1], or of the shape of X without a reduction.
    reduction: "none"; or "mean", "sum", or "batchmean", which divides the sum by the first size.
    """

    signature = "X, Target! -> Loss"
    lod: ClassVar[str | None] = None
    reduction: str = "mean"

    def infer(self, X: Spec, Target: Spec) -> Specs:
        need_float(X=X)
        shape = same_shape(X=X, Target=Target)
        need_word("reduction", self.reduction, "none", "mean", "sum", "batchmean")
        return X.with_shape(shape) if self.reduction == "none" else spec(self.one, X.dtype)

    def share(self, shape: Shape) -> int:
        """What the sum is divided by."""
        count = {"mean": math.prod(shape), "batchmean": math.prod(shape[:1])}.get(self.reduction, 1)
        return max(count, 1)

    def run(self, xp: Any, X: Array, Target: Array) -> Array:
        there = Target > 0
        logarithm = xp.log(xp.where(there, Target, 1))
        loss = xp.where(there, Target * (logarithm - X), xp.zeros_like(X))
        if self.reduction == "none":
            return loss
        return xp.reshape(xp.sum(loss, dtype=X.dtype), self.one) / self.share(X.shape)

    def grad(self, f: Any, X: Value, Target: Value, dLoss: Value) -> Rules:
        share = self.share(X.shape)
        return dict(X=lambda: -(f.relu(Target) / share) * dLoss)


def need_word(name: str, value: str, *allowed: str) -> None:
    """Check that an attribute is one of some words."""
    if value not in allowed:
        listed = ", ".join(map(repr, allowed[:-1])) + f" or {allowed[-1]!r}"
        raise AttributeValueError(f"expected {name} {listed}, got {value!r}")


class nll_loss(OneNumber):
    """Out = -Weight[Label] X[Label], where Label names one of X along dimension 1.

    X: logarithms of probabilities, [N, C] or [N, C, H, W].
    Label: classes, [N] or [N, H, W].
    Weight: a number for each class; 1 if absent.
    Total_weight: the sum of the weights that were used, of shape [1]; 0 without a reduction.
    ignore_index: where Label is this, nothing is lost, and nothing weighs.
    reduction: "none"; "sum"; or "mean", which divides the sum by Total_weight.
    """

    signature = "X, Label!, Weight?! -> Out, Total_weight!"
    lod: ClassVar[str | None] = None
    ignore_index: Long = -100
    reduction: str = "mean"

    def infer(self, X: Spec, Label: Spec, Weight: Spec | None) -> Specs:
        need_float(X=X)
        need_ndim((2, 4), X=X)
        need_integer(Label=Label)
        need_word("reduction", self.reduction, "none", "sum", "mean")
        wanted = (X.shape[0], *X.shape[2:])
        need_shape("Label", Label, wanted, "one class for each place of X", X)
        if Weight is not None:
            same_dtype(X=X, Weight=Weight)
            need_shape("Weight", Weight, X.shape[1:2])
        one = spec(self.one, X.dtype)
        whole = X.with_shape(map(known, wanted, Label.shape))
        return whole if self.reduction == "none" else one, one

    def run(self, xp: Any, X: Array, Label: Array, Weight: Array) -> Arrays:
        label = xp.expand_dims(Label, 1)
        pick = pick_label(dict(axis=1, ignore_index=self.ignore_index))
        weights = pick.run(xp, self.each(xp, X, Weight), label)
        loss = -xp.squeeze(weights * pick.run(xp, X, label), 1)
        if self.reduction == "none":
            return loss, xp.zeros(self.one, X.dtype)
        total = xp.reshape(xp.sum(weights, dtype=X.dtype), self.one)
        loss = xp.reshape(xp.sum(loss, dtype=X.dtype), self.one)
        if self.reduction == "mean":
            loss = loss / xp.where(total == 0, xp.ones_like(total), total)
        return loss, total

    def each(self, xp: Any, X: Array, Weight: Array) -> Array:
        """The weight of each element of X."""
        if Weight is None:
            return xp.ones_like(X)
        return xp.broadcast_to(xp.reshape(Weight, (-1,) + (1,) * (X.ndim - 2)), X.shape)

    def grad(
        self, f: Any, X: Value, Label: Value, Weight: Value, Total_weight: Value, dOut: Value
    ) -> Rules:
        def dx():
            label = f.unsqueeze(Label, axes=[1])
            g = -dOut
            if self.reduction == "mean":
                g = g / (Total_weight + indicator(f, Total_weight == 0.0, X))
            if self.reduction == "none":
                g = f.unsqueeze(g, axes=[1])
            else:
                g = f.elementwise_mul(f.fill_any_like(Label, dtype=X.dtype, value=1.0), g)
                g = f.unsqueeze(g, axes=[1])
            place = dict(axis=1, size=X.shape[1], ignore_index=self.ignore_index)
            g = f.place_label(g, label, **place)
            return g if Weight is None else f.elementwise_mul(g, Weight, axis=1)

        return dict(X=dx)


class sigmoid_focal_loss(Op):
    """Cross entropy of independent classes in which examples that are easy weigh little:
    ``-alpha (1 - p)^gamma log(p)`` for the right class, ``-(1 - alpha) p^gamma log(1 - p)`` else.

    p is the sigmoid of X; all is divided by the number of examples that are no background (Lin et
    al., Focal loss for dense object detection, ICCV 2017).

    X: logits of the classes, [N, C].
    Label: the right classes counted from 1, int32 of shape [N, 1]; 0 for background, -1 for no
        loss.
    FgNum: how many examples are no background, int32 of shape [1]; losses are divided by it.
    gamma: how little examples that are easy weigh.
    alpha: the weight of the right class; the others have 1 - alpha.
    """

    signature = "X, Label!, FgNum! -> Out"
    gamma: float = 2.0
    alpha: float = 0.25

    def infer(self, X: Spec, Label: Spec, FgNum: Spec) -> Specs:
        need_float(X=X)
        need_ndim(2, X=X)
        need_integer(Label=Label, FgNum=FgNum)
        need_ndim(2, Label=Label)
        need_shape("Label", Label, (X.shape[0], 1))
        return X

    def expand(self, f: Any, X: Value, Label: Value, FgNum: Value) -> Value:
        number = dict(in_dtype=FgNum.dtype, out_dtype=X.dtype)
        examples = f.elementwise_max(FgNum, f.fill_any_like(FgNum, value=1))
        examples = f.reshape(f.cast(examples, **number), shape=[1])
        attrs = dict(depth=X.shape[1], allow_out_of_range=True, dtype=X.dtype)
        right = f.one_hot(f.scale(Label, bias=-1.0), **attrs)
        counted = indicator(f, f.not_equal(Label, f.fill_any_like(Label, value=-1)), X)

        def loss(logits):
            """(1 - p)^gamma log(p), by logarithms."""
            yes, no = f.logsigmoid(logits), f.logsigmoid(-logits)
            return f.exp(no * self.gamma) * yes

        found = right * loss(X) * self.alpha
        found = found + (1.0 - right) * loss(-X) * (1.0 - self.alpha)
        return -(found * counted) / examples


class teacher_student_sigmoid_loss(Op):
    """The loss of a logit by a click and by the score of a teacher: ``log(1 + e^X) - z X``, plus
    ``log(1 + e^X) - s X`` where Label has the score s of a teacher.

    X: logits, [N, 1].
    Label: tells whether there was a click z and whether a teacher's score s: -2 none, -1 a click
        only, s in [0, 1) the score only, 1 + s both.
    Y: of shape [N, 1].
    soft_max_up_bound: no gradient flows where X is above.
    soft_max_lower_bound: no gradient flows where X is below.
    """

    signature = "X, Label! -> Y"
    soft_max_up_bound: float = 15.0
    soft_max_lower_bound: float = -15.0

    def infer(self, X: Spec, Label: Spec) -> Specs:
        same_float(X=X, Label=Label)
        need_shape("X", X, (-1, 1))
        need_shape("Label", Label, (-1, 1))
        return X.with_shape(same_shape(X=X, Label=Label))

    def run(self, xp: Any, X: Array, Label: Array) -> Array:
        terms = xp.where(Label < 0, 1, 2).astype(X.dtype)
        return terms * xp.logaddexp(0, X) - X * self.target(xp, Label)

    def target(self, xp: Any, Label: Array) -> Array:
        """The sum of click and score."""
        clicked = (Label >= -1) & (Label < 0)
        return xp.where(clicked, 1, xp.maximum(Label, 0))

    def grad(self, f: Any, X: Value, Label: Value, dY: Value) -> Rules:
        def dx():
            like = lambda number: f.fill_any_like(Label, value=number)
            scored = indicator(f, f.greater_equal(Label, like(0.0)), X)
            clicked = indicator(f, f.greater_equal(Label, like(-1.0)), X) - scored
            slope = f.sigmoid(X) * (scored + 1.0) - (f.relu(Label) + clicked)
            return dY * slope * between(f, X, self.soft_max_lower_bound, self.soft_max_up_bound)

        return dict(X=dx)
