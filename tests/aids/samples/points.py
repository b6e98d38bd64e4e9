"""Samples of images between their elements."""

import numpy as np

from .form import Sample, samples


def within(rng, shape, low, high):
    """Points from ``low`` to ``high``, away from the middle and the ends of the way between two."""
    return rng.integers(low, high, size=shape) + rng.uniform(0.1, 0.9, size=shape)


@samples("weighted_take")
def weighted_take(rng):
    inputs = dict(X=rng.normal(size=[2, 3, 5]), Index=rng.integers(0, 5, size=[2, 4, 6]))
    yield Sample(dict(inputs, Weight=rng.normal(size=[2, 4, 6])))


@samples("weighted_put")
def weighted_put(rng):
    inputs = dict(X=rng.normal(size=[2, 3, 4]), Index=rng.integers(0, 5, size=[2, 4, 6]))
    yield Sample(dict(inputs, Weight=rng.normal(size=[2, 4, 6])), dict(size=5))


@samples("weighted_dot")
def weighted_dot(rng):
    inputs = dict(X=rng.normal(size=[2, 3, 5]), Y=rng.normal(size=[2, 3, 4]))
    yield Sample(dict(inputs, Index=rng.integers(0, 5, size=[2, 4, 6])))


@samples("neighbours", "neighbour_slopes")
def neighbours(rng, type):
    yield Sample(dict(X=within(rng, [3, 4], -2, 6)), dict(size=5))
    yield Sample(dict(X=within(rng, [2, 3], -2, 6)), dict(size=5, open_end=True), "open")


@samples("grid_sampler")
def grid_sampler(rng):
    places = within(rng, [2, 3, 6, 2], -2, 5)
    grid = places / [(5 - 1) / 2, (4 - 1) / 2] - 1  # elements of images of 4 x 5 as -1 to 1
    yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5]), Grid=grid))
    for mode, padding in (("bilinear", "border"), ("bilinear", "reflection"), ("nearest", "zeros")):
        images = dict(X=rng.normal(size=[2, 1, 4, 5]), Grid=grid * 0.93)
        attrs = dict(mode=mode, padding_mode=padding, align_corners=False)
        yield Sample(images, attrs, f"{mode}_{padding}")


@samples("affine_grid")
def affine_grid(rng):
    theta = rng.normal(size=[2, 2, 3])
    yield Sample(dict(Theta=theta), dict(output_shape=[2, 3, 4, 5]))
    shape = np.array([2, 7, 3, 1], "int32")
    yield Sample(dict(Theta=theta, OutputShape=shape), name="shape_tensor")
    edges = dict(output_shape=[2, 3, 4, 5], align_corners=False)
    yield Sample(dict(Theta=theta), edges, "edges")


@samples("plane_points")
def plane_points(rng):
    yield Sample(dict(), dict(height=3, width=4))
