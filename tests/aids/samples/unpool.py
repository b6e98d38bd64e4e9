"""Samples of maxima with their places, and of pyramids."""

import numpy as np

from .form import Sample, samples
from .pool import distinct


@samples("max_pool2d_with_index")
def max_pool2d_with_index(rng):
    for attrs, shape in [
        (dict(ksize=[2, 3]), (2, 3, 4, 5)),
        (dict(ksize=[3, 2], strides=[2, 1], paddings=[1, 1]), (1, 2, 6, 5)),
        (dict(ksize=[2, 3], adaptive=True), (1, 2, 5, 7)),
        (dict(ksize=[1, 1], global_pooling=True), (2, 3, 4, 5)),
    ]:
        yield Sample(dict(X=distinct(rng, shape)), attrs)


@samples("max_pool3d_with_index")
def max_pool3d_with_index(rng):
    for attrs, shape in [
        (dict(ksize=[2, 3, 1], strides=[1, 2, 1]), (2, 3, 3, 5, 2)),
        (dict(ksize=[3, 2, 2], strides=[2, 2, 2], paddings=[1, 0, 1]), (1, 2, 5, 4, 6)),
    ]:
        yield Sample(dict(X=distinct(rng, shape)), attrs)


@samples("unpool")
def unpool(rng):
    attrs = dict(ksize=[2, 3], strides=[2, 1], unpooling_type="max")
    index = rng.permutation(2 * 3 * 6 * 6)[: 2 * 3 * 12].reshape(2, 3, 3, 4) % 36
    yield Sample(dict(X=rng.normal(size=[2, 3, 3, 4]), Indices=index.astype("int32")), attrs)
    attrs = dict(ksize=[3, 2], strides=[1, 2], paddings=[1, 0], unpooling_type="max")
    twice = np.array([[5, 2, 5], [0, 7, 2]]).reshape(1, 1, 2, 3)
    yield Sample(dict(X=rng.normal(size=[1, 1, 2, 3]), Indices=twice), attrs)


@samples("unpool3d")
def unpool3d(rng):
    attrs = dict(ksize=[2, 1, 2], strides=[2, 1, 1])
    index = rng.permutation(24)[:12].reshape(1, 2, 1, 2, 3) % 16
    yield Sample(dict(X=rng.normal(size=[1, 2, 1, 2, 3]), Indices=index.astype("int32")), attrs)
    sized = dict(ksize=[2, 2, 2], strides=[2, 2, 2], output_size=[2, 3, 3])
    yield Sample(dict(X=rng.normal(size=[1, 2, 1, 2, 3]), Indices=index), sized, "sized")


@samples("is_last_in_map")
def is_last_in_map(rng):
    yield Sample(dict(Index=rng.integers(0, 7, size=[2, 3, 1, 4])), dict(size=7))


@samples("spp")
def spp(rng):
    for height, shape in [(2, (2, 3, 4, 5)), (3, (1, 2, 8, 7)), (1, (1, 2, 3, 2))]:
        for pooling_type in ("max", "avg"):
            attrs = dict(pyramid_height=height, pooling_type=pooling_type)
            yield Sample(dict(X=distinct(rng, shape)), attrs)
