"""Samples of convolution over trees."""

import numpy as np

from .form import Sample, samples

EDGES = np.array([[[1, 2], [1, 3], [1, 4], [3, 5]], [[2, 1], [1, 3], [0, 0], [0, 0]]], "int32")


@samples("tree_conv")
def tree_conv(rng):
    inputs = dict(
        NodesVector=rng.normal(size=[2, 5, 3]), EdgeSet=EDGES, Filter=rng.normal(size=[3, 3, 4, 2])
    )
    yield Sample(inputs)
    yield Sample(inputs, dict(max_depth=3), "deeper")


@samples("tree_places")
def tree_places(rng):
    ratios = dict(double="shares are ratios of integers")
    attrs = dict(nodes=5, max_depth=3)
    yield Sample(dict(EdgeSet=EDGES), attrs, order=0, why="edges are integers", **ratios)
