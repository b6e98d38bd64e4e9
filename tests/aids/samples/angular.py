"""Samples of the operators in fluidlite/ops/angular.py."""

import numpy as np

from .form import Sample, samples


@samples("margin_cross_entropy")
def margin(rng):
    cosines, label = rng.uniform(-0.8, 0.8, [3, 4]), np.array([1, 0, 3])
    yield Sample(dict(Logits=cosines, Label=label), dict(scale=4.0))
    attrs = dict(scale=2.0, margin1=0.875, margin2=0.25, margin3=0.125)
    yield Sample(dict(Logits=cosines, Label=label[:, None]), attrs, "margins")


@samples("identity_loss")
def identity_loss(rng):
    x = rng.normal(size=[2, 3])
    for reduction, name in enumerate(("sum", "mean", "none")):
        yield Sample(dict(X=x), dict(reduction=reduction), name)
