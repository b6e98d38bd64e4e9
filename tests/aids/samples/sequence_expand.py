"""Samples of rows and sequences that are repeated."""

import numpy as np

from .form import Sample, samples


def of(lod):
    """A value in sequences whose rows do not matter."""
    return np.zeros([lod[-1][-1], 1])


@samples("sequence_expand")
def sequence_expand(rng):
    y = ((0, 2, 2, 5),)
    rows = rng.normal(size=[3, 2])
    yield Sample(dict(X=rows, Y=of(y)), name="rows", lods=dict(Y=y))
    x = ((0, 1, 3, 4),)
    whole = rng.normal(size=[4, 2])
    yield Sample(dict(X=whole, Y=of(y)), name="sequences", lods=dict(X=x, Y=y))
    y = ((0, 2, 3), (0, 1, 3, 5))
    lods = dict(X=((0, 3, 3),), Y=y)
    yield Sample(dict(X=rows, Y=of(y)), dict(ref_level=0), "outer", lods=lods)
    yield Sample(dict(X=rows, Y=of(y)), dict(ref_level=1), "inner", lods=dict(Y=y))


@samples("sequence_expand_as")
def sequence_expand_as(rng):
    rows = rng.normal(size=[3, 2])
    for name, y in (("lengths", ((0, 2, 3, 6),)), ("empty", ((0, 0, 4, 4),))):
        yield Sample(dict(X=rows, Y=of(y)), name=name, lods=dict(Y=y))
    lods = dict(X=((0, 1, 3),), Y=((0, 1, 2, 5),))
    yield Sample(dict(X=rows, Y=np.zeros([5, 1])), name="sequences", lods=lods)
