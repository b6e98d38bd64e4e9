"""Samples of the operators in fluidlite/ops/sparse.py."""

import numpy as np

from .form import Sample, samples

ROWS, COLS = np.array([0, 2, 0, 3, 2]), np.array([1, 0, 1, 4, 3])


@samples("sparse_product")
def sparse_product(rng):
    ins = dict(Rows=ROWS, Cols=COLS, Values=rng.normal(size=[5]), Dense=rng.normal(size=[6, 3]))
    yield Sample(ins, dict(size=4))
    yield Sample(
        {**ins, "Rows": ROWS[:0], "Cols": COLS[:0], "Values": np.zeros(0)}, dict(size=2), "none"
    )


@samples("sampled_product")
def sampled_product(rng):
    ins = dict(Rows=ROWS, Cols=COLS, X=rng.normal(size=[4, 3]), Y=rng.normal(size=[6, 3]))
    yield Sample(ins)
