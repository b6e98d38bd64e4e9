"""Samples of texts that are held against each other, and of paths that are followed back."""

import numpy as np

from .form import Sample, samples


@samples("edit_distance")
def edit_distance(rng):
    hyps, refs = rng.integers(0, 3, size=[4, 3]), rng.integers(0, 3, size=[4, 5])
    lengths = dict(HypsLength=np.array([3, 0, 2, 1]), RefsLength=np.array([5, 1, 2, 3]))
    inputs = dict(Hyps=hyps, Refs=refs, **lengths)
    why = dict(order=0, why="tokens are integers", double="")
    yield Sample(inputs, name="padded", **why)
    yield Sample(inputs, dict(normalized=True), name="normalized", **why)
    flat = dict(Hyps=rng.integers(0, 3, size=[5, 1]), Refs=rng.integers(0, 3, size=[7, 1]))
    lods = dict(Hyps=((0, 2, 2, 5),), Refs=((0, 3, 4, 7),))
    yield Sample(flat, name="sequences", lods=lods, **why)


@samples("ctc_align")
def ctc_align(rng):
    labels = rng.integers(0, 3, size=[4, 6])
    inputs = dict(Input=labels, InputLength=np.array([[6], [3], [0], [5]]))
    why = dict(order=0, why="labels are integers")
    yield Sample(inputs, name="padded", **why)
    yield Sample(inputs, dict(blank=2, merge_repeated=False, padding_value=-1), "plain", **why)
    flat = dict(Input=rng.integers(0, 3, size=[9, 1]))
    yield Sample(flat, name="sequences", lods=dict(Input=((0, 4, 4, 9),)), **why)


@samples("gather_tree")
def gather_tree(rng):
    ids, parents = rng.integers(0, 9, size=[4, 2, 3]), rng.integers(0, 3, size=[4, 2, 3])
    yield Sample(dict(Ids=ids, Parents=parents), order=0, why="tokens are integers")
