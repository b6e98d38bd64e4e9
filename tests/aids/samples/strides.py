"""Samples of the operators in fluidlite/ops/strides.py."""

import numpy as np

from .form import Sample, samples


@samples("as_strided")
def as_strided(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(input=x), dict(dims=[2, 3], stride=[1, 2]))
    yield Sample(dict(input=x), dict(dims=[5], stride=[2]), "row")
    yield Sample(dict(input=np.arange(6)), dict(dims=[2, 2], stride=[2, 1], offset=8), "offset")


@samples("strided_places")
def strided_places(rng):
    yield Sample({}, dict(dims=[2, 3], stride=[4, 1], first=1))


@samples("tensor_unfold")
def tensor_unfold(rng):
    x = rng.normal(size=[3, 7, 2])
    yield Sample(dict(input=x), dict(axis=1, size=3, step=2))
    yield Sample(dict(input=x), dict(axis=-3, size=2, step=1), "first")


@samples("index_select_strided")
def index_select_strided(rng):
    x = rng.normal(size=[3, 4, 2])
    yield Sample(dict(x=x), dict(index=2))
    yield Sample(dict(x=x), dict(index=1, axis=1), "middle")


@samples("view_shape")
def view_shape(rng):
    yield Sample(dict(input=rng.normal(size=[3, 4])), dict(dims=[2, -1]))


@samples("view_dtype")
def view_dtype(rng):
    x = np.arange(6, dtype="int32").reshape(3, 2)
    yield Sample(dict(input=x), dict(dtype="int64"))
    yield Sample(dict(input=x), dict(dtype="uint8"), "narrow")
    yield Sample(dict(input=x[0]), dict(dtype="float32"), "alike")
