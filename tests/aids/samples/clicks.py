"""Samples of the operators in fluidlite/ops/clicks.py."""

from .form import Sample, samples


@samples("cvm")
def cvm(rng):
    inputs = dict(X=rng.uniform(0.5, 2.0, [3, 4]), CVM=rng.uniform(size=[3, 2]))
    why = "the gradient of the counts tells what was counted"
    for use in (True, False):
        yield Sample(inputs, dict(use_cvm=use), f"use_cvm={use}", order=0, why=why)


@samples("hash")
def hash(rng):
    yield Sample(dict(X=rng.integers(0, 1000, size=[4, 1])), dict(num_hash=3, mod_by=1000))
    yield Sample(dict(X=rng.integers(-9, 9, size=[2, 11])), dict(mod_by=7), "long")
    yield Sample(dict(X=rng.integers(0, 9, size=[2, 3]).astype("int32")), name="narrow")
