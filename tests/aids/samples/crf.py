"""Samples of the operators in fluidlite/ops/crf.py."""

import numpy as np

from .form import Sample, samples
from .lstm import LODS


def chains(rng, shape, tags=3):
    return dict(
        Emission=rng.normal(size=[*shape, tags]),
        Transition=rng.normal(size=[tags + 2, tags]),
        Label=rng.integers(0, tags, [*shape, 1]),
    )


@samples("linear_chain_crf")
def linear_chain_crf(rng):
    for name, lod in LODS.items():
        yield Sample(chains(rng, [5]), name=f"lod{name}", lods=dict(Emission=lod, Label=lod))
    lengths = dict(Length=np.array([[4], [0], [2]]))
    yield Sample(chains(rng, [3, 4], 2) | lengths, name="padded")


@samples("crf_decoding")
def crf_decoding(rng):
    for name, lod in LODS.items():
        given = chains(rng, [5])
        yield Sample(given, name=f"label{name}", lods=dict(Emission=lod, Label=lod))
        del given["Label"]
        yield Sample(given, name=f"path{name}", lods=dict(Emission=lod))
    lengths = dict(Length=np.array([[4], [0], [2]]))
    yield Sample(chains(rng, [3, 4], 2) | lengths, name="padded")
