"""Samples of sequences joined, padded, cut and reshaped."""

import numpy as np

from .form import Sample, samples

LODS = {"lengths": ((0, 3, 4, 6),), "empty": ((0, 0, 4, 6),), "one": ((0, 6),)}


@samples("sequence_concat")
def sequence_concat(rng):
    a, b, c = (rng.normal(size=[n, 2]) for n in (3, 4, 2))
    lods = [((0, 1, 3),), ((0, 2, 4),), ((0, 0, 2),)]
    yield Sample(dict(X=[a, b]), name="two", lods=dict(X=lods[:2]))
    yield Sample(dict(X=[a, b, c]), name="empty", lods=dict(X=lods))
    yield Sample(dict(X=[a, b]), name="one", lods=dict(X=[((0, 3),), ((0, 4),)]))


@samples("sequence_pad")
def sequence_pad(rng):
    x = rng.normal(size=[6, 2])
    pads = [np.array([0.5]), np.array([0.5, 0.7]), np.array([0.5])]
    for (name, lod), pad, size in zip(LODS.items(), pads, (-1, 5, 7)):
        inputs = dict(X=x, PadValue=pad)
        yield Sample(inputs, dict(padded_length=size), name, lods=dict(X=lod))
    inputs = dict(X=rng.normal(size=[6, 2, 3]), PadValue=rng.normal(size=[2, 3]))
    yield Sample(inputs, name="matrices", lods=dict(X=((0, 2, 6),)))


@samples("sequence_unpad")
def sequence_unpad(rng):
    x = rng.normal(size=[3, 4, 2])
    yield Sample(dict(X=x, Length=np.array([2, 4, 1])), name="lengths")
    yield Sample(dict(X=x, Length=np.array([2, 0, 4])), name="empty")
    yield Sample(dict(X=rng.normal(size=[2, 3]), Length=np.array([1, 3])), name="numbers")


@samples("sequence_reshape")
def sequence_reshape(rng):
    x = rng.normal(size=[6, 4])
    yield Sample(dict(X=x), dict(new_dim=2), "narrow", lods=dict(X=((0, 3, 4, 6),)))
    yield Sample(dict(X=x), dict(new_dim=8), "wide", lods=dict(X=((0, 4, 4, 6),)))
    lods = dict(X=((0, 1, 3), (0, 1, 3, 6)))
    yield Sample(dict(X=x), dict(new_dim=2), "levels", lods=lods)
