"""Samples of the operators in fluidlite/ops/search.py."""

import numpy as np

from .form import Sample, samples


@samples("arg_max", "arg_min")
def extreme(rng, type):
    x = rng.permutation(24).reshape([2, 3, 4])
    yield Sample(dict(X=x.astype(float)), dict(axis=1))
    yield Sample(dict(X=x), dict(axis=-1, keepdims=True, dtype="int32"), "kept")
    yield Sample(dict(X=x[0, 0]), dict(axis=0), "vector")
    yield Sample(dict(X=x), dict(axis=0, flatten=True, keepdims=True), "flat")


@samples("argsort")
def argsort(rng):
    x = rng.permutation(24).reshape([2, 3, 4])
    yield Sample(dict(X=x.astype(float)), dict(axis=1))
    yield Sample(dict(X=x.astype(float)), dict(descending=True), "descending")
    yield Sample(dict(X=x), dict(axis=0), "integers")


@samples("where_index")
def where_index(rng):
    x = np.array([[0.0, 2.0, 0.0], [-1.0, 0.0, 3.0]])
    yield Sample(dict(Condition=x))
    yield Sample(dict(Condition=x > 0), name="truths")
    yield Sample(dict(Condition=x[0] > 5), name="nowhere")


@samples("unique", "unique_with_counts")
def unique(rng, type):
    yield Sample(dict(X=np.array([3, 1, 3, 2, 1, 3])), dict(dtype="int32"))
    yield Sample(dict(X=np.array([0.5, 2.0, 0.5])), dict(dtype="int64"), "floats")
    if type == "unique":
        matrix = np.array([[3, 1, 3], [2, 1, 3], [3, 1, 3]])
        yield Sample(dict(X=matrix), dict(dtype="int64", is_sorted=True), "sorted")
        rows = dict(dtype="int32", is_sorted=True, axis=[0])
        yield Sample(dict(X=matrix), rows, "rows")


@samples("shard_index")
def shard_index(rng):
    x = np.array([[1], [7], [12], [5]])
    yield Sample(dict(X=x), dict(index_num=13, nshards=3, shard_id=1))
    attrs = dict(index_num=13, nshards=3, shard_id=2, ignore_value=-7)
    yield Sample(dict(X=x.astype("int32")), attrs, "last")


@samples("mode_place")
def mode_place(rng):
    x = rng.integers(0, 3, [4, 5, 6])
    yield Sample(dict(X=x))
    yield Sample(dict(X=x.astype("float64")), dict(axis=1), name="middle")
