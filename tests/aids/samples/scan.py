"""Samples of the operators in fluidlite/ops/scan.py."""

import numpy as np

from .form import Sample, samples


@samples("cumsum")
def cumsum(rng):
    x = rng.normal(size=[2, 3, 4])
    for exclusive in (False, True):
        for reverse in (False, True):
            attrs = dict(axis=1, exclusive=exclusive, reverse=reverse)
            yield Sample(dict(X=x), attrs, f"exclusive={exclusive},reverse={reverse}")
    yield Sample(dict(X=np.arange(6).reshape([2, 3])), name="integers")


@samples("roll")
def roll(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(shifts=[1, -6], dims=[-1, 0]))
    yield Sample(dict(X=x), name="not_at_all")
