"""Samples of elements at indices along a dimension."""

import numpy as np

from .form import Sample, samples


@samples("take_along_axis")
def take_along_axis(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(Input=x, Index=rng.integers(3, size=[2, 5, 4])), dict(Axis=1))
    yield Sample(dict(Input=x, Index=rng.integers(4, size=[1, 2, 3])), dict(Axis=-1), "fewer")


@samples("put_along")
def put_along(rng):
    inputs = dict(X=rng.normal(size=[2, 4]), Index=np.array([[0, 3, 0]]))
    yield Sample(inputs | dict(Value=rng.normal(size=[1, 3])), dict(axis=1))
    inputs = dict(inputs, Index=np.array([[0, 3, 0], [1, 1, 2]]), Value=rng.normal(size=[2, 3]))
    yield Sample(inputs, dict(axis=-1, adds=True), "added")


@samples("put_along_axis")
def put_along_axis(rng):
    index = np.array([[0, 0, 2], [2, 1, 2]])
    inputs = dict(
        Input=rng.permutation(8).reshape(2, 4) + 0.5,
        Index=index,
        Value=rng.permutation(6).reshape(2, 3) + 1.0,
    )
    for reduce in ("assign", "add", "mean", "mul", "amin", "amax"):
        for itself in (True, False):
            attrs = dict(Axis=1, Reduce=reduce, Include_self=itself)
            yield Sample(inputs, attrs, f"{reduce}_{itself}")
    fewer = {slot: value[:1] if slot != "Input" else value for slot, value in inputs.items()}
    yield Sample(fewer, dict(Axis=-1, Reduce="add"), "fewer")
