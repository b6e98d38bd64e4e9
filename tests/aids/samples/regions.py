"""Samples of sums over regions of images."""

import numpy as np

from .form import Sample, samples

IMAGES = np.array([0, 1, 1, 0])


@samples("rows_only")
def rows_only(rng):
    yield Sample(dict(X=rng.normal(size=[3, 4])))


@samples("roi_images")
def roi_images(rng):
    rois = rng.normal(size=[5, 4])
    yield Sample(dict(ROIs=rois, Offsets=np.array([0, 2, 2, 5])), dict(images=3), name="offsets")
    yield Sample(dict(ROIs=rois, Counts=np.array([4, 1])), dict(images=2), name="counts")
    yield Sample(dict(ROIs=rois), dict(images=1), name="one")


def blended(rng, by_place):
    """An image, weights of rows and columns, and the shape of the sums."""
    channels = 2 * 2 * 3 if by_place else 2
    inputs = dict(X=rng.normal(size=[2, channels, 5, 6]), Rows=rng.normal(size=[4, 2, 5]))
    return dict(inputs, Columns=rng.normal(size=[4, 3, 6]), Images=IMAGES), (4, 2, 2, 3)


@samples("roi_blend")
def roi_blend(rng):
    for by_place in (False, True):
        yield Sample(blended(rng, by_place)[0], dict(by_place=by_place))


@samples("roi_blend_adjoint")
def roi_blend_adjoint(rng):
    for by_place in (False, True):
        inputs, shape = blended(rng, by_place)
        size = list(inputs.pop("X").shape)
        yield Sample(dict(inputs, G=rng.normal(size=shape)), dict(by_place=by_place, size=size))


@samples("roi_blend_rows")
def roi_blend_rows(rng):
    for by_place in (False, True):
        inputs, shape = blended(rng, by_place)
        del inputs["Rows"]
        yield Sample(dict(inputs, G=rng.normal(size=shape)), dict(by_place=by_place))
