"""Samples of the operators in fluidlite/ops/io.py."""

from .form import Sample, samples


@samples("feed", "fetch")
def pass_through(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(col=1))
