"""Samples of the operators in fluidlite/ops/averaging.py."""

import numpy as np

from .form import Sample, samples


@samples("average_accumulates")
def average_accumulates(rng):
    sums = {f"in_sum_{k}": rng.normal(size=[2, 3]) for k in (1, 2, 3)}
    inputs = dict(
        sums,
        param=rng.normal(size=[2, 3]),
        in_num_accumulates=np.array([4]),
        in_old_num_accumulates=np.array([3]),
        in_num_updates=np.array([7]),
    )
    window = dict(average_window=0.5, max_average_window=10)
    yield Sample(inputs, dict(window, min_average_window=9))
    yield Sample(inputs, dict(window, min_average_window=2), "full")
