"""Samples of the operators in fluidlite/ops/segments.py."""

import numpy as np

from .form import Sample, samples


@samples("bare_rows")
def bare_rows(rng):
    yield Sample(dict(X=rng.normal(size=[3, 2])))


@samples("take_rows")
def take_rows(rng):
    x = rng.normal(size=[5, 3])
    yield Sample(dict(X=x, Index=np.array([3, 0, 3, 4])), name="repeated")
    yield Sample(dict(X=x, Index=np.array([3, -1, 0, -1])), name="zeros")


@samples("add_rows")
def add_rows(rng):
    updates = rng.normal(size=[4, 3])
    yield Sample(dict(Index=np.array([3, 0, 3, 4]), Updates=updates), dict(size=5), "repeated")
    yield Sample(dict(Index=np.array([3, -1, 0, 1]), Updates=updates), dict(size=4), "left_out")


@samples("segment_sum")
def segment_sum(rng):
    x = rng.normal(size=[5, 3])
    yield Sample(dict(X=x, Offsets=np.array([0, 2, 5])), name="filled")
    yield Sample(dict(X=x, Offsets=np.array([0, 0, 2, 2, 5, 5])), name="empty")


@samples("segment_spread")
def segment_spread(rng):
    x = rng.normal(size=[3, 2])
    yield Sample(dict(X=x, Offsets=np.array([0, 2, 2, 5])), name="empty")


@samples("like_rows")
def like_rows(rng):
    ins = dict(X=rng.normal(size=[5, 3]), Like=np.zeros([5, 1]))
    yield Sample(ins, lods=dict(Like=((0, 2, 5),)))


@samples("segment_argmax", "segment_max")
def largest(rng, type):
    x = rng.permutation(15).reshape(5, 3) * 0.1
    yield Sample(dict(X=x, Offsets=np.array([0, 2, 5])), name="filled")
    yield Sample(dict(X=x, Offsets=np.array([0, 0, 2, 2, 5, 5])), name="empty")


@samples("segment_top")
def segment_top(rng):
    inputs = dict(X=rng.normal(size=[7]), Begins=np.array([0, 3, 3]), Counts=np.array([3, 0, 4]))
    yield Sample(inputs, dict(k=2))
    yield Sample(inputs, dict(k=5), "more")
