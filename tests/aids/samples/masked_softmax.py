"""Samples of the operators in fluidlite/ops/masked_softmax.py."""

import numpy as np

from .form import Sample, samples


@samples("fused_softmax_mask")
def fused_softmax_mask(rng):
    mask = np.where(np.tri(3, 5), 0.0, -1e4).reshape(1, 1, 3, 5)
    yield Sample(dict(X=rng.normal(size=[2, 4, 3, 5]), Mask=mask))


@samples("fused_softmax_mask_upper_triangle")
def fused_softmax_mask_upper_triangle(rng):
    yield Sample(dict(X=rng.normal(size=[2, 5, 3, 3])))
