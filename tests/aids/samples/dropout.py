"""Samples of the operators in fluidlite/ops/dropout.py."""

import numpy as np

from .form import Sample, samples


@samples("dropout")
def dropout(rng):
    x = rng.normal(size=[4, 5])
    for way in ("downgrade_in_infer", "upscale_in_train"):
        attrs = dict(dropout_prob=0.3, dropout_implementation=way)
        yield Sample(dict(X=x), attrs, way, values_matter=False)
        yield Sample(dict(X=x), dict(attrs, is_test=True), f"{way}-test")
        yield Sample(dict(X=x), dict(attrs, fix_seed=True, seed=3), f"{way}-seed")
    yield Sample(dict(X=x, Seed=np.array([7], np.int32)), name="seed_tensor")
    yield Sample(dict(X=x), dict(dropout_prob=0.0), "nothing")
    everything = dict(dropout_prob=1.0, dropout_implementation="upscale_in_train")
    yield Sample(dict(X=x), everything, "everything")


@samples("dropout_nd")
def dropout_nd(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(dropout_prob=0.4, axis=[0, 2]), values_matter=False)
    yield Sample(dict(X=x), dict(dropout_prob=0.4, is_test=True), "test")
