"""Samples of poolings of regions."""

import numpy as np

from .form import Sample, samples
from .pool import distinct

ROIS = np.array([[0.3, 1.2, 4.6, 3.7], [-2.0, 0.0, 9.0, 9.1], [2.4, 2.6, 2.9, 3.4]])
OFFSETS, COUNTS = np.array([0, 1, 3]), np.array([1, 2])
PARTS = dict(pooled_height=3, pooled_width=2, spatial_scale=0.75)


@samples("roi_align")
def roi_align(rng):
    inputs = dict(X=rng.normal(size=[2, 3, 5, 6]), ROIs=ROIS, RoisLod=OFFSETS)
    yield Sample(inputs, PARTS)
    yield Sample(inputs, dict(PARTS, sampling_ratio=2), name="two")
    inputs = dict(X=inputs["X"], ROIs=ROIS, RoisNum=COUNTS)
    yield Sample(inputs, dict(PARTS, aligned=True), name="aligned")
    yield Sample(dict(X=rng.normal(size=[1, 2, 5, 6]), ROIs=ROIS), name="one_image")


@samples("roi_pool")
def roi_pool(rng):
    yield Sample(dict(X=distinct(rng, (2, 3, 5, 6)), ROIs=ROIS, RoisLod=OFFSETS), PARTS)
    yield Sample(dict(X=distinct(rng, (1, 2, 5, 6)), ROIs=ROIS), PARTS, name="one_image")
    yield Sample(dict(X=distinct(rng, (2, 3, 5, 6)), ROIs=ROIS, RoisNum=COUNTS), PARTS, "counts")


@samples("roi_positions")
def roi_positions(rng):
    argmax = rng.integers(-1, 20, size=[3, 2, 4, 1])
    yield Sample(dict(Argmax=argmax, Images=np.array([1, 0, 1])), dict(size=[2, 2, 5, 4]))


@samples("psroi_pool")
def psroi_pool(rng):
    attrs = dict(PARTS, output_channels=2)
    yield Sample(dict(X=rng.normal(size=[1, 12, 5, 7]), ROIs=ROIS), attrs)
    inputs = dict(X=rng.normal(size=[2, 12, 5, 7]), ROIs=ROIS, RoisNum=COUNTS)
    yield Sample(inputs, attrs, "counts")


@samples("prroi_pool")
def prroi_pool(rng):
    rois = np.array([[0.3, 1.2, 4.6, 3.7], [-2.1, 0.4, 9.0, 9.1], [2.4, 2.6, 2.9, 3.5]])
    counts = np.array([1, 2])
    yield Sample(dict(X=rng.normal(size=[2, 3, 5, 6]), ROIs=rois, BatchRoINums=counts), PARTS)
    yield Sample(dict(X=rng.normal(size=[1, 2, 4, 6]), ROIs=rois), PARTS, name="one_image")


@samples("roi_align_weights", "psroi_weights")
def weights(rng, type):
    yield Sample(dict(ROIs=ROIS), dict(axis=0, bins=2, size=6, spatial_scale=0.75))
    yield Sample(dict(ROIs=ROIS), dict(axis=1, bins=3, size=5))


@samples("part_numbers")
def part_numbers(rng):
    yield Sample(dict(X=rng.normal(size=[3, 4])), dict(bins=5))


@samples("hat_integral")
def hat_integral(rng):
    yield Sample(dict(X=np.array([[-2.0, -0.7, -0.2], [0.3, 0.9, 1.4]])))
