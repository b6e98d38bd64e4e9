"""Samples of lengths as masks."""

import numpy as np

from .form import Sample, samples


@samples("sequence_mask")
def sequence_mask(rng):
    lengths = np.array([[3, 0], [5, 1], [2, 2]])
    why = dict(order=0, why="lengths are integers")
    yield Sample(dict(X=lengths), dict(out_dtype="int64"), "longest", **why)
    yield Sample(dict(X=lengths), dict(out_dtype="bool", maxlen=4), "maxlen", **why)
    given = dict(X=lengths, MaxLenTensor=np.array([7], "int32"))
    yield Sample(given, dict(out_dtype="int32"), "tensor", **why)


@samples("positions_below")
def positions_below(rng):
    why = dict(order=0, why="lengths are integers")
    yield Sample(dict(X=np.array([3, 0, 5])), dict(width=4, out_dtype="float32"), **why)


@samples("longest")
def longest(rng):
    yield Sample(dict(X=np.array([3, 0, 5])), order=0, why="lengths are integers")
