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
    why = "the rule does not read X, whose shape it would need"
    yield Sample(dict(X=x), dict(flatten=True, reverse=True), "flat", 0, why)


@samples("roll")
def roll(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(shifts=[1, -6], dims=[-1, 0]))
    yield Sample(dict(X=x), name="not_at_all")


@samples("cumprod")
def cumprod(rng):
    x = rng.normal(size=[2, 5, 3])
    yield Sample(dict(X=x), dict(dim=1))
    yield Sample(dict(X=x), dict(dim=-1), "last")
    yield Sample(dict(X=np.array([2.0, 0.0, 3.0, 0.0])), dict(dim=0), "zeros")
    yield Sample(dict(X=rng.integers(1, 4, [4])), dict(dim=0), "integers")
