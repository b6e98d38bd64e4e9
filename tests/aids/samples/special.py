"""Samples of special functions."""

import numpy as np

from .form import Sample, samples


@samples("lgamma", "digamma")
def gammas(rng, type):
    yield Sample(dict(X=rng.uniform(0.3, 12.0, [2, 3])), order=3)
    yield Sample(dict(X=rng.integers(-3, 0, [2, 3, 4]) + rng.uniform(0.2, 0.8, [2, 3, 4])))


@samples("polygamma")
def polygamma(rng):
    yield Sample(dict(x=rng.uniform(0.5, 12.0, [2, 3])), order=3)
    yield Sample(dict(x=rng.uniform(0.5, 2.0, [4])), dict(n=3))
    yield Sample(dict(x=np.array([-1.4, -0.3])), dict(n=2), name="negative")


@samples("bessel_i")
def bessel(rng):
    for order in (0, 1):
        for scaled in (False, True):
            x = rng.uniform(0.2, 3.0, [2, 3]) * rng.choice([-1, 1], [2, 3])
            yield Sample(dict(X=x), dict(order=order, scaled=scaled), order=3)
    yield Sample(dict(X=np.array([22.0, -25.0])), dict(scaled=True), name="large")


@samples("erfinv")
def erfinv(rng):
    yield Sample(dict(X=rng.uniform(-0.9, 0.9, [2, 3])), order=3)


@samples("i0", "i0e", "i1", "i1e")
def of_one_order(rng, type):
    yield Sample(dict(x=rng.uniform(0.2, 3.0, [2, 3]) * rng.choice([-1, 1], [2, 3])), order=3)


@samples("logit")
def logit(rng):
    yield Sample(dict(X=rng.uniform(0.1, 0.9, [2, 3])), dict(eps=0.0), order=3)
    yield Sample(dict(X=np.array([0.05, 0.3, 0.6, 0.97])), dict(eps=0.2), name="kept")
