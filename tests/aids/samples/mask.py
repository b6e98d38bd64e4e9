"""Samples of the operators in fluidlite/ops/mask.py."""

import numpy as np

from .form import Sample, samples

MASK = np.array([[True], [False], [True], [True], [False]])


@samples("split_lod_tensor")
def split_lod_tensor(rng):
    yield Sample(dict(X=rng.normal(size=[5, 3, 2]), Mask=MASK))
    yield Sample(dict(X=rng.normal(size=[5]), Mask=~MASK[:, 0]), name="numbers")
    yield Sample(dict(X=rng.normal(size=[5, 3]), Mask=np.ones([5, 1], bool)), name="all")


@samples("merge_lod_tensor", "merge_lod_tensor_infer")
def merge_lod_tensor(rng, type):
    x = rng.normal(size=[5, 2])
    parts = dict(InTrue=rng.normal(size=[3, 4]), InFalse=rng.normal(size=[2, 4]))
    yield Sample(dict(X=x, Mask=MASK, **parts))
    parts = dict(InTrue=rng.normal(size=[0, 4]), InFalse=rng.normal(size=[5, 4]))
    yield Sample(dict(X=x, Mask=np.zeros([5, 1], bool), **parts), name="none")
