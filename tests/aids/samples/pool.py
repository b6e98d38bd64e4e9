"""Samples of pooling."""

import numpy as np

from .form import Sample, samples

#: attributes, shape of the images
WINDOWS = [
    (dict(ksize=[2, 3]), (2, 3, 4, 5)),
    (dict(ksize=[3, 2], strides=[2, 1], paddings=[1, 0]), (1, 2, 6, 5)),
    (dict(ksize=[3, 3], strides=[2, 2], paddings=[0, 1, 1, 0], ceil_mode=True), (1, 2, 5, 7)),
    (dict(ksize=[1, 1], global_pooling=True), (2, 3, 4, 5)),
    (dict(ksize=[2, 3], adaptive=True), (1, 2, 5, 7)),
    (dict(ksize=[2, 4], adaptive=True), (2, 1, 6, 3)),
    (dict(ksize=[3, 2], strides=[2, 2], padding_algorithm="SAME"), (1, 2, 6, 5)),
    (dict(ksize=[3, 2], padding_algorithm="VALID", paddings=[1, 1]), (1, 2, 6, 5)),
    (dict(ksize=[2, 3], strides=[1, 2], data_format="NHWC"), (1, 4, 5, 2)),
    (dict(ksize=[6, 2], strides=[3, 2], paddings=[1, 0]), (1, 2, 3, 5)),  # reaches beyond
]
INCLUSIVE = (dict(ksize=[3, 2], strides=[2, 2], paddings=[1, 0], exclusive=False), (1, 2, 6, 5))
CLIPPED = (dict(INCLUSIVE[0], clips=True, ceil_mode=True, paddings=[1, 0, 0, 1]), (1, 2, 6, 5))


def distinct(rng, shape):
    """Numbers in a random order, far from each other: none is near to being the largest."""
    return rng.permutation(np.linspace(-2, 2, np.prod(shape))).reshape(shape)


@samples("pool2d")
def pool2d(rng):
    for attrs, shape in WINDOWS:
        for pooling_type in ("max", "avg"):
            yield Sample(dict(X=distinct(rng, shape)), dict(attrs, pooling_type=pooling_type))
    for name, (attrs, shape) in {"inclusive": INCLUSIVE, "clipped": CLIPPED}.items():
        yield Sample(dict(X=distinct(rng, shape)), dict(attrs, pooling_type="avg"), name=name)
    halves = dict(pooling_type="max", ksize=[2, 2], strides=[2, 2])
    yield Sample(dict(X=distinct(rng, (1, 3, 4, 6))), halves, name="side by side")
    # sizes that fit in either order of the dimensions
    halves["data_format"] = "NHWC"
    yield Sample(dict(X=distinct(rng, (1, 4, 4, 4))), halves, name="side by side, channels last")
    ones = dict(pooling_type="max", ksize=[1, 1])
    yield Sample(dict(X=distinct(rng, (1, 2, 3, 4))), ones, name="windows of one element")


@samples("pool2d_adjoint")
def pool2d_adjoint(rng):
    for out, (attrs, shape) in [
        ((2, 3, 3, 3), WINDOWS[0]),
        ((1, 2, 2, 3), WINDOWS[4]),
        ((1, 2, 3, 2), INCLUSIVE),
        ((1, 2, 3, 3), CLIPPED),
    ]:
        yield Sample(dict(G=rng.normal(size=out)), dict(attrs, size=list(shape)))


@samples("pool2d_positions")
def pool2d_positions(rng):
    for attrs, shape in WINDOWS:
        yield Sample(dict(X=distinct(rng, shape)), attrs)


@samples("take_elements")
def take_elements(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Index=rng.integers(0, 6, size=[4, 5])))


@samples("put_elements")
def put_elements(rng):
    index = np.array([[0, 5, 7, 5], [2, 0, 1, 3], [3, 3, 3, 6]])
    yield Sample(dict(X=rng.normal(size=[3, 4]), Index=index), dict(size=[2, 4]))
