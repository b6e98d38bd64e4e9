"""Normalisations: values less their mean, divided by their standard deviation.

Rules treat the saved statistics as outputs of their own, whose cotangents arrive beside that of Y.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import AttributeValueError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    flat,
    need_float,
    need_ndim,
    need_shape,
    same_dtype,
    same_float,
)
from .elementwise import indicator
from .inert_attributes import ChannelLayout, UseMkldnn


class batch_norm(UseMkldnn, ChannelLayout, Op):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, for each channel.

    The statistics are those of the batch, or the running ones in a test (Ioffe and Szegedy, Batch
    normalization, ICML 2015).  Where they would be those of a batch of one element for each
    channel, Y = X, and the running ones stay.

    X: [N, C], or images with any number of dimensions after the channels, or before them.
    Scale, Bias: a number for each channel; these and the statistics may be float32 where X is
        float16.
    Mean, Variance: the running statistics.
    MomentumTensor: used in place of ``momentum``.
    MeanOut, VarianceOut: the running statistics, moved towards those of the batch.
    SavedMean: the mean that was taken off.
    SavedVariance: 1 / sqrt(variance + epsilon), which was multiplied with.
    ReserveSpace: stays empty.
    is_test: use the running statistics, and leave them as they are.
    momentum: the share of the old running statistics in the new ones.
    epsilon: keeps the square root away from 0.
    data_layout: NCHW, or NHWC for channels in the last dimension.
    use_global_stats: use the running statistics in training too.
    trainable_statistics: use those of the batch even where ``is_test``.
    """

    signature = (
        "X, Scale, Bias, Mean!, Variance!, MomentumTensor?! -> "
        "Y, MeanOut, VarianceOut, SavedMean~, SavedVariance~, ReserveSpace?!~"
    )
    statistics = ("Mean", "Variance")
    fluid: ClassVar[FluidForm] = FluidForm(
        bare_gradients=True, carried=statistics, only_here=("MomentumTensor", "ReserveSpace")
    )
    is_test: bool = False
    momentum: float = 0.9
    epsilon: float = 1e-5
    data_layout: str = "NCHW"
    fuse_with_relu: bool = attr(False, inert=True)
    use_global_stats: bool = False
    trainable_statistics: bool = False

    def scales(self, X: Any, Scale: Any) -> bool:
        """Whether running statistics scale channels that come second, all of one element type."""
        return not self.by_batch and self.axis(X.ndim) == 1 and X.dtype == Scale.dtype

    @property
    def by_batch(self) -> bool:
        """Whether the statistics are those of the batch."""
        return not self.use_global_stats and (not self.is_test or self.trainable_statistics)

    def absent_outputs(self) -> tuple[str, ...]:
        return ("ReserveSpace",)

    def carries(self) -> Sequence[str]:
        return self.fluid.carried if self.use_global_stats else ()

    def passes(self, shape: Shape) -> bool:
        """Whether X of this shape goes through as it is: a batch of one element for each channel,
        or of none, says nothing about how they spread.
        """
        return self.by_batch and math.prod(shape) in (0, shape[self.axis(len(shape))])

    def others(self, ndim: int) -> Shape:
        """The dimensions that are averaged."""
        return tuple(i for i in range(ndim) if i != self.axis(ndim))

    def infer(self, X: Spec, Scale: Spec, Bias: Spec, Mean: Spec, Variance: Spec) -> Specs:
        need_float(X=X)
        channels = self.channels(X)
        per_channel = dict(Scale=Scale, Bias=Bias, Mean=Mean, Variance=Variance)
        wide = (X.dtype, Scale.dtype) == (DType.FP16, DType.FP32)
        same_dtype(X=X.with_dtype(Scale.dtype) if wide else X, **per_channel)
        for name, s in per_channel.items():
            need_shape(name, s, (channels,), "a number for each channel of", X)
        one = Scale.with_shape([channels])
        return X, one, one, one, one, None

    def run(self, xp, X, Scale, Bias, Mean, Variance, MomentumTensor):
        if self.passes(X.shape):
            nothing = xp.zeros_like(Mean)
            return X, Mean, Variance, nothing, nothing, None
        others = self.others(X.ndim)
        along = [1 if i in others else -1 for i in range(X.ndim)]
        dtype, X = X.dtype, xp.asarray(X, Scale.dtype)
        if self.by_batch:
            mean = xp.mean(X, axis=others)
            centred = X - xp.reshape(mean, along)
            variance = xp.mean(centred * centred, axis=others)
            old = self.momentum if MomentumTensor is None else xp.reshape(MomentumTensor, (1,))
            running = [
                was * old + now * (1 - old) for was, now in ((Mean, mean), (Variance, variance))
            ]
        else:
            mean, variance, running = Mean, Variance, [Mean, Variance]
            centred = X - xp.reshape(mean, along)
        inverse = 1 / xp.sqrt(variance + self.epsilon)
        # by one after the other where their product is beyond the range: the result need not be
        slope = inverse * Scale
        is_finite = xp.isfinite(slope)
        first, second = xp.where(is_finite, slope, inverse), xp.where(is_finite, 1, Scale)
        y = centred * xp.reshape(first, along) * xp.reshape(second, along) + xp.reshape(Bias, along)
        return xp.asarray(y, dtype), *running, mean, inverse, None

    def grad(
        self,
        f,
        X,
        Scale,
        Bias,
        MomentumTensor,
        SavedMean,
        SavedVariance,
        ReserveSpace,
        dY,
        dMeanOut=None,
        dVarianceOut=None,
        dSavedMean=None,
        dSavedVariance=None,
    ):
        if self.passes(X.shape):
            zeros = lambda: f.fill_zeros_like(Scale)
            return dict(X=lambda: dY, Scale=zeros, Bias=zeros)
        given, used = X.dtype, Scale.dtype
        if given != used:  # images of 16 bits
            X, dY = (f.cast(v, in_dtype=given, out_dtype=used) for v in (X, dY))
        narrowed = lambda v: v if given == used else f.cast(v, in_dtype=used, out_dtype=given)
        axis, others = self.axis(len(X.shape)), self.others(len(X.shape))
        share = 1.0 / max(math.prod(X.shape[i] for i in others), 1)
        add = lambda v, per_channel: f.elementwise_add(v, per_channel, axis=axis)
        times = lambda v, per_channel: f.elementwise_mul(v, per_channel, axis=axis)
        total = lambda v: f.reduce_sum(v, dim=others)
        centred = lambda: f.elementwise_sub(X, SavedMean, axis=axis)

        def through_running(cotangent):
            """The cotangent of a statistic of the batch from that of the running one."""
            if MomentumTensor is None:
                return cotangent * (1.0 - self.momentum)
            return cotangent * (1.0 - MomentumTensor)

        def dx():
            slope = Scale * SavedVariance
            if not self.by_batch:
                return narrowed(times(dY, slope))
            c = centred()
            dmean = -slope * total(dY)
            # twice the cotangent of the variance
            dvariance = -slope * SavedVariance * SavedVariance * total(dY * c)
            if dSavedMean is not None:
                dmean = dmean + dSavedMean
            if dSavedVariance is not None:
                cube = SavedVariance * SavedVariance * SavedVariance
                dvariance = dvariance - cube * dSavedVariance
            if dMeanOut is not None:
                dmean = dmean + through_running(dMeanOut)
            if dVarianceOut is not None:
                dvariance = dvariance + 2.0 * through_running(dVarianceOut)
            return narrowed(add(times(dY, slope) + times(c, dvariance * share), dmean * share))

        return dict(
            X=dx, Scale=lambda: total(dY * centred()) * SavedVariance, Bias=lambda: total(dY)
        )


def means(xp: Any, x: Array, axis: int) -> Array:
    """Means along an axis, which stays with size 1; 0 where there is no element."""
    if x.shape[axis]:
        return xp.mean(x, axis=axis, keepdims=True)
    return xp.zeros([1 if i == axis else n for i, n in enumerate(x.shape)], x.dtype)


def through_rows(
    f: Any, g: Any, centred: Any, inverse: Any, dmean: Any = None, dvariance: Any = None
) -> Any:
    """The cotangent of rows from that of their normalised values.

    Args:
        f: the interpreter.
        g: the cotangent of the normalised values: [row, element], as all that follows.
        centred: the rows less their means.
        inverse: 1 / sqrt(variance + epsilon) for each row.
        dmean: the cotangent that arrives at the means, or None.
        dvariance: twice the cotangent that arrives at the variances, or None.
    """
    by_row = lambda v, per_row: f.elementwise_mul(v, per_row, axis=0)
    total = lambda v: f.reduce_sum(v, dim=[1])
    share = 1.0 / max(g.shape[1], 1)  # of rows without elements, nothing is shared
    # sums of shares: those of large numbers may be beyond the range where their means are not
    shares = by_row(g, inverse * share)
    to_mean, to_variance = -total(shares), -inverse * inverse * total(shares * centred)
    if dmean is not None:
        to_mean = to_mean + dmean * share
    if dvariance is not None:
        to_variance = to_variance + dvariance * share
    out = by_row(g, inverse) + by_row(centred, to_variance)
    return f.elementwise_add(out, to_mean, axis=0)


class layer_norm(Op):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over the dimensions of a sample.

    (Ba, Kiros and Hinton, Layer normalization, arXiv 1607.06450.)

    Scale, Bias: a number for each element of a sample, flattened.
    Mean, Variance: of each sample.
    epsilon: keeps the square root away from 0.
    begin_norm_axis: the first dimension of a sample; those before it number the samples.
    """

    signature = "X, Scale?, Bias? -> Y, Mean~, Variance~"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    epsilon: float = 1e-5
    begin_norm_axis: int = 1

    def infer(self, X: Spec, Scale: Spec | None, Bias: Spec) -> Specs:
        same_float(X=X, Scale=Scale, Bias=Bias)
        if not 0 < self.begin_norm_axis < X.ndim:
            raise AttributeValueError(
                f"expected begin_norm_axis in [1, {X.ndim}) for X of shape {list(X.shape)}, "
                f"got {self.begin_norm_axis}"
            )
        samples, size = flat(X.shape, self.begin_norm_axis)
        for name, s in dict(Scale=Scale, Bias=Bias).items():
            need_shape(name, s, (size,), "a number for each element of a sample of", X)
        one = X.with_shape([samples])
        return X, one, one

    def run(self, xp: Any, X: Array, Scale: Array, Bias: Array) -> Arrays:
        x = xp.reshape(X, flat(X.shape, self.begin_norm_axis))
        mean = means(xp, x, 1)
        y = x - mean
        variance = means(xp, y * y, 1)
        y = y / xp.sqrt(variance + self.epsilon)
        if Scale is not None:
            y = y * Scale
        if Bias is not None:
            y = y + Bias
        return xp.reshape(y, X.shape), xp.reshape(mean, (-1,)), xp.reshape(variance, (-1,))

    def grad(self, f, X, Scale, Bias, Mean, Variance, dY, dMean=None, dVariance=None):
        matrix = flat(X.shape, self.begin_norm_axis)
        by_row = lambda v, per_sample: f.elementwise_mul(v, per_sample, axis=0)
        dy = lambda: f.reshape(dY, shape=matrix)
        inverse = lambda: f.rsqrt(Variance + self.epsilon)
        centred = lambda: f.elementwise_sub(f.reshape(X, shape=matrix), Mean, axis=0)

        def dx():
            g = dy() if Scale is None else dy() * Scale
            twice = None if dVariance is None else 2.0 * dVariance
            return f.reshape(through_rows(f, g, centred(), inverse(), dMean, twice), shape=X.shape)

        rules = dict(X=dx)
        if Scale is not None:
            normal = lambda: by_row(centred(), inverse())
            rules.update(Scale=lambda: f.reduce_sum(dy() * normal(), dim=[0]))
        if Bias is not None:
            rules.update(Bias=lambda: f.reduce_sum(dy(), dim=[0]))
        return rules


class PerChannel(Op, abstract=True):
    """A normalisation with a scale and a bias for each channel."""

    def check(self, X: Spec, channels: int, **per_channel: Spec | None) -> None:
        """Check that X holds numbers, and ``per_channel`` one for each channel of it."""
        need_float(X=X)
        need_ndim((2, 3, 4, 5), X=X)
        same_dtype(X=X, **per_channel)
        for name, s in per_channel.items():
            need_shape(name, s, (channels,), "a number for each channel of", X)


class instance_norm(PerChannel):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over each image of a channel.

    (Ulyanov, Vedaldi and Lempitsky, Instance normalization, arXiv 1607.08022.)

    X: [N, C, ...].
    Scale, Bias: a number for each channel.
    SavedMean: the mean of each image.
    SavedVariance: 1 / sqrt(variance + epsilon) of each image.
    epsilon: keeps the square root away from 0.
    """

    signature = "X, Scale?, Bias? -> Y, SavedMean~, SavedVariance~"
    epsilon: float = 1e-5

    def infer(self, X: Spec, Scale: Spec | None, Bias: Spec | None) -> Specs:
        self.check(X, X.shape[1] if X.ndim > 1 else -1, Scale=Scale, Bias=Bias)
        one = X.with_shape([flat(X.shape, 2)[0]])
        return X, one, one

    def run(self, xp: Any, X: Array, Scale: Array | None, Bias: Array | None) -> Arrays:
        x = xp.reshape(X, (*X.shape[:2], math.prod(X.shape[2:])))
        mean = means(xp, x, 2)
        centred = x - mean
        inverse = 1 / xp.sqrt(means(xp, centred * centred, 2) + self.epsilon)
        y = centred * (inverse if Scale is None else inverse * Scale[:, None])
        y = y if Bias is None else y + Bias[:, None]
        return xp.reshape(y, X.shape), xp.reshape(mean, (-1,)), xp.reshape(inverse, (-1,))

    def grad(self, f, X, Scale, SavedMean, SavedVariance, dY, dSavedMean=None, dSavedVariance=None):
        rows, others = flat(X.shape, 2), [i for i in range(len(X.shape)) if i != 1]
        matrix = lambda v: f.reshape(v, shape=rows)
        centred = lambda: f.elementwise_sub(matrix(X), SavedMean, axis=0)

        def dx():
            g = matrix(dY if Scale is None else f.elementwise_mul(dY, Scale, axis=1))
            cube = SavedVariance * SavedVariance * SavedVariance
            twice = None if dSavedVariance is None else -cube * dSavedVariance
            out = through_rows(f, g, centred(), SavedVariance, dSavedMean, twice)
            return f.reshape(out, shape=X.shape)

        def scale():
            normal = f.elementwise_mul(centred(), SavedVariance, axis=0)
            return f.reduce_sum(dY * f.reshape(normal, shape=X.shape), dim=others)

        return dict(X=dx, Scale=scale, Bias=lambda: f.reduce_sum(dY, dim=others))


class group_norm(ChannelLayout, PerChannel):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over each group of channels.

    (Wu and He, Group normalization, ECCV 2018.)

    X: [N, C, ...], or [N, ..., C].
    Scale, Bias: a number for each channel.
    Mean, Variance: of each group of each sample.
    epsilon: keeps the square root away from 0.
    groups: how many groups the channels are cut into.  Where that leaves a rest, the groups have
        one channel more, and the last ones less, or none.
    data_layout: NCHW, or NHWC for channels in the last dimension.
    """

    signature = "X, Scale?, Bias? -> Y, Mean~, Variance~"
    epsilon: float = 1e-5
    groups: int = REQUIRED
    data_layout: str = "NCHW"

    @property
    def last(self) -> bool:
        """Whether the channels come last."""
        return self.data_layout == "NHWC"

    def infer(self, X: Spec, Scale: Spec, Bias: Spec) -> Specs:
        channels = self.channels(X)
        self.check(X, channels, Scale=Scale, Bias=Bias)
        if self.groups < 1 or -1 != channels < self.groups:
            raise AttributeValueError(
                f"expected 1 to {channels} groups, of the channels of X {list(X.shape)}; "
                f"got {self.groups}"
            )
        one = X.with_shape([X.shape[0], self.groups])
        return X, one, one

    def order(self, ndim: int) -> Shape:
        """The dimensions of X with the channels before its rows."""
        return (0, ndim - 1, *range(1, ndim - 1)) if self.last else tuple(range(ndim))

    def back(self, ndim: int) -> Shape:
        """The reverse of ``order``."""
        return (0, *range(2, ndim), 1) if self.last else tuple(range(ndim))

    def parts(self, channels: int) -> list[Any]:
        """Normalisations of equal groups that do the same to some channels each.

        Returns:
            their operators, and of each the first channel, the last, the first group and the last.
        """
        group_size = -(-channels // self.groups)
        whole, rest = divmod(channels, group_size)
        attrs = self.attr_values()
        normalizations = [
            (group_norm({**attrs, "groups": whole}), (0, whole * group_size), (0, whole))
        ]
        if rest:
            last = group_norm({**attrs, "groups": 1})
            normalizations.append((last, (whole * group_size, channels), (whole, whole + 1)))
        return normalizations

    def run(self, xp: Any, X: Array, Scale: Array, Bias: Array) -> Arrays:
        channels = X.shape[-1 if self.last else 1]
        if channels % self.groups == 0:
            return self.normalise(xp, X, Scale, Bias)
        results = []
        for op, (begin, end), _ in self.parts(channels):
            some = slice(begin, end)
            x = X[..., some] if self.last else X[:, some]
            scale, bias = (v if v is None else v[some] for v in (Scale, Bias))
            results.append(op.normalise(xp, x, scale, bias))
        ys, *statistics = zip(*results)
        nothing = xp.zeros((len(X), self.groups - sum(v.shape[1] for v in statistics[0])), X.dtype)
        y = xp.concatenate(ys, axis=-1 if self.last else 1)
        return y, *(xp.concatenate([*v, nothing], axis=1) for v in statistics)

    def normalise(self, xp: Any, X: Array, Scale: Array, Bias: Array) -> Arrays:
        """The outputs where all groups are equal."""
        x = xp.transpose(X, self.order(X.ndim))
        shape = x.shape
        sample_size = math.prod(shape[1:])
        x = xp.reshape(x, (shape[0] * self.groups, sample_size // self.groups))
        mean = means(xp, x, 1)
        y = x - mean
        variance = means(xp, y * y, 1)
        y = y / xp.sqrt(variance + self.epsilon)
        y = xp.reshape(y, (shape[0], shape[1], sample_size // shape[1]))
        if Scale is not None:
            y = y * Scale[:, None]
        if Bias is not None:
            y = y + Bias[:, None]
        statistics = [xp.reshape(v, (shape[0], self.groups)) for v in (mean, variance)]
        return xp.transpose(xp.reshape(y, shape), self.back(X.ndim)), *statistics

    def grad(self, f, Scale, Bias, Y, Variance, dY, X=None, Mean=None, dMean=None, dVariance=None):
        if X is None:  # fluid's programs hold Y in its place
            X, Mean = self.restored(f, Scale, Bias, Y, Variance)
        channel = len(X.shape) - 1 if self.last else 1
        channels = X.shape[channel]
        if channels % self.groups == 0:
            return self.rules(f, X, Scale, Bias, Mean, Variance, dY, dMean, dVariance)

        def some(v, axis, ends):
            begin, end = ends
            return v if v is None else f.slice(v, axes=[axis], starts=[begin], ends=[end])

        gradients = [
            op.rules(
                f,
                some(X, channel, of_channels),
                *(some(v, 0, of_channels) for v in (Scale, Bias)),
                *(some(v, 1, of_groups) for v in (Mean, Variance)),
                some(dY, channel, of_channels),
                *(some(v, 1, of_groups) for v in (dMean, dVariance)),
            )
            for op, of_channels, of_groups in self.parts(channels)
        ]
        axes = {name: channel if name == "X" else 0 for name in gradients[0]}
        joined = lambda name: f.concat([rules[name]() for rules in gradients], axis=axes[name])
        return {name: functools.partial(joined, name) for name in axes}

    def restored(self, f: Any, Scale: Value, Bias: Value, Y: Value, Variance: Value) -> Any:
        """X but for its means, and means of 0: the rules need no more.  Where Scale is 0, all that
        was there is lost.
        """
        channel = len(Y.shape) - 1 if self.last else 1
        channels, group_size = Y.shape[channel], -(-Y.shape[channel] // self.groups)
        if Bias is not None:
            Y = f.elementwise_sub(Y, Bias, axis=channel)
        if Scale is not None:
            lost = indicator(f, f.equal(Scale, f.fill_zeros_like(Scale)), Scale)
            Y = f.elementwise_div(Y, Scale + lost, axis=channel)
        root = f.sqrt(Variance + self.epsilon)
        wide = f.expand(f.unsqueeze(root, axes=[2]), expand_times=[1, 1, group_size])
        wide = f.reshape(wide, shape=[Y.shape[0], self.groups * group_size])
        wide = f.slice(wide, axes=[1], starts=[0], ends=[channels])
        shape = [Y.shape[0], *[1] * (len(Y.shape) - 2)]
        shape.insert(channel, channels)
        return Y * f.reshape(wide, shape=shape), f.fill_zeros_like(Variance)

    def rules(self, f, X, Scale, Bias, Mean, Variance, dY, dMean, dVariance):
        """The rules where all groups are equal."""
        ndim = len(X.shape)
        channel = ndim - 1 if self.last else 1
        others = [i for i in range(ndim) if i != channel]
        shape = [X.shape[i] for i in self.order(ndim)]
        flattened = lambda v: f.reshape(v, shape=[-1])

        def rows(v):
            v = f.transpose(v, axis=self.order(ndim)) if self.last else v
            return f.reshape(v, shape=[shape[0] * self.groups, math.prod(shape[1:]) // self.groups])

        def image(v):
            v = f.reshape(v, shape=shape)
            return f.transpose(v, axis=self.back(ndim)) if self.last else v

        centred = lambda: f.elementwise_sub(rows(X), flattened(Mean), axis=0)
        inverse = lambda: f.rsqrt(flattened(Variance) + self.epsilon)

        def dx():
            g = dY if Scale is None else f.elementwise_mul(dY, Scale, axis=channel)
            mean = None if dMean is None else flattened(dMean)
            twice = None if dVariance is None else 2.0 * flattened(dVariance)
            return image(through_rows(f, rows(g), centred(), inverse(), mean, twice))

        def scale():
            normal = image(f.elementwise_mul(centred(), inverse(), axis=0))
            return f.reduce_sum(dY * normal, dim=others)

        rules = dict(X=dx)
        if Scale is not None:
            rules.update(Scale=scale)
        if Bias is not None:
            rules.update(Bias=lambda: f.reduce_sum(dY, dim=others))
        return rules
