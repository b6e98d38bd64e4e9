"""Samples of the operators in fluidlite/ops/vector_norm.py."""

import numpy as np

from .form import Sample, samples


def off_zero(rng, shape):
    """Numbers of both signs and different sizes, none of them near 0."""
    count = int(np.prod(shape))
    size = 0.5 + (rng.permutation(count) + rng.uniform(0.2, 0.8, count)) / count
    return np.reshape(size * rng.choice([-1, 1], count), shape)


@samples("l1_norm", "squared_l2_norm")
def whole(rng, type):
    yield Sample(dict(X=off_zero(rng, [2, 3])))


@samples("norm")
def norm(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3, 4])), dict(axis=1), order=3)
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(axis=-1, epsilon=0.5), "epsilon")


@samples("p_norm")
def p_norm(rng):
    x = off_zero(rng, [2, 3, 4])
    for order in (0.5, 1.0, 2.0, 3.0, 0.0, float("inf"), float("-inf")):
        yield Sample(dict(X=x), dict(porder=order, axis=1), f"order{order}")
    yield Sample(dict(X=x), dict(porder=3.0, axis=0, keepdim=True), "kept")
    yield Sample(dict(X=x[0, 0]), {}, "vector")
    yield Sample(dict(X=x), dict(porder=3.0, asvector=True), "whole")


@samples("frobenius_norm")
def frobenius_norm(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(dim=[0, -1]))
    yield Sample(dict(X=x), dict(dim=[1], keep_dim=True), "kept")
    yield Sample(dict(X=x), dict(reduce_all=True), "all")


@samples("renorm")
def renorm(rng):
    x = off_zero(rng, [3, 4, 2])
    yield Sample(dict(X=x), dict(p=2.0, axis=0, max_norm=2.0))
    yield Sample(dict(X=x), dict(p=1.0, axis=2, max_norm=5.0), "ones")
    yield Sample(dict(X=x), dict(p=3.0, axis=1, max_norm=100.0), "short")
