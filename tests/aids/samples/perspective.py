"""Samples of quadrangles that are straightened."""

import numpy as np

from .form import Sample, samples

REGIONS = np.array(
    [
        [1.1, 0.9, 5.2, 1.4, 5.6, 4.1, 0.7, 3.8],
        [-2.3, -1.1, 4.4, 0.6, 3.9, 6.2, -0.5, 5.3],
        [2.2, 1.7, 3.1, 1.8, 3.3, 2.9, 2.1, 2.7],
    ]
)


@samples("roi_perspective_transform")
def roi_perspective_transform(rng):
    sizes = dict(transformed_height=4, transformed_width=3)
    yield Sample(dict(X=rng.normal(size=[1, 2, 5, 6]), ROIs=REGIONS), sizes)
    scaled = dict(transformed_height=2, transformed_width=5, spatial_scale=0.75)
    yield Sample(dict(X=rng.normal(size=[1, 3, 4, 7]), ROIs=REGIONS[:2]), scaled, name="scaled")


@samples("perspective_points")
def perspective_points(rng):
    attrs = dict(height=5, width=6, count_down=4, count_across=3, spatial_scale=0.5)
    yield Sample(dict(ROIs=REGIONS, Images=np.array([0, 1, 1])), attrs)
