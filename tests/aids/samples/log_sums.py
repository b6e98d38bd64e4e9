"""Samples of logarithms of sums of exponentials."""

import numpy as np

from .form import Sample, samples


@samples("logsumexp")
def logsumexp(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(axis=[1]), order=3)
    yield Sample(dict(X=rng.normal(size=[2, 3, 4])), dict(axis=[0, -1], keepdim=True))
    yield Sample(dict(X=rng.normal(size=[2, 3]) * 300), dict(reduce_all=True), name="large")


@samples("logcumsumexp")
def logcumsumexp(rng):
    yield Sample(dict(X=rng.normal(size=[5])), order=3)
    for axis in (0, 1):
        for exclusive in (False, True):
            for reverse in (False, True):
                attrs = dict(axis=axis, exclusive=exclusive, reverse=reverse)
                x = rng.normal(size=[3, 4])
                # -inf is no number that differences could be taken of
                why = "infinite" if exclusive else ""
                yield Sample(dict(X=x), attrs, order=0 if exclusive else 2, why=why)
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(flatten=True), name="flat")
    yield Sample(dict(X=np.array([800.0, 801.0, -900.0])), name="large")
