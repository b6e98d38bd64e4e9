"""Samples of measures of tags and classes."""

import numpy as np

from .form import Sample, samples


@samples("chunk_eval")
def chunk_eval(rng):
    why = dict(order=0, why="tags are integers")
    lengths = np.array([5, 0, 3])
    for scheme, count in dict(IOB=2, IOE=2, IOBES=4, plain=1).items():
        tags = [rng.integers(0, 2 * count + 1, size=[3, 5]) for _ in range(2)]
        inputs = dict(Inference=tags[0], Label=tags[1], SeqLength=lengths)
        attrs = dict(num_chunk_types=2, chunk_scheme=scheme)
        yield Sample(inputs, attrs, scheme.lower(), **why)
    yield Sample(inputs, dict(attrs, excluded_chunk_types=[1]), "excluded", **why)
    tags = [rng.integers(0, 5, size=[7, 1]) for _ in range(2)]
    lod = ((0, 4, 4, 7),)
    lods = dict(Inference=lod, Label=lod)
    inputs = dict(Inference=tags[0], Label=tags[1])
    yield Sample(inputs, dict(num_chunk_types=2), "sequences", lods=lods, **why)


@samples("precision_recall")
def precision_recall(rng):
    inputs = dict(
        MaxProbs=rng.uniform(size=[6, 1]),
        Indices=rng.integers(0, 4, size=[6, 1]),
        Labels=rng.integers(0, 4, size=[6, 1]),
    )
    why = dict(order=0, why="classes are counted", double="metrics are float64, as in fluid")
    yield Sample(inputs, dict(class_number=4), **why)
    more = dict(Weights=rng.uniform(size=[6, 1]), StatesInfo=rng.uniform(size=[4, 4]))
    yield Sample({**inputs, **more}, dict(class_number=4), "accumulated", **why)
