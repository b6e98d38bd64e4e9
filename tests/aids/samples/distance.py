"""Samples of the operators in fluidlite/ops/distance.py."""

from .form import Sample, samples
from .vector_norm import off_zero


@samples("dist")
def dist(rng):
    y = rng.normal(size=[2, 3])
    for p in (0.0, 1.0, 2.0, 3.0, float("inf"), float("-inf")):
        yield Sample(dict(X=y + off_zero(rng, [2, 3]), Y=y), dict(p=p), f"p{p}")
    x = rng.normal(size=[4, 2, 3])
    yield Sample(dict(X=x, Y=y[:1]), dict(p=3.0), "stretched")
    yield Sample(dict(X=x, Y=y), dict(zero_d=True), "number")


@samples("squared_l2_distance", "cos_sim")
def rows(rng, type):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x, Y=rng.normal(size=[3, 4])))
    yield Sample(dict(X=x, Y=rng.normal(size=[1, 4])), name="one_row")
    yield Sample(dict(X=rng.normal(size=[3, 2, 4]), Y=rng.normal(size=[3, 2, 4])), name="flat")
