"""Samples of normalisations."""

import numpy as np

from .form import Sample, samples


@samples("batch_norm")
def batch_norm(rng):
    for attrs, shape in [
        (dict(), (4, 3, 2, 5)),
        (dict(momentum=0.8, epsilon=1e-3), (6, 4)),
        (dict(data_layout="NHWC"), (3, 2, 3, 4)),
        (dict(is_test=True), (4, 3, 2, 5)),
        (dict(use_global_stats=True), (2, 3, 4)),
        (dict(is_test=True, trainable_statistics=True), (2, 3, 4)),
    ]:
        channels = shape[-1] if "data_layout" in attrs else shape[1]
        inputs = dict(X=rng.normal(size=shape))
        for slot in ("Scale", "Bias", "Mean", "Variance"):
            inputs[slot] = rng.uniform(0.5, 1.5, size=channels)
        yield Sample(inputs, attrs)
    yield Sample(dict(inputs, MomentumTensor=np.array([0.7])), name="momentum")


@samples("layer_norm")
def layer_norm(rng):
    for axis, size in ((1, 12), (2, 4)):
        x, scale, bias = (rng.normal(size=s) for s in ((2, 3, 4), size, size))
        attrs = dict(begin_norm_axis=axis, epsilon=1e-3)
        yield Sample(dict(X=x, Scale=scale, Bias=bias), attrs)
    yield Sample(dict(X=x), name="plain")
    yield Sample(dict(X=x, Scale=scale), attrs, name="scale")
    yield Sample(dict(X=x, Bias=bias), attrs, name="bias")


@samples("instance_norm")
def instance_norm(rng):
    for attrs, shape in [(dict(), (2, 3, 4, 2)), (dict(epsilon=1e-3), (3, 2, 5))]:
        x, scale, bias = (rng.normal(size=s) for s in (shape, shape[1], shape[1]))
        yield Sample(dict(X=x, Scale=scale, Bias=bias), attrs)
    yield Sample(dict(X=rng.normal(size=(2, 2, 4))), name="plain")


@samples("group_norm")
def group_norm(rng):
    for attrs, shape, channels in [
        (dict(groups=2), (2, 4, 3, 2), 4),
        (dict(groups=1, epsilon=1e-3), (3, 2, 5), 2),
        (dict(groups=4), (2, 5, 2), 5),  # of 2, 2, 1 and 0 channels
        (dict(groups=2, data_layout="NHWC"), (2, 2, 3), 3),
        (dict(groups=3, data_layout="NHWC"), (2, 3, 2, 6), 6),
    ]:
        x, scale, bias = (rng.normal(size=s) for s in (shape, channels, channels))
        yield Sample(dict(X=x, Scale=scale, Bias=bias), attrs)
    yield Sample(dict(X=x), attrs, name="plain")
    yield Sample(dict(X=x, Scale=scale), attrs, name="scale")
