"""Softmax, and what compares predictions with labels."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    need_float,
    need_integer,
    need_shape,
    normal_axis,
    same_dtype,
)
from .inert_attributes import UseCudnn, UseMkldnn

LOG_OF_ZERO = -1e20  #: stands for the logarithm of 0, so that a loss stays finite
LEAST_LOGIT = -64.0  #: what a logit counts for at least, beside the largest of its row


class softmax(UseCudnn, UseMkldnn, Op):
    """``exp(X) / sum(exp(X))`` along ``axis``, probabilities from logits, computed without
    overflow.

    No element is less than e^-64 of the largest one, so that a logarithm of Out is finite.

    X: a float variable.
    Out: of the shape of X; it sums up to 1 along ``axis``.
    axis: the dimension of the classes; may count from the end.
    """

    signature = "X -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    least_logit = LEAST_LOGIT
    axis: int = -1
    data_format: str = attr("AnyLayout", inert=True)
    is_test: bool = attr(False, inert=True)

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        normal_axis(self.axis, X.ndim)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        e = xp.exp(shifted(xp, X, self.axis))
        return e / xp.sum(e, axis=self.axis, keepdims=True)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: softmax_cotangent(f, Out, dOut, self.axis))


class log_softmax(Op):
    """``X - log(sum(exp(X)))`` along ``axis``: logarithms of probabilities from logits.

    X: a float variable; a number is the only one of its kind.
    Out: of the shape of X.
    axis: the dimension of the classes; may count from the end.
    """

    signature = "X -> Out"
    axis: int = -1

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        normal_axis(self.axis, max(X.ndim, 1))
        return X

    def run(self, xp: Any, X: Array) -> Array:
        if not X.size or not X.ndim:
            return X - X
        below = X - xp.max(X, axis=self.axis, keepdims=True)
        return below - xp.log(xp.sum(xp.exp(below), axis=self.axis, keepdims=True))

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        def dx():
            if not Out.shape:
                return f.scale(dOut, scale=0.0)
            return dOut - f.exp(Out) * f.reduce_sum(dOut, dim=[self.axis], keep_dim=True)

        return dict(X=dx)


def shifted(xp: Any, x: Array, axis: int) -> Array:
    """``x`` less its largest value along ``axis``, and at least -64: the same softmax but for what
    is tiny, no overflow, and finite logarithms.
    """
    if not x.size:
        return x
    return xp.maximum(x - xp.max(x, axis=axis, keepdims=True), LEAST_LOGIT)


def softmax_cotangent(f: Any, out: Any, dout: Any, axis: int) -> Any:
    """The cotangent of logits from that of their softmax: out * (dout - sum(dout * out))."""
    return out * (dout - f.reduce_sum(dout * out, dim=[axis], keep_dim=True))


class pick_label(Op):
    """Out = the element of X that Label names along ``axis``.

    Label: indices, in X's shape with size 1 along ``axis``.
    axis: the dimension of the classes.
    ignore_index: where Label is this, Out is ``ignored``.
    ignored: see ``ignore_index``.
    """

    signature = "X, Label! -> Out"
    axis: int = -1
    ignore_index: int = -100
    ignored: float = 0.0

    def infer(self, X: Spec, Label: Spec) -> Specs:
        check_label(X, Label, self.axis)
        return X.with_dim(normal_axis(self.axis, X.ndim), 1)

    def run(self, xp: Any, X: Array, Label: Array) -> Array:
        kept = Label != self.ignore_index
        index = xp.in_range(xp.where(kept, Label, 0), X.shape[self.axis], "a label")
        return xp.where(kept, xp.take_along_axis(X, index, self.axis), self.ignored)

    def grad(self, f: Any, X: Value, Label: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.place_label(
                dOut, Label, axis=self.axis, size=X.shape[self.axis], ignore_index=self.ignore_index
            )
        )


class place_label(Op):
    """Out = X at the position that Label names along ``axis``, and 0 elsewhere.

    The adjoint of ``pick_label``; of an X of ones it makes the one-hot form of Label.

    X: of the shape of Label.
    Label: indices, with size 1 along ``axis``.
    axis: the dimension that becomes the classes.
    size: the number of classes.
    ignore_index: where Label is this, Out is 0 everywhere.
    """

    signature = "X, Label! -> Out"
    size: int = REQUIRED
    axis: int = -1
    ignore_index: int = -100

    def infer(self, X: Spec, Label: Spec) -> Spec:
        check_label(X, Label, self.axis)
        return X.with_dim(normal_axis(self.axis, X.ndim), self.size)

    def run(self, xp: Any, X: Array, Label: Array) -> Array:
        along = [1] * X.ndim
        along[self.axis] = self.size
        classes = xp.reshape(xp.arange(self.size), along)
        hit = (classes == Label) & (Label != self.ignore_index)
        return xp.where(hit, X, xp.zeros_like(X))

    def grad(self, f: Any, Label: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.pick_label(dOut, Label, axis=self.axis, ignore_index=self.ignore_index)
        )


def check_label(X: Spec, Label: Spec, axis: int) -> None:
    """Check that ``Label`` holds indices, in the shape of ``X`` with size 1 along ``axis``."""
    need_integer(Label=Label)
    axis = normal_axis(axis, X.ndim)
    wanted = X.with_dim(axis, 1)
    if Label.ndim != X.ndim or not all(map(agree, Label.shape, wanted.shape)):
        raise ShapeError(
            f"expected a label of shape {list(wanted.shape)}, one index along dimension {axis} "
            f"of {list(X.shape)}, got {list(Label.shape)}"
        )


def hard_loss(X: Spec, Label: Spec) -> Spec:
    """The spec of a loss by labels that are indices in the last dimension of X: in the shape of
    Label, which may lack its last size of 1.
    """
    if Label.ndim == X.ndim - 1:
        check_label(X, Label.with_shape((*Label.shape, 1)), -1)
        return X.with_shape(X.shape[:-1])
    check_label(X, Label, -1)
    return X.with_dim(-1, 1)


def columns(f: Any, rows: Shape, *values: Any) -> list[Any]:
    """Labels, and what belongs to them, with a size of 1 behind those of ``rows``."""
    shape = [*rows, 1]
    return [v if len(v.shape) == len(shape) else f.reshape(v, shape=shape) for v in values]


def check_soft_label(X: Spec, Label: Spec) -> None:
    """Check that ``Label`` holds a probability for each element of ``X``."""
    same_dtype(X=X, Label=Label)
    need_shape("Label", Label, X.shape, "one probability for each class")


def negative_log(xp: Any, x: Array) -> Array:
    """-log(x), with a large number where x is 0."""
    zero = x == 0
    return xp.where(zero, -LOG_OF_ZERO, -xp.log(xp.where(zero, 1.0, x)))


class cross_entropy(Op):
    """Y = -log(X[Label]) over the last dimension, or -sum(Label * log(X)) with soft labels.

    X: probabilities of the classes in the last dimension.
    Label: indices with 1 as last size, or without it, or probabilities in the shape of X.
    soft_label: Label holds probabilities.
    ignore_index: where Label is this, Y and its gradient are 0.
    """

    signature = "X, Label! -> Y"
    soft_label: bool = False
    ignore_index: int = -100

    def infer(self, X: Spec, Label: Spec) -> Spec:
        need_float(X=X)
        if self.soft_label:
            check_soft_label(X, Label)
            return X.with_dim(-1, 1)
        return hard_loss(X, Label)

    def run(self, xp: Any, X: Array, Label: Array) -> Array:
        if self.soft_label:
            return xp.sum(Label * negative_log(xp, X), axis=-1, keepdims=True)
        pick = pick_label(dict(ignore_index=self.ignore_index, ignored=1.0))
        column = xp.reshape(Label, (*X.shape[:-1], 1))
        return xp.reshape(negative_log(xp, pick.run(xp, X, column)), Label.shape)

    def grad(self, f: Any, X: Value, Label: Value, dY: Value) -> Rules:
        def dx():
            if self.soft_label:
                return -(Label * dY) / X
            label, dy = columns(f, X.shape[:-1], Label, dY)
            picked = f.pick_label(X, label, ignore_index=self.ignore_index, ignored=1.0)
            return f.place_label(
                -dy / picked, label, size=X.shape[-1], ignore_index=self.ignore_index
            )

        return dict(X=dx)


class cross_entropy2(Op):
    """Y = -log(X[Label]) over the last dimension.

    X: probabilities of the classes in the last dimension.
    Label: indices with 1 as last size, or without it.
    XShape: holds nothing; its shape is that of X, with a size 0 added.
    MatchX: X[Label], and 0 where Label is ignored.
    ignore_index: where Label is this, Y and its gradient are 0.
    """

    signature = "X, Label! -> Y, XShape!~, MatchX~"
    fluid: ClassVar[FluidForm] = FluidForm(grad_type="cross_entropy_grad2")
    log_of_zero = LOG_OF_ZERO
    ignore_index: int = -100

    def infer(self, X: Spec, Label: Spec) -> Specs:
        need_float(X=X)
        loss = hard_loss(X, Label)
        return loss, X.with_shape((*X.shape, 0)), X.with_dim(-1, 1)

    def run(self, xp: Any, X: Array, Label: Array) -> Arrays:
        column = xp.reshape(Label, (*X.shape[:-1], 1))
        match = pick_label(dict(ignore_index=self.ignore_index)).run(xp, X, column)
        loss = xp.where(column == self.ignore_index, 0.0, negative_log(xp, match))
        return xp.reshape(loss, Label.shape), xp.zeros((*X.shape, 0), dtype=X.dtype), match

    def grad(
        self, f: Any, Label: Value, XShape: Value, MatchX: Value, dY: Value, dMatchX: Value = None
    ) -> Rules:
        def dx():
            label, dy = columns(f, XShape.shape[:-2], Label, dY)
            ignored = f.equal(label, f.fill_any_like(label, value=self.ignore_index))
            ones = f.cast(ignored, in_dtype=DType.BOOL, out_dtype=MatchX.dtype)
            dmatch = -dy / (MatchX + ones)  # MatchX is 0 where the label is ignored
            if dMatchX is not None:
                dmatch = dmatch + dMatchX
            return f.place_label(
                dmatch, label, size=XShape.shape[-2], ignore_index=self.ignore_index
            )

        return dict(X=dx)


class softmax_with_cross_entropy(Op):
    """Loss = -log(Softmax[Label]), or -sum(Label * log(Softmax)) with soft labels, along ``axis``.

    Logits: unnormalised logarithms of probabilities.
    Label: indices with size 1 along ``axis``, or probabilities in the shape of Logits.
    Softmax: exp(Logits) / sum(exp(Logits)), where a logit counts for 64 less than the largest one
        at least: so Loss is at most 64 + log(classes).
    soft_label: Label holds probabilities.
    ignore_index: where Label is this, Loss and its gradient are 0.
    axis: the dimension of the classes; may count from the end.
    numeric_stable_mode: not read: the computation is always stable.
    use_softmax: False: Logits are probabilities already, and Softmax is the same.
    """

    signature = "Logits, Label! -> Softmax~, Loss"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    least_logit = LEAST_LOGIT
    soft_label: bool = False
    numeric_stable_mode: bool = attr(True, inert=True)
    ignore_index: int = -100
    axis: int = -1
    use_softmax: bool = attr(True, local=True)

    def infer(self, Logits: Spec, Label: Spec) -> Specs:
        need_float(Logits=Logits)
        axis = normal_axis(self.axis, Logits.ndim)
        if self.soft_label:
            check_soft_label(Logits, Label)
        else:
            check_label(Logits, Label, axis)
        return Logits, Logits.with_dim(axis, 1)

    def run(self, xp: Any, Logits: Array, Label: Array) -> Arrays:
        if self.use_softmax:
            logits = shifted(xp, Logits, self.axis)
            e = xp.exp(logits)
            total = xp.sum(e, axis=self.axis, keepdims=True)
        else:
            logits, e = xp.log(Logits), Logits
            total = xp.ones_like(xp.sum(e, axis=self.axis, keepdims=True))
        if self.soft_label:
            loss = xp.sum(Label * (xp.log(total) - logits), axis=self.axis, keepdims=True)
        else:
            pick = pick_label(dict(axis=self.axis, ignore_index=self.ignore_index))
            loss = xp.log(total) - pick.run(xp, logits, Label)
            loss = xp.where(Label == self.ignore_index, 0.0, loss)
        return e / total, loss

    def grad(
        self, f: Any, Label: Value, Softmax: Value, dLoss: Value, dSoftmax: Value = None
    ) -> Rules:
        def dlogits():
            if self.soft_label:
                weighted = Label * dLoss
            else:
                weighted = f.place_label(
                    dLoss,
                    Label,
                    axis=self.axis,
                    size=Softmax.shape[self.axis],
                    ignore_index=self.ignore_index,
                )
            if not self.use_softmax:
                g = -weighted / Softmax
                return g if dSoftmax is None else g + dSoftmax
            total = f.reduce_sum(weighted, dim=[self.axis], keep_dim=True)
            g = Softmax * total - weighted
            return g if dSoftmax is None else g + softmax_cotangent(f, Softmax, dSoftmax, self.axis)

        return dict(Logits=dlogits)
