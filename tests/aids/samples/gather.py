"""Samples of the operators in fluidlite/ops/gather.py."""

import numpy as np

from .form import Sample, samples


@samples("gather")
def gather(rng):
    x = rng.normal(size=[5, 3, 2])
    yield Sample(dict(X=x, Index=np.array([3, 0, 3, 4])), name="repeated")
    yield Sample(dict(X=x, Index=np.array([[2], [1]])), name="column")
    yield Sample(dict(X=x[:, 0, 0], Index=np.array([4, 1], np.int32)), name="numbers")
    yield Sample(dict(X=x, Index=np.array([1, 0, 1])), dict(axis=-1), "last")
    yield Sample(dict(X=x, Index=np.array(2)), dict(axis=1), "one")
    yield Sample(dict(X=x, Index=np.array([2, 1]), Axis=np.array([1])), name="tensor")


@samples("index_add")
def added_slices(rng):
    x, index = rng.normal(size=[5, 3, 2]), np.array([3, 0, 3, 4])
    yield Sample(dict(X=x, Index=index, AddValue=rng.normal(size=[4, 3, 2])))
    yield Sample(
        dict(X=x, Index=index[1:2], AddValue=rng.normal(size=[5, 3, 1])), dict(axis=-1), "last"
    )


@samples("gather_adjoint")
def gather_adjoint(rng):
    index = np.array([3, 0, 3, 4])
    yield Sample(dict(Index=index, Updates=rng.normal(size=[4, 3, 2])), dict(size=5))
    yield Sample(dict(Index=index[:, None], Updates=rng.normal(size=[4])), dict(size=6), "column")


@samples("scatter")
def scatter(rng):
    x, ids, updates = rng.normal(size=[5, 3]), np.array([3, 0, 3, 4]), rng.normal(size=[4, 3])
    for overwrite in (True, False):
        attrs, name = dict(overwrite=overwrite), "overwrite" if overwrite else "add"
        yield Sample(dict(X=x, Ids=ids, Updates=updates), attrs, name)
    column = dict(X=x[:, 0], Ids=ids[:, None], Updates=updates[:, 0])
    yield Sample(column, name="column")


@samples("is_last_occurrence")
def is_last_occurrence(rng):
    yield Sample(dict(Index=np.array([3, 0, 3, 4, 0])), dict(size=6))
    yield Sample(dict(Index=np.array([[1], [1], [0]])), dict(size=2), "column")


@samples("gather_nd", "scatter_nd_add")
def places(rng, type):
    x = rng.normal(size=[4, 3, 2])
    for name, index in (
        ("full", [[3, 2, 1], [0, 0, 0], [3, 2, 1], [1, 0, 1], [3, 2, 1]]),
        ("slices", [[[3], [0]], [[3], [1]], [[2], [2]]]),
        ("pairs", [[0, 2], [3, 1], [0, 2]]),
    ):
        inputs = dict(X=x, Index=np.array(index))
        if type == "scatter_nd_add":
            inputs["Updates"] = rng.normal(size=x[tuple(np.moveaxis(inputs["Index"], -1, 0))].shape)
        yield Sample(inputs, name=name)


@samples("take_along")
def take_along(rng):
    x = rng.normal(size=[2, 4, 3])
    yield Sample(dict(X=x, Index=rng.integers(3, size=[2, 4, 5])), name="last")
    yield Sample(dict(X=x, Index=rng.integers(4, size=[2, 1, 3])), dict(axis=1), "middle")


@samples("add_along")
def add_along(rng):
    g = rng.normal(size=[2, 4, 3])
    yield Sample(dict(Index=rng.integers(5, size=g.shape), Updates=g), dict(size=5), "last")
    yield Sample(
        dict(Index=rng.integers(2, size=g.shape), Updates=g), dict(size=6, axis=-2), "axis"
    )


@samples("one_hot", "one_hot_v2")
def one_hot(rng, type):
    x = np.array([[2], [0], [3], [2]])
    yield Sample(dict(X=x), dict(depth=5))
    yield Sample(dict(X=x), dict(depth=3, allow_out_of_range=True, dtype="int64"), "out_of_range")
    yield Sample(dict(X=x, depth_tensor=np.array([6], np.int32)), name="tensor")
    if type == "one_hot_v2":
        yield Sample(dict(X=x[:, 0]), dict(depth=4), "row")


@samples("lookup_table", "lookup_table_v2")
def lookup_table(rng, type):
    table, ids = rng.normal(size=[6, 3]), np.array([[2], [0], [2], [5]])
    yield Sample(dict(W=table, Ids=ids), name="repeated")
    yield Sample(dict(W=table, Ids=ids), dict(padding_idx=2), "padding")
    yield Sample(dict(W=table, Ids=ids.reshape([2, 2, 1])), dict(is_sparse=True), "rank3")
    if type == "lookup_table_v2":
        yield Sample(dict(W=table, Ids=ids[:, 0]), dict(padding_idx=0), "row")


@samples("lookup_table_adjoint")
def lookup_table_adjoint(rng):
    inputs = dict(Ids=np.array([2, 0, 2, 5]), Updates=rng.normal(size=[4, 3]))
    yield Sample(inputs, dict(size=6))
    yield Sample(inputs, dict(size=7, padding_idx=2), "padding")
