"""Samples of the operators in fluidlite/ops/rows.py.

Where rows of a tensor are expected, whole tensors are given: those have all rows.
"""

import numpy as np

from .form import Sample, samples


@samples("selected_rows")
def selected_rows(rng):
    inputs = dict(Ids=np.array([2, 0, 2, 5]), Updates=rng.normal(size=[4, 3]))
    yield Sample(inputs, dict(height=6))
    yield Sample(inputs, dict(height=7, padding_idx=2), "padding")


@samples("merge_selected_rows", "get_tensor_from_selected_rows")
def converted(rng, type):
    yield Sample(dict(X=rng.normal(size=[3, 2])), order=0, why="fluid has no gradient of it")
