"""Samples of the operators in fluidlite/ops/indexing.py."""

import numpy as np

from .form import Sample, samples


@samples("index_put")
def index_put(rng):
    x = rng.normal(size=[3, 4, 2])
    rows, columns = np.array([0, 2, 0]), np.array([1, 3, 1])
    value = rng.normal(size=[3, 2])
    yield Sample(dict(x=x, indices=[rows, columns], value=value))
    yield Sample(dict(x=x, indices=[rows, columns], value=value), dict(accumulate=True), "added")
    mask = rng.normal(size=[3, 4]) > 0
    yield Sample(dict(x=x, indices=[mask], value=rng.normal(size=[1])), {}, "mask")
    both = dict(x=x, indices=[rows[:, None], np.array([[0, 1]])], value=rng.normal(size=[1, 2, 2]))
    yield Sample(both, dict(accumulate=True), "spread")


@samples("masked_select")
def masked_select(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x, Mask=x > 0))
    yield Sample(dict(X=x, Mask=x[:, :1] > -9), {}, "spread")


@samples("repeat_interleave")
def repeat_interleave(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(Repeats=3, dim=1))
    yield Sample(dict(X=x, RepeatsTensor=np.array([1, 0, 2])), dict(dim=1), "tensor")
    yield Sample(dict(X=x, RepeatsTensor=np.array([2, 1], "int32")), dict(dim=0), "first")
