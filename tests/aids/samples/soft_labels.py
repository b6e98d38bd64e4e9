"""Samples of the operators in fluidlite/ops/soft_labels.py."""

import numpy as np

from .form import Sample, samples


@samples("label_smooth")
def label_smooth(rng):
    yield Sample(dict(X=rng.uniform(size=[2, 3])), dict(epsilon=0.25))
    prior = np.array([[0.25, 0.5, 0.125, 0.125]])
    inputs = dict(X=rng.uniform(size=[3, 2, 4]), PriorDist=prior)
    yield Sample(inputs, dict(epsilon=0.5), "prior")


@samples("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(rng):
    inputs = dict(X=rng.normal(size=[2, 3]), Label=rng.uniform(size=[2, 3]))
    yield Sample(inputs)
    yield Sample(inputs, dict(normalize=True), "normalize")
    label = np.array([[1.0, 0.0, 3.0], [3.0, 1.0, 1.0]])
    ignored = dict(inputs, Label=label)
    yield Sample(ignored, dict(ignore_index=3), "ignore")
    yield Sample(ignored, dict(ignore_index=3, normalize=True), "ignore_normalize")
    yield Sample(
        dict(X=rng.normal(size=[2]), Label=np.full([2], -1.0)),
        dict(ignore_index=-1, normalize=True),
        "all_ignored",
    )
