"""Samples of operators on the representation of floats."""

from .form import Sample, samples


@samples("nextafter")
def nextafter(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[3])))


@samples("frexp")
def frexp(rng):
    yield Sample(dict(X=rng.choice([0.3, 0.6, 1.3, -2.7, 5.0], [2, 3])))
