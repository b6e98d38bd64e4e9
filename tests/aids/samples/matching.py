"""Samples of what is matched with what."""

import numpy as np

from .form import Sample, samples


@samples("bipartite_match")
def bipartite_match(rng):
    alike = rng.uniform(size=[3, 5])
    yield Sample(dict(DistMat=alike))
    yield Sample(dict(DistMat=alike), dict(match_type="per_prediction", dist_threshold=0.4))


@samples("target_assign")
def target_assign(rng):
    x, match = rng.normal(size=[3, 4, 2]), np.array([[2, -1, 0, 1]])
    yield Sample(dict(X=x, MatchIndices=match), dict(mismatch_value=7))
    negative = np.array([[1]])
    yield Sample(dict(X=x[:, :1], MatchIndices=match, NegIndices=negative), name="negative")
