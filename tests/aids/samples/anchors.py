"""Samples of boxes at each place of a feature map."""

import numpy as np

from .form import Sample, samples

VARIANCES = dict(variances=[0.1, 0.2, 0.3, 0.4])
MAPS = dict(Input=np.zeros([1, 2, 3, 4]), Image=np.zeros([1, 3, 9, 16]))


@samples("prior_box")
def prior_box(rng):
    attrs = dict(VARIANCES, min_sizes=[4.0], max_sizes=[6.0], aspect_ratios=[1.0, 2.0])
    yield Sample(MAPS, attrs)
    more = dict(min_sizes=[2.0, 4.0], max_sizes=[3.0, 5.0], min_max_aspect_ratios_order=True)
    yield Sample(MAPS, dict(attrs, **more, flip=False, clip=False, step_w=2.0, step_h=5.0))
    yield Sample(MAPS, dict(attrs, max_sizes=[], offset=0.25), name="squares")


@samples("density_prior_box")
def density_prior_box(rng):
    attrs = dict(VARIANCES, fixed_sizes=[4.0, 2.0], fixed_ratios=[1.0, 2.0], densities=[2, 1])
    yield Sample(MAPS, attrs)
    yield Sample(MAPS, dict(attrs, flatten_to_2d=True, clip=False, step_w=4.0, step_h=6.0))


@samples("anchor_generator")
def anchor_generator(rng):
    attrs = dict(VARIANCES, anchor_sizes=[32.0, 64.0, 16.0], aspect_ratios=[0.5, 2.0])
    yield Sample(dict(Input=MAPS["Input"]), dict(attrs, stride=[16.0, 8.0]))
