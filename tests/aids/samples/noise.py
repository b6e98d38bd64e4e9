"""Samples of the operators in fluidlite/ops/noise.py."""

import numpy as np

from .form import Sample, samples

DRAWN = dict(values_matter=False)


@samples("bernoulli", "exponential", "uniform_random_inplace")
def drawn_for(rng, type):
    yield Sample(dict(X=rng.uniform(size=[3, 4])), order=0, why="it is drawn", **DRAWN)


@samples("gaussian_inplace")
def gaussian_inplace(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(x=x), dict(mean=2.0), order=0, why="it is drawn", **DRAWN)


@samples("dirichlet")
def dirichlet(rng):
    yield Sample(dict(Alpha=rng.uniform(0.5, 3.0, [2, 3])), **DRAWN)


@samples("gumbel_softmax")
def gumbel_softmax(rng):
    x = rng.normal(size=[2, 5])
    yield Sample(dict(X=x), dict(temperature=0.7), order=0, why="it is drawn", **DRAWN)
    hard = dict(hard=True, axis=0)
    yield Sample(dict(X=x), hard, "hard", order=0, why="it is drawn", **DRAWN)


@samples("top_p_sampling")
def top_p_sampling(rng):
    x = rng.uniform(size=[3, 6])
    x = x / x.sum(axis=1, keepdims=True)
    yield Sample(dict(x=x, ps=np.array([[0.3], [0.6], [0.9]])), **DRAWN)
    tiny = dict(x=x, ps=np.full([3, 1], 1e-6))
    yield Sample(tiny, {}, "best")


@samples("poisson")
def poisson(rng):
    why = dict(order=0, why="counts are integers", values_matter=False)
    yield Sample(dict(X=rng.uniform(1, 9, size=[2, 3])), **why)
