"""Samples of windows of images as sequences."""

import numpy as np

from .form import Sample, samples


@samples("im2sequence")
def im2sequence(rng):
    attrs = dict(kernels=[2, 3], strides=[1, 2], paddings=[1, 0, 2, 1])
    yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5])), attrs, "padded")
    yield Sample(dict(X=rng.normal(size=[1, 2, 3, 4])), dict(kernels=[2, 2]), "plain")
    inputs = dict(X=rng.normal(size=[2, 1, 6, 5]), Y=np.array([[12.0, 10.0], [9.0, 7.0]]))
    attrs = dict(kernels=[2, 2], out_stride=[2, 2])
    yield Sample(inputs, attrs, "sizes")
