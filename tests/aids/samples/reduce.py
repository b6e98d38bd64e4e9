"""Samples of reductions over some dimensions or all of them."""

import numpy as np

from .form import Sample, samples

#: shape of X, attributes
WAYS = {
    "first": ([3, 4], {}),
    "last": ([2, 3, 4], dict(dim=[-1])),
    "kept": ([2, 3, 4], dict(dim=[1], keep_dim=True)),
    "several": ([2, 3, 4], dict(dim=[-1, 0])),
    "several_kept": ([2, 3, 4, 5], dict(dim=[2, -3], keep_dim=True)),
    "listed_all": ([2, 3], dict(dim=[1, 0])),
    "all": ([2, 3, 4], dict(reduce_all=True)),
    "all_kept": ([2, 3], dict(reduce_all=True, keep_dim=True)),
    "vector": ([5], {}),
    "size_1": ([1, 3], {}),
}


def distinct(rng, shape):
    """Numbers of which no two are close, and none is close to 0."""
    n = int(np.prod(shape))
    return (rng.permutation(n).reshape(shape) - n / 2 + 0.25) / 4


@samples("reduce_sum", "reduce_mean", "reduce_max", "reduce_min")
def reduce(rng, type):
    for name, (shape, attrs) in WAYS.items():
        yield Sample(dict(X=distinct(rng, shape)), attrs, name=name)
    x = distinct(rng, [2, 3])
    yield Sample(dict(X=x), dict(reduce_all=True, zero_d=True), name="zero_d")
    yield Sample(
        dict(X=x), dict(dim=[1], in_dtype="float64", out_dtype="float64"), name="out_dtype"
    )
    yield Sample(dict(X=rng.integers(-9, 9, [2, 3])), dict(dim=[1]), name="integers")
    integers = dict(X=rng.integers(-9, 9, [2, 3]))
    yield Sample(integers, dict(dim=[0], out_dtype="float32"), name="integers_to_floats")


@samples("amax", "amin")
def shared_extremes(rng, type):
    for name, (shape, attrs) in WAYS.items():
        yield Sample(dict(X=distinct(rng, shape)), attrs, name=name)
    yield Sample(dict(X=distinct(rng, [2, 3])), dict(reduce_all=True, zero_d=True), name="zero_d")
    yield Sample(dict(X=np.array(1.5)), dict(reduce_all=True, zero_d=True), name="number")
    yield Sample(dict(X=rng.integers(-9, 9, [2, 3])), dict(dim=[1]), name="integers")


@samples("reduce_prod")
def reduce_prod(rng):
    for name, (shape, attrs) in WAYS.items():
        yield Sample(dict(X=rng.uniform(0.5, 1.5, shape)), attrs, name=name, order=3)
    x = np.array([[2.0, 0.0, -3.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    yield Sample(dict(X=x), dict(dim=[1]), name="zeros", order=4)
    yield Sample(dict(X=rng.integers(-9, 9, [2, 3])), dict(dim=[1]), name="integers")


@samples("product_slope")
def product_slope(rng):
    yield Sample(dict(X=rng.uniform(0.5, 1.5, [2, 5])), dict(dim=[1]), name="vectors", order=3)
    X, D, E = rng.normal(size=[3, 2, 3, 4])
    yield Sample(dict(X=X), dict(dim=[0, 2]), name="tensors")
    yield Sample(dict(X=X, Directions=[D]), dict(dim=[2]), name="direction", order=3)
    yield Sample(dict(X=X, Directions=[D, E]), dict(dim=[0, 1]), name="directions")
    few = dict(X=X[:1], Directions=[D[:1], E[:1]])
    yield Sample(few, dict(dim=[0]), name="more_directions_than_elements")


@samples("reduce_all", "reduce_any")
def quantifier(rng, type):
    for name, (shape, attrs) in WAYS.items():
        yield Sample(dict(X=rng.random(shape) < 0.5), attrs, name=name)


@samples("mean")
def mean(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=3)
    yield Sample(dict(X=rng.normal(size=[2, 3, 4])), name="cube")
    yield Sample(dict(X=rng.normal(size=[1])), name="one")


@samples("reduce_amax", "reduce_amin")
def shared_extreme_of_paddle_2(rng, type):
    x = rng.permutation(24).reshape([2, 3, 4]).astype(float)
    yield Sample(dict(X=x), dict(dim=[1]))
    yield Sample(dict(X=x), dict(dim=[0, -1], keep_dim=True), "kept")
    yield Sample(dict(X=x), dict(dim=[], reduce_all=True), "all")
