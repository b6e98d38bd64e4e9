"""Samples of the operator in fluidlite/ops/viterbi.py."""

import numpy as np

from .form import Sample, samples


@samples("viterbi_decode")
def viterbi_decode(rng):
    given = dict(
        Input=rng.normal(size=[3, 4, 5]),
        Transition=rng.normal(size=[5, 5]),
        Length=np.array([4, 0, 2]),
    )
    yield Sample(given, name="ends")
    yield Sample(given, dict(include_bos_eos_tag=False), "bare")
