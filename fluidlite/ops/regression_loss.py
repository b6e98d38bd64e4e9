"""Losses of predicted numbers: how far they are from what they should be."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, need_above
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Spec,
    agree,
    flat,
    need_float,
    need_integer,
    need_ndim,
    need_one,
    need_rank,
    need_shape,
    same_float,
)
from .gather import count_of
from .matrix import same_shape


class huber_loss(Op):
    """Half the square of small differences, and a line beyond: ``Residual^2 / 2`` where
    ``|Residual| <= delta``, and ``delta (|Residual| - delta / 2)`` beyond.

    X: the prediction, float.
    Y: of the shape and element type of X.
    Residual: Y - X.
    delta: where the parabola becomes a line, and the slope of that.
    """

    signature = "X, Y -> Residual~, Out"
    delta: float = REQUIRED

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_float(X=X, Y=Y)
        shape = same_shape(X=X, Y=Y)
        need_above(self, 0, "delta")
        return X.with_shape(shape), X.with_shape(shape)

    def run(self, xp: Any, X: Array, Y: Array) -> Arrays:
        residual = Y - X
        near = xp.clip(residual, -self.delta, self.delta)
        return residual, near * (residual - 0.5 * near)

    def grad(self, f: Any, Residual: Value, dOut: Value, dResidual: Value = None) -> Rules:
        def dy():
            g = dOut * f.clip(Residual, min=-self.delta, max=self.delta)
            return g if dResidual is None else g + dResidual

        return dict(X=lambda: -dy(), Y=dy)


class smooth_l1_loss(Op):
    """The sum over each row of a parabola of small differences, and a line beyond: of
    ``OutsideWeight h(Diff)``.

    ``h(d) = (sigma d)^2 / 2`` where ``|d| < 1 / sigma^2``, and ``|d| - 1 / (2 sigma^2)`` beyond.
    (Girshick, Fast R-CNN, ICCV 2015.)

    X: the prediction, float with at least 2 dimensions.
    Y: of the shape and element type of X.
    InsideWeight: factor of X - Y, element by element; 1 if absent.
    OutsideWeight: factor of h, element by element; 1 if absent.
    Diff: InsideWeight (X - Y).
    Out: of shape [N, 1].
    sigma: the parabola becomes a line at ``1 / sigma ** 2``.
    """

    signature = "X, Y, InsideWeight?!, OutsideWeight?! -> Diff~, Out"
    lod: ClassVar[str | None] = None
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    sigma: float = 1.0

    def infer(self, X: Spec, Y: Spec, InsideWeight: Spec, OutsideWeight: Spec | None) -> Specs:
        need_float(X=X, Y=Y)
        weights = {} if InsideWeight is None else dict(InsideWeight=InsideWeight)
        weights.update({} if OutsideWeight is None else dict(OutsideWeight=OutsideWeight))
        need_rank("X", X, 2)
        need_above(self, 0, "sigma")
        shape = same_shape(X=X, Y=Y, **weights)
        return X.with_shape(shape), X.with_shape((shape[0], 1))

    def run(self, xp: Any, X: Array, Y: Array, InsideWeight: Array, OutsideWeight: Array) -> Arrays:
        difference = X - Y if InsideWeight is None else InsideWeight * (X - Y)
        squared = self.sigma**2
        slope = xp.clip(difference * squared, -1, 1)
        loss = slope * (difference - slope * (0.5 / squared))
        loss = loss if OutsideWeight is None else OutsideWeight * loss
        return difference, xp.reshape(loss, flat(loss.shape, 1)).sum(axis=1, keepdims=True)

    def grad(self, f, Diff, InsideWeight, OutsideWeight, dOut, dDiff=None):
        def dx():
            slope = f.clip(Diff * self.sigma**2, min=-1.0, max=1.0)
            g = slope if OutsideWeight is None else slope * OutsideWeight
            g = f.elementwise_mul(g, f.reshape(dOut, shape=[-1]), axis=0)
            g = g if dDiff is None else g + dDiff
            return g if InsideWeight is None else g * InsideWeight

        return dict(X=dx, Y=lambda: -dx())


class center_loss(Op):
    """Loss[n] = |X[n] - Centers[Label[n]]|^2 / 2.

    A feature is drawn to the centre of its class, and the centre to it (Wen et al., A
    discriminative feature learning approach for deep face recognition, ECCV 2016).

    X: features, [N, D].
    Label: the classes, of shape [N] or [N, 1].
    Centers: a row for each class; no gradient flows to them.
    CenterUpdateRate: how far the centres move, one number.
    CentersOut: Centers, those of classes that occur moved towards the mean of their features.
    SampleCenterDiff: X[n] - Centers[Label[n]].
    cluster_num: the number of classes.
    need_update: move the centres; if not, CentersOut is Centers.
    """

    signature = "X, Label!, Centers!, CenterUpdateRate! -> CentersOut, SampleCenterDiff, Loss"
    cluster_num: int = REQUIRED
    need_update: bool = REQUIRED

    def infer(self, X: Spec, Label: Spec, Centers: Spec, CenterUpdateRate: Spec) -> Specs:
        same_float(X=X, Centers=Centers, CenterUpdateRate=CenterUpdateRate)
        need_integer(Label=Label)
        need_ndim(2, X=X, Centers=Centers)
        if not agree(count_of("Label", Label), X.shape[0]):
            raise ShapeError(
                f"expected a label for each row of X {list(X.shape)}, got {list(Label.shape)}"
            )
        wanted = (self.cluster_num, X.shape[1])
        need_shape("Centers", Centers, wanted)
        need_one(CenterUpdateRate=CenterUpdateRate)
        return Centers, X, X.with_dim(1, 1)

    def run(
        self, xp: Any, X: Array, Label: Array, Centers: Array, CenterUpdateRate: Array
    ) -> Arrays:
        label = xp.in_range(xp.reshape(Label, -1), self.cluster_num, "Label")
        difference = X - xp.take(Centers, label, axis=0)
        loss = 0.5 * xp.sum(difference * difference, axis=1, keepdims=True)
        if not self.need_update:
            return Centers, difference, loss
        total = xp.scatter_add(xp.zeros_like(Centers), label, difference)
        share = xp.reshape(CenterUpdateRate, ()) / self.one_more(xp, label, X.dtype)
        return Centers + xp.expand_dims(share, 1) * total, difference, loss

    def one_more(self, xp: Any, label: Array, dtype: Any) -> Array:
        """How often each class occurs, and 1 more."""
        return 1 + xp.bincount(label, minlength=self.cluster_num).astype(dtype)

    def grad(self, f, X, SampleCenterDiff, dLoss, dSampleCenterDiff=None):
        """CentersOut takes part in the next step only, and no gradient flows through it."""

        def dx():
            g = SampleCenterDiff * dLoss
            return g if dSampleCenterDiff is None else g + dSampleCenterDiff

        return dict(X=dx)
