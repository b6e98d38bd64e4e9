"""Samples of parts of regions that are moved."""

import numpy as np

from .form import Sample, samples

ROIS = np.array([[0.3, 1.2, 4.6, 3.7], [-1.0, 0.0, 9.0, 9.1], [2.4, 2.6, 4.9, 6.4]])
LAYOUT = dict(
    spatial_scale=0.75,
    output_dim=2,
    group_size=[2, 1],
    pooled_height=3,
    pooled_width=2,
    part_size=[1, 2],
    sample_per_part=2,
)


@samples("deformable_psroi_pooling")
def deformable_psroi_pooling(rng):
    inputs = dict(Input=rng.normal(size=[1, 4, 5, 6]), ROIs=ROIS)
    trans = rng.normal(size=[3, 4, 1, 2])
    yield Sample(dict(inputs, Trans=trans), dict(LAYOUT, no_trans=False, trans_std=0.13))
    yield Sample(dict(inputs, Trans=trans[:, :2]), dict(LAYOUT, no_trans=False, trans_std=0.07))
    why = "Trans is not read; it gets zeros in a program, and nothing on a tape"
    attrs = dict(LAYOUT, no_trans=True, trans_std=0.1)
    yield Sample(dict(inputs, Trans=trans), attrs, name="no_trans", order=0, why=why)


@samples("region_points")
def region_points(rng):
    yield Sample(dict(ROIs=ROIS), LAYOUT)
    yield Sample(dict(ROIs=ROIS), dict(LAYOUT, sample_per_part=3), name="three")


@samples("trans_places", "group_places")
def places(rng, type):
    more = dict(component=1, classes=2) if type == "trans_places" else dict(channels=4, size=30)
    yield Sample(dict(Images=np.array([0, 1, 1])), dict(LAYOUT, **more))


@samples("within_image")
def within_image(rng):
    inputs = dict(Y=rng.uniform(-3, 8, size=[3, 4]), X=rng.uniform(-3, 8, size=[3, 4]))
    yield Sample(inputs, dict(height=5, width=6))
