"""Samples of the operators in fluidlite/ops/ranks.py."""

import numpy as np

from .form import Sample, samples


@samples("kthvalue", "mode")
def ranked(rng, type):
    x = rng.permutation(24).reshape([2, 3, 4])
    yield Sample(dict(X=x.astype(float)), dict(axis=1))
    yield Sample(dict(X=x.astype(float)), dict(keepdim=True), "kept")
    if type == "kthvalue":
        yield Sample(dict(X=x.astype(float)), dict(k=3, axis=-2), "third")
    yield Sample(dict(X=rng.integers(0, 3, [3, 7])), {}, "ties")


@samples("nanmedian")
def nanmedian(rng):
    x = rng.permutation(24).reshape([2, 3, 4]).astype(float)
    yield Sample(dict(X=x))
    yield Sample(dict(X=x), dict(axis=[1], keepdim=False), "odd")
    yield Sample(dict(X=x), dict(axis=[-1, 0]), "two")
    gaps = np.where(x % 5 == 0, np.nan, x)
    yield Sample(dict(X=gaps), dict(axis=[2]), "nan", order=0, why="differences with NaN are NaN")


@samples("middle_places")
def middle_places(rng):
    yield Sample(dict(X=rng.permutation(12).reshape([3, 4]).astype(float)))


@samples("cummax", "cummin")
def so_far(rng, type):
    x = rng.permutation(24).reshape([2, 3, 4]).astype(float)
    yield Sample(dict(x=x), dict(axis=1))
    yield Sample(dict(x=x), dict(dtype="int32"), "int32")
    yield Sample(dict(x=rng.integers(0, 3, [4, 6])), dict(axis=0), "ties")
