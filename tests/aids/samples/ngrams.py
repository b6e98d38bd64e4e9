"""Samples of embeddings of n-grams."""

import numpy as np

from .form import Sample, samples


@samples("pyramid_hash")
def pyramid_hash(rng):
    attrs = dict(num_emb=4, space_len=7, rand_len=2, use_filter=False)
    nothing = np.zeros([1, 1])
    for name, more, lod in (
        ("all", dict(is_training=1, pyramid_layer=3), (0, 4, 6)),
        ("dropped", dict(is_training=1, drop_out_percent=0.5, pyramid_layer=5, seed=3), (0, 5, 6)),
        ("short", dict(drop_out_percent=0.5), (0, 1, 1, 6)),
    ):
        inputs = dict(X=rng.integers(0, 9, [6, 1]), W=rng.normal(size=[9, 1]))
        inputs.update(WhiteList=nothing, BlackList=nothing)
        yield Sample(inputs, dict(attrs, **more), name, lods=dict(X=(lod,)))
