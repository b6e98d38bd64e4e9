"""Samples of the operators in fluidlite/ops/metric.py."""

import numpy as np

from .form import Sample, samples


@samples("top_k")
def top_k(rng):
    x = rng.permutation(30).astype(float).reshape([2, 3, 5])
    yield Sample(dict(X=x), dict(k=4))
    yield Sample(dict(X=x[0]), dict(k=1), "one")
    yield Sample(dict(X=x, K=np.array([2], np.int32)), name="tensor")


@samples("accuracy")
def accuracy(rng):
    label = np.array([[0], [0], [1], [2]])
    indices = np.array([[0, 1], [1, 2], [0, 1], [2, 1]])
    yield Sample(dict(Out=rng.normal(size=[4, 2]), Indices=indices, Label=label))
