"""Samples of sequences that are formed anew."""

import numpy as np

from .form import Sample, samples


@samples("lod_reset")
def lod_reset(rng):
    x = rng.normal(size=[6, 2])
    of = dict(X=((0, 3, 4, 6),))
    yield Sample(dict(X=x), dict(target_lod=[0, 2, 6]), "given")
    yield Sample(dict(X=x), dict(target_lod=[0, 0, 6]), "anew", lods=of)
    levels = dict(of, Y=((0, 1, 3), (0, 1, 3, 6)))
    yield Sample(dict(X=x, Y=np.zeros([6, 1])), name="levels", lods=levels)
    yield Sample(dict(X=x, Y=np.array([0, 1, 6], "int32")), name="numbers", lods=of)
    attrs = dict(target_lod=[0, 1, 2, 3, 6], append=True)
    yield Sample(dict(X=x), attrs, "appended", lods=dict(X=((0, 1, 4),)))
