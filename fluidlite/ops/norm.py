"""Normalisations: values less their mean, divided by their standard deviation.

Rules treat the saved statistics as outputs of their own, whose cotangents arrive beside that of Y.
"""

from __future__ import annotations

from ..errors import AttributeValueError, ShapeError
from ..opdef.attribute import attr
from ..opdef.definition import Op
from ..opdef.spec import agree, flat, need_float, need_ndim, same_dtype
from .knobs import UseMkldnn


class batch_norm(UseMkldnn, Op):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, for each channel.

    The statistics are those of the batch, or the running ones in a test (Ioffe and Szegedy, Batch
    normalization, ICML 2015).

    X: [N, C], or images with any number of dimensions after the channels, or before them.
    Scale, Bias: a number for each channel.
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
    is_test: bool = False
    momentum: float = 0.9
    epsilon: float = 1e-5
    data_layout: str = "NCHW"
    fuse_with_relu: bool = attr(False, inert=True)
    use_global_stats: bool = False
    trainable_statistics: bool = False

    @property
    def by_batch(self):
        """Whether the statistics are those of the batch."""
        return not self.use_global_stats and (not self.is_test or self.trainable_statistics)

    def axis(self, ndim):
        """The dimension of the channels."""
        return ndim - 1 if self.data_layout == "NHWC" else 1

    def others(self, ndim):
        """The dimensions that are averaged."""
        return tuple(i for i in range(ndim) if i != self.axis(ndim))

    def infer(self, X, Scale, Bias, Mean, Variance):
        need_float(X=X)
        need_ndim("X", X, 2, 3, 4, 5)
        if self.data_layout not in ("NCHW", "AnyLayout", "NHWC"):
            raise AttributeValueError(f"expected data_layout NCHW or NHWC, got {self.data_layout!r}")
        per_channel = dict(Scale=Scale, Bias=Bias, Mean=Mean, Variance=Variance)
        same_dtype(X=X, **per_channel)
        channels = X.shape[self.axis(X.ndim)]
        for name, s in per_channel.items():
            if s.ndim != 1 or not agree(s.shape[0], channels):
                raise ShapeError(
                    f"expected {name} of shape [{channels}], a number for each channel of "
                    f"{list(X.shape)}, got {list(s.shape)}"
                )
        one = Scale.with_shape([channels])
        return X, one, one, one, one, None

    def run(self, xp, X, Scale, Bias, Mean, Variance, MomentumTensor):
        others = self.others(X.ndim)
        along = [1 if i in others else -1 for i in range(X.ndim)]
        if self.by_batch:
            mean = xp.mean(X, axis=others)
            centred = X - xp.reshape(mean, along)
            variance = xp.mean(centred * centred, axis=others)
            old = self.momentum if MomentumTensor is None else MomentumTensor
            running = [
                was * old + now * (1 - old) for was, now in ((Mean, mean), (Variance, variance))
            ]
        else:
            mean, variance, running = Mean, Variance, [Mean, Variance]
            centred = X - xp.reshape(mean, along)
        inverse = 1 / xp.sqrt(variance + self.epsilon)
        y = centred * xp.reshape(inverse * Scale, along) + xp.reshape(Bias, along)
        return y, *running, mean, inverse, None

    def grad(
        self,
        f,
        X,
        Scale,
        Bias,
        SavedMean,
        SavedVariance,
        ReserveSpace,
        dY,
        dMeanOut=None,
        dVarianceOut=None,
        dSavedMean=None,
        dSavedVariance=None,
    ):
        axis, others = self.axis(len(X.shape)), self.others(len(X.shape))
        total = lambda v: f.reduce_sum(v, dim=others)
        times = lambda v, w: f.elementwise_mul(v, w, axis=axis)
        minus = lambda v, w: f.elementwise_sub(v, w, axis=axis)
        centred = lambda: minus(X, SavedMean)
        dscale = lambda: total(times(dY * centred(), SavedVariance))

        def dx():
            if not self.by_batch:
                return times(dY, Scale * SavedVariance)
            count = ...

        return dict(X=dx, Scale=dscale, Bias=lambda: total(dY))
