"""Samples of the operators in fluidlite/ops/select.py."""

import numpy as np

from .form import Sample, samples


@samples("where")
def where(rng):
    x, y = rng.normal(size=[2, 3]), rng.normal(size=[2, 3])
    condition = np.array([[True, False, True], [False, False, True]])
    yield Sample(dict(Condition=condition, X=x, Y=y))
    integers = dict(Condition=condition[0], X=np.arange(3), Y=np.arange(3) + 5)
    yield Sample(integers, name="integers")


@samples("multiplex")
def multiplex(rng):
    ids = np.array([[1], [0], [2], [1]])
    yield Sample(dict(Ids=ids, X=[rng.normal(size=[4, 2]) for _ in range(3)]))
    yield Sample(dict(Ids=ids[1:2, 0], X=[rng.normal(size=[1, 2, 3])]), name="one")


@samples("index_select")
def index_select(rng):
    x, index = rng.normal(size=[4, 3, 5]), np.array([2, 0, 2, 1])
    yield Sample(dict(X=x, Index=index))
    yield Sample(dict(X=x, Index=index.astype("int32")), dict(dim=-1), "last")
    yield Sample(dict(X=x, Index=index[:2, None]), dict(dim=1), "column")


@samples("index_sample")
def index_sample(rng):
    index = np.array([[2, 0, 2, 1], [1, 1, 0, 2]])
    yield Sample(dict(X=rng.normal(size=[2, 3]), Index=index))
