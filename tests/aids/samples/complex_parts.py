"""Samples of complex numbers and their parts; ``form.complex_samples`` makes more of others."""

import numpy as np

from .form import Sample, samples


def numbers(rng, *shape):
    """Complex numbers away from 0 and from the negative real ones."""
    return rng.uniform(0.5, 2, size=shape) * np.exp(1j * rng.uniform(-2.5, 2.5, size=shape))


@samples("real", "imag", "conj", "as_real")
def part(rng, type):
    yield Sample(dict(X=numbers(rng, 2, 3)))
    yield Sample(dict(X=numbers(rng)))
    yield Sample(dict(X=numbers(rng, 0, 3)), name="no elements")
    if type == "conj":
        yield Sample(dict(X=rng.normal(size=[2, 3])), name="real")


@samples("angle")
def angle(rng):
    yield Sample(dict(X=numbers(rng, 2, 3)))
    yield Sample(dict(X=np.asarray([[2.0, -3.0, 0.5]])), name="real")


@samples("complex")
def pair(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[2, 3])))
    yield Sample(dict(X=rng.normal(size=[2, 1]), Y=rng.normal(size=[3])), name="broadcast")


@samples("as_complex")
def pairs(rng):
    yield Sample(dict(X=rng.normal(size=[3, 2])))
    yield Sample(dict(X=rng.normal(size=[2])), name="one number")
