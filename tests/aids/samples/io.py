"""Samples of the operators in fluidlite/ops/io.py."""

from .form import Sample, samples


@samples("feed", "fetch", "fetch_v2")
def pass_through(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(col=1))


@samples("share_data", "memcpy", "memcpy_d2h", "memcpy_h2d")
def handed_on(rng, type):
    attrs = {} if type == "share_data" else dict(dst_place_type=0)
    yield Sample(dict(X=rng.normal(size=[2, 3])), attrs)
