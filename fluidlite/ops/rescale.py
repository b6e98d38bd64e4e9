"""Rescaling by given numbers, by the norm of a matrix, or by that of neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_choice, need_least
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_float, need_ndim, need_shape, same_dtype
from .elementwise import indicator
from .inert_attributes import ChannelLayout, UseMkldnn
from .norm import PerChannel, batch_norm
from .unary import power


class affine_channel(ChannelLayout, PerChannel):
    """Out = X * Scale + Bias, for each channel.

    Scale, Bias: a number for each channel.
    data_layout: NCHW, or NHWC for channels in the last dimension.
    """

    signature = "X, Scale, Bias -> Out"
    data_layout: str = "AnyLayout"

    def infer(self, X: Spec, Scale: Spec, Bias: Spec) -> Specs:
        self.check(X, self.channels(X), Scale=Scale, Bias=Bias)
        return X

    def run(self, xp: Any, X: Array, Scale: Array, Bias: Array) -> Array:
        along = [-1 if i == self.axis(X.ndim) else 1 for i in range(X.ndim)]
        return X * xp.reshape(Scale, along) + xp.reshape(Bias, along)

    def grad(self, f: Any, X: Value, Scale: Value, dOut: Value) -> Rules:
        ndim = len(X.shape)
        axis = self.axis(ndim)
        total = lambda v: f.reduce_sum(v, dim=[i for i in range(ndim) if i != axis])
        return dict(
            X=lambda: f.elementwise_mul(dOut, Scale, axis=axis),
            Scale=lambda: total(dOut * X),
            Bias=lambda: total(dOut),
        )


class data_norm(UseMkldnn, ChannelLayout, PerChannel):
    """Y = (X - Means) * Scales, for each channel, by sums over all data so far.

    Nothing flows to the sums: they are counted, not learnt.  As in fluid, what stands for their
    gradients is what the batch adds to them, which an optimizer takes a step against.

    X: [N, C], or images with any number of dimensions after the channels, or before them.
    BatchSize: how many numbers were seen of each channel.
    BatchSum: their sum.
    BatchSquareSum: the sum of their squares.
    scale_w, bias: with ``enable_scale_and_shift``, Y is multiplied by the one and added the other.
    Means: BatchSum / BatchSize.
    Scales: sqrt(BatchSize / BatchSquareSum).
    epsilon: what fluid adds for each number to the squares that it counts.
    slot_dim: above 0, rows consist of parts of so many numbers, and a part whose first number is 0
        stays 0.
    data_layout: NCHW, or NHWC for channels in the last dimension.
    """

    signature = "scale_w?, bias?, X, BatchSize!, BatchSum!, BatchSquareSum! -> Y, Means!~, Scales!~"
    fluid: ClassVar[FluidForm] = FluidForm(counted=("BatchSize", "BatchSum", "BatchSquareSum"))
    epsilon: float = 1e-4
    slot_dim: int = -1
    summary_decay_rate: float = attr(0.9999999, inert=True)
    enable_scale_and_shift: bool = False
    data_layout: str = "NCHW"
    sync_stats: bool = attr(False, inert=True)

    def infer(self, scale_w, bias, X, BatchSize, BatchSum, BatchSquareSum):
        channels = self.channels(X)
        sums = dict(BatchSize=BatchSize, BatchSum=BatchSum, BatchSquareSum=BatchSquareSum)
        self.check(X, channels, scale_w=scale_w, bias=bias, **sums)
        if self.enable_scale_and_shift and (scale_w is None or bias is None):
            raise ShapeError("expected scale_w and bias, since enable_scale_and_shift is True")
        if self.slot_dim > 0 and (X.ndim != 2 or (channels != -1 and channels % self.slot_dim)):
            raise ShapeError(
                f"expected rows of parts of slot_dim={self.slot_dim} numbers, got X of shape "
                f"{list(X.shape)}"
            )
        one = BatchSize.with_shape([channels])
        return X, one, one

    def run(self, xp, scale_w, bias, X, BatchSize, BatchSum, BatchSquareSum):
        along = [-1 if i == self.axis(X.ndim) else 1 for i in range(X.ndim)]
        per_channel = lambda v: xp.reshape(v, along)
        means, scales = BatchSum / BatchSize, xp.sqrt(BatchSize / BatchSquareSum)
        y = (X - per_channel(means)) * per_channel(scales)
        if self.enable_scale_and_shift:
            y = y * per_channel(scale_w) + per_channel(bias)
        if self.slot_dim > 0:
            y = y * beginnings(xp, X, self.slot_dim).astype(X.dtype)
        return y, means, scales

    def counts(
        self, f: Any, scale_w: Any, bias: Any, X: Value, Means: Value, Scales: Value, dY: Value
    ) -> Mapping[str, Callable[[], Any]]:
        """What this batch adds to the sums; fluid takes the squares around the mean."""
        axis = self.axis(len(X.shape))
        others = [i for i in range(len(X.shape)) if i != axis]
        count = math.prod(X.shape[i] for i in others)
        centred = lambda: f.elementwise_sub(X, Means, axis=axis)
        return dict(
            BatchSize=lambda: f.fill_any_like(Means, value=count),
            BatchSum=lambda: f.reduce_sum(X, dim=others),
            BatchSquareSum=lambda: f.scale(
                f.reduce_sum(f.square(centred()), dim=others), bias=count * self.epsilon
            ),
        )

    def grad(
        self, f: Any, scale_w: Value, bias: Value, X: Value, Means: Value, Scales: Value, dY: Value
    ) -> Rules:
        axis = self.axis(len(X.shape))
        others = [i for i in range(len(X.shape)) if i != axis]
        times = lambda v, per_channel: f.elementwise_mul(v, per_channel, axis=axis)

        def flow():
            if self.slot_dim <= 0:
                return dY
            return dY * indicator(f, f.begins_with_something(X, size=self.slot_dim), dY)

        def scale():
            normal = times(f.elementwise_sub(X, Means, axis=axis), Scales)
            return f.reduce_sum(flow() * normal, dim=others)

        if not self.enable_scale_and_shift:
            return dict(X=lambda: times(flow(), Scales))
        return dict(
            X=lambda: times(flow(), Scales * scale_w),
            scale_w=scale,
            bias=lambda: f.reduce_sum(flow(), dim=others),
        )


class begins_with_something(Op):
    """Out = whether the first of the ``size`` numbers of X that one belongs to is not 0.

    size: rows of X consist of parts of so many numbers.
    """

    signature = "X -> Out"
    size: int = REQUIRED
    grad = None

    def infer(self, X: Spec) -> Specs:
        return X.with_dtype("bool")

    def run(self, xp: Any, X: Array) -> Array:
        return beginnings(xp, X, self.size)


def beginnings(xp: Any, x: Array, size: int) -> Array:
    """Whether the part of ``size`` numbers that one belongs to begins with something but 0."""
    return xp.repeat(xp.abs(x[:, ::size]) >= 1e-7, size, axis=1)


class inplace_abn(batch_norm):
    """Y = an activation of X normalised as by ``batch_norm``.

    (Rota Bulo, Porzi and Kontschieder, In-place activated batch norm, CVPR 2018; here X is kept.)

    activation: leaky_relu, elu, or identity, which an empty text means too.
    alpha: the slope of ``leaky_relu`` below 0, or the scale of ``elu`` there.
    """

    activation: str = ""
    alpha: float = 0.1
    use_sync_bn: bool = attr(False, inert=True)
    run = None

    def infer(self, X: Spec, Scale: Spec, Bias: Spec, Mean: Spec, Variance: Spec) -> Specs:
        need_choice(self, "activation", "leaky_relu", "elu", "identity", known=("",))
        return super().infer(X, Scale, Bias, Mean, Variance)

    def expand(self, f, X, Scale, Bias, Mean, Variance, MomentumTensor):
        attrs = {a: getattr(self, a) for a in batch_norm.attributes}
        outs = f.batch_norm.all(X, Scale, Bias, Mean, Variance, MomentumTensor, **attrs)
        if self.activation in ("leaky_relu", "elu"):
            outs = {**outs, "Y": getattr(f, self.activation)(outs["Y"], alpha=self.alpha)}
        return outs

    def grad(
        self,
        f,
        Scale,
        Bias,
        Y,
        SavedMean,
        SavedVariance,
        dY,
        X=None,
        MomentumTensor=None,
        dMeanOut=None,
        dVarianceOut=None,
        dSavedMean=None,
        dSavedVariance=None,
    ):
        below = dY
        if self.activation in ("leaky_relu", "elu"):
            above = indicator(f, f.greater_than(Y, f.fill_zeros_like(Y)), Y)
            slope = self.alpha if self.activation == "leaky_relu" else Y + self.alpha
            below = dY * (above + (1.0 - above) * slope)
        if X is None:  # fluid's programs overwrite it with Y
            X = self.restored(f, Scale, Bias, Y, SavedMean, SavedVariance)
        statistics = MomentumTensor, SavedMean, SavedVariance, None
        flows = below, dMeanOut, dVarianceOut, dSavedMean, dSavedVariance
        return batch_norm.grad(self, f, X, Scale, Bias, *statistics, *flows)

    def restored(
        self, f: Any, Scale: Value, Bias: Value, Y: Value, SavedMean: Value, SavedVariance: Value
    ) -> Any:
        """X from what was made of it."""
        zero = f.fill_zeros_like(Y)
        if self.activation == "leaky_relu":
            Y = f.elementwise_max(Y, zero) + f.elementwise_min(Y, zero) / self.alpha
        elif self.activation == "elu":
            bent = f.log(f.elementwise_min(Y, zero) / self.alpha + 1.0)
            Y = f.elementwise_max(Y, zero) + bent
        axis = self.axis(len(Y.shape))
        centred = f.elementwise_sub(Y, Bias, axis=axis)
        normal = f.elementwise_div(centred, Scale * SavedVariance, axis=axis)
        return f.elementwise_add(normal, SavedMean, axis=axis)


class lrn(UseMkldnn, Op):
    """Out = X / MidOut^beta, where MidOut = k + alpha * the sum of X^2 over ``n`` channels.

    (Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural
    networks, NIPS 2012.)

    MidOut: what is raised to the power of ``beta``.
    n: how many neighbouring channels are added up, half of them on each side; odd.
    k, alpha, beta: numbers of the formula.
    data_format: NCHW, or NHWC for channels in the last dimension.
    """

    signature = "X -> Out, MidOut~"
    n: int = 5
    k: float = 2.0
    alpha: float = 0.0001
    beta: float = 0.75
    data_format: str = "AnyLayout"
    is_test: bool = attr(False, inert=True)

    @property
    def axis(self) -> int:
        """The dimension of the channels."""
        return 3 if self.data_format == "NHWC" else 1

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        if self.n < 1 or self.n % 2 == 0:
            raise AttributeValueError(f"expected n odd, for as many on each side, got {self.n}")
        need_choice(self, "data_format", "NCHW", "NHWC", known=("AnyLayout",))
        return X, X

    def run(self, xp: Any, X: Array) -> Arrays:
        mid = self.k + self.alpha * neighbour_sums(xp, X * X, self.n, self.axis)
        return X * mid**-self.beta, mid

    def grad(
        self, f: Any, X: Value, MidOut: Value, dOut: Value, dMidOut: Value = None, Out: Value = None
    ) -> Rules:
        def dx():
            to_mid = -self.beta * dOut * X * power(f, MidOut, -self.beta - 1)
            if dMidOut is not None:
                to_mid = to_mid + dMidOut
            spread = f.neighbour_sum(to_mid, n=self.n, axis=self.axis)
            return dOut * f.pow(MidOut, factor=-self.beta) + X * spread * (2 * self.alpha)

        return dict(X=dx)


class neighbour_sum(Op):
    """Out = the sum of ``n`` neighbouring elements of X along ``axis``, as many on each side.

    n: odd.
    axis: the dimension.
    """

    signature = "X -> Out"
    n: int = REQUIRED
    axis: int = REQUIRED

    def run(self, xp: Any, X: Array) -> Arrays:
        return neighbour_sums(xp, X, self.n, self.axis)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.neighbour_sum(dOut, n=self.n, axis=self.axis))


def neighbour_sums(xp: Any, x: Array, n: int, axis: int) -> Array:
    """Sums of ``n`` neighbours, half of them on each side, zeros being beyond the ends."""
    size, reach = x.shape[axis], min(n // 2, x.shape[axis])
    lead = (slice(None),) * axis
    pads = [(reach, reach) if i == axis else (0, 0) for i in range(x.ndim)]
    padded = xp.pad(x, pads)
    return sum(padded[(*lead, slice(i, i + size))] for i in range(2 * reach + 1))


class spectral_norm(Op):
    """Out = Weight / sigma, its largest singular value by power iteration.

    (Miyato, Kataoka, Koyama and Yoshida, Spectral normalization for generative adversarial
    networks, ICLR 2018.)  Gradients are those of what is computed, through the iterations.

    Weight: a matrix, or a tensor that ``dim`` makes one.
    U: the left singular vector to start from, as long as ``dim``.
    V: the right one, as long as all other dimensions together.
    dim: the dimension of Weight that numbers the rows of the matrix.
    power_iters: how often the vectors are improved.
    eps: added to norms that are divided by.
    """

    signature = "Weight, U!, V! -> Out"
    dim: int = 0
    power_iters: int = 1
    eps: float = 1e-12

    def infer(self, Weight: Spec, U: Spec, V: Spec) -> Specs:
        need_float(Weight=Weight)
        need_ndim((2, 3, 4, 5), Weight=Weight)
        same_dtype(Weight=Weight, U=U, V=V)
        if not 0 <= self.dim < Weight.ndim:
            raise AttributeValueError(f"expected dim in [0, {Weight.ndim}), got {self.dim}")
        need_least(self, 0, "power_iters")
        rest = [n for i, n in enumerate(Weight.shape) if i != self.dim]
        sizes = Weight.shape[self.dim], -1 if -1 in rest else math.prod(rest)
        for name, s, size in (("U", U, sizes[0]), ("V", V, sizes[1])):
            need_shape(name, s, (size,), f"for dim={self.dim} and Weight", Weight)
        return Weight

    def expand(self, f: Any, Weight: Value, U: Value, V: Value) -> Value:
        shape = Weight.shape
        rows = shape[self.dim]
        order = [self.dim, *(i for i in range(len(shape)) if i != self.dim)]
        matrix = f.transpose(Weight, axis=order) if self.dim else Weight
        matrix = f.reshape(matrix, shape=[rows, math.prod(shape) // rows])
        unit = lambda v: v / (f.sqrt(f.reduce_sum(v * v)) + self.eps)
        for _ in range(self.power_iters):
            V = unit(f.matmul(U, matrix))
            U = unit(f.matmul(matrix, V))
        sigma = f.matmul(U, f.matmul(matrix, V))
        return f.elementwise_div(Weight, f.reshape(sigma, shape=[1]))
