"""Samples of other shapes of the same elements."""

import numpy as np

from .form import Sample, samples


@samples("reshape", "reshape2")
def reshape(rng, type):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(shape=[6, 4]))
    yield Sample(dict(X=x), dict(shape=[0, -1]), "copied_and_left")
    yield Sample(dict(X=x, Shape=np.array([4, 6])), dict(shape=[2, 12]), "vector")
    sizes = [np.array([3]), np.array([8], np.int32)]
    yield Sample(dict(X=x, ShapeTensor=sizes), dict(shape=[3, -1]), "numbers")
    yield Sample(dict(X=x, ShapeTensor=[np.array([0]), np.array([-1])]), {}, "numbers_only")
    yield Sample(dict(X=rng.integers(9, size=[2, 6])), dict(shape=[3, 4]), "integers")


@samples("transpose", "transpose2")
def transpose(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(axis=[1, 0]))
    yield Sample(dict(X=rng.normal(size=[2, 3, 4])), dict(axis=[2, 0, 1]), "turned")
    yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5])), dict(axis=[0, -2, -1, 1]), "negative")


@samples("squeeze", "squeeze2")
def squeeze(rng, type):
    yield Sample(dict(X=rng.normal(size=[1, 3, 1, 4])), dict(axes=[0, 2]))
    yield Sample(dict(X=rng.normal(size=[2, 3, 1])), dict(axes=[-1]), "negative")
    # A size that is unknown is taken for one that is not 1.
    yield Sample(dict(X=rng.normal(size=[2, 3])), {}, "nothing_to_drop")


@samples("unsqueeze", "unsqueeze2")
def unsqueeze(rng, type):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x), dict(axes=[1]))
    yield Sample(dict(X=x), dict(axes=[0, 3, 1, -1]), "several")
    yield Sample(dict(X=x, AxesTensor=np.array([0, 2])), {}, "vector")
    yield Sample(dict(X=x, AxesTensorList=[np.array([1]), np.array([-1])]), {}, "numbers")


@samples("flatten", "flatten2")
def flatten(rng, type):
    for axis in range(4):
        yield Sample(dict(X=rng.normal(size=[2, 3, 4])), dict(axis=axis), f"axis{axis}")


@samples("shape", "size")
def sizes(rng, type):
    yield Sample(dict(Input=rng.normal(size=[2, 3, 4])))


@samples("flatten_contiguous_range")
def flatten_contiguous_range(rng):
    x = rng.normal(size=[2, 3, 4, 5])
    yield Sample(dict(X=x), dict(start_axis=1, stop_axis=-1))
    yield Sample(dict(X=x), dict(start_axis=-3, stop_axis=2), "middle")
    yield Sample(dict(X=x), dict(start_axis=0, stop_axis=3), "whole")
    yield Sample(dict(X=np.float64(0.5)), dict(start_axis=0, stop_axis=-1), "number")
