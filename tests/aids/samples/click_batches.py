"""Samples of the operators in fluidlite/ops/click_batches.py."""

import numpy as np

from .form import Sample, samples


@samples("rank_attention")
def rank_attention(rng):
    offsets = [[1, 1, 0, 2, 1], [2, 1, 0, 2, 1], [-1, -1, -1, -1, -1], [2, 0, 0, 2, 3]]
    for name, dtype in (("", "int32"), ("wide", "int64")):
        inputs = dict(
            X=rng.normal(size=[4, 3]),
            RankOffset=np.array(offsets, dtype),
            RankParam=rng.normal(size=[12, 5]),
        )
        yield Sample(inputs, dict(MaxRank=2), name)


@samples("shuffle_batch")
def shuffle_batch(rng):
    yield Sample(dict(X=rng.normal(size=[5, 3]), Seed=np.array([7])), {}, "seed")
    yield Sample(dict(X=rng.normal(size=[2, 3, 4]), Seed=np.array([3])), {}, "three")
    yield Sample(
        dict(X=rng.normal(size=[4, 2]), Seed=np.array([0])), dict(startup_seed=5), "attribute"
    )
