"""Samples of rows of sequences that are chosen and turned round."""

import numpy as np

from .form import Sample, samples

LODS = {"lengths": ((0, 3, 4, 6),), "empty": ((0, 0, 3, 6),), "levels": ((0, 2, 3), (0, 1, 3, 6))}


@samples("sequence_reverse")
def sequence_reverse(rng):
    for name, lod in LODS.items():
        yield Sample(dict(X=rng.normal(size=[6, 2])), name=name, lods=dict(X=lod))


@samples("sequence_slice")
def sequence_slice(rng):
    x = rng.normal(size=[6, 2])
    parts = {
        "lengths": (((0, 3, 4, 6),), [1, 0, 0], [2, 1, 1]),
        "empty": (((0, 0, 3, 6),), [0, 1, 2], [0, 2, 1]),
        "nothing": (((0, 2, 6),), [1, 2], [0, 2]),
    }
    for name, (lod, offset, length) in parts.items():
        numbers = dict(Offset=np.array([offset]).T, Length=np.array([length]).T)
        yield Sample(dict(X=x, **numbers), name=name, lods=dict(X=lod))


@samples("sequence_scatter")
def sequence_scatter(rng):
    ids = np.array([[0, 1, 1, 5, 4]]).T
    for name, lod in (("two", ((0, 3, 5),)), ("empty", ((0, 3, 3, 5),)), ("one", ((0, 5),))):
        inputs = dict(X=rng.normal(size=[len(lod[0]) - 1, 6]), Ids=ids)
        inputs["Updates"] = rng.normal(size=[5, 1])
        yield Sample(inputs, name=name, lods=dict(Ids=lod, Updates=lod))


@samples("sequence_enumerate")
def sequence_enumerate(rng):
    x = rng.integers(9, size=[6, 1])
    for (name, lod), size in zip(LODS.items(), (2, 4, 1)):
        attrs = dict(win_size=size, pad_value=7)
        yield Sample(dict(X=x), attrs, name, lods=dict(X=lod))


@samples("sequence_erase")
def sequence_erase(rng):
    x = rng.integers(4, size=[6, 1])
    for (name, lod), tokens in zip(LODS.items(), ([1, 3], [0], [])):
        yield Sample(dict(X=x), dict(tokens=tokens), name, lods=dict(X=lod))
