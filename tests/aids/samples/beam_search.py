"""Samples of the operators in fluidlite/ops/beam_search.py."""

import numpy as np

from .form import Sample, samples


@samples("beam_search")
def beam_search(rng):
    ins = dict(
        pre_ids=np.array([[1], [0], [3]]), pre_scores=rng.random([3, 1]), scores=rng.random([3, 4])
    )
    lod = ((0, 2, 3), (0, 1, 2, 3))
    attrs = dict(level=0, beam_size=2, end_id=0)
    yield Sample(ins, attrs, lods=dict(pre_ids=lod, pre_scores=lod, scores=lod))
