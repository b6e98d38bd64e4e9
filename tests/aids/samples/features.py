"""Samples of features marked, cropped and shifted."""

import numpy as np

from .form import Sample, samples

LODS = {"lengths": ((0, 3, 4, 6),), "empty": ((0, 0, 5, 6),), "levels": ((0, 2, 3), (0, 1, 3, 6))}


@samples("add_position_encoding")
def add_position_encoding(rng):
    yield Sample(dict(X=rng.normal(size=[2, 5, 6])), dict(alpha=0.5, beta=2.0))
    yield Sample(dict(X=rng.normal(size=[1, 3, 2])))
    for name, lod in LODS.items():
        yield Sample(dict(X=rng.normal(size=[6, 4])), dict(beta=0.5), name, lods=dict(X=lod))


@samples("similarity_focus")
def similarity_focus(rng):
    x = rng.normal(size=[2, 3, 4, 5])
    yield Sample(dict(X=x), dict(axis=1, indexes=[0, 2]))
    yield Sample(dict(X=x), dict(axis=2, indexes=[3]))
    yield Sample(dict(X=x), dict(axis=3, indexes=[4, 1]))


@samples("random_crop")
def random_crop(rng):
    x = rng.normal(size=[2, 3, 4, 5])
    for seed, name in ((7, "seeded"), (0, "unseeded")):
        inputs = dict(X=x, Seed=np.array([seed]))
        yield Sample(inputs, dict(shape=[2, 3]), name=name, values_matter=bool(seed))


@samples("conv_shift")
def conv_shift(rng):
    yield Sample(dict(X=rng.normal(size=[2, 7]), Y=rng.normal(size=[2, 3])))
    yield Sample(dict(X=rng.normal(size=[4, 5]), Y=rng.normal(size=[4, 5])))


@samples("conv_shift_adjoint")
def conv_shift_adjoint(rng):
    yield Sample(dict(X=rng.normal(size=[2, 7]), Y=rng.normal(size=[2, 7])), dict(size=3))


@samples("row_conv")
def row_conv(rng):
    yield Sample(dict(X=rng.normal(size=[2, 5, 3]), Filter=rng.normal(size=[4, 3])))
    yield Sample(dict(X=rng.normal(size=[1, 2, 3]), Filter=rng.normal(size=[1, 3])))
    for name, lod in LODS.items():
        inputs = dict(X=rng.normal(size=[6, 3]), Filter=rng.normal(size=[4, 3]))
        yield Sample(inputs, name=name, lods=dict(X=lod))


@samples("correlation")
def correlation(rng):
    pictures = dict(Input1=rng.normal(size=[1, 2, 5, 4]), Input2=rng.normal(size=[1, 2, 5, 4]))
    steps = dict(stride1=1, stride2=1)
    yield Sample(pictures, dict(pad_size=1, kernel_size=1, max_displacement=1, **steps))
    steps = dict(stride1=2, stride2=2)
    yield Sample(pictures, dict(pad_size=2, kernel_size=3, max_displacement=2, **steps), "steps")
