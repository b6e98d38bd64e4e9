"""Samples of the operators in fluidlite/ops/transducer.py."""

import numpy as np

from .form import Sample, samples


@samples("warprnnt")
def warprnnt(rng):
    x = rng.normal(size=[2, 4, 3, 5])
    x = x - np.log(np.exp(x).sum(axis=-1, keepdims=True))
    ins = dict(input=x, label=np.array([[1, 2], [4, 3]], "int32"))
    ins.update(input_lengths=np.array([4, 3], "int32"), label_lengths=np.array([2, 1], "int32"))
    yield Sample(ins)
    yield Sample(ins, dict(blank=2), "blank")


@samples("diagonal_starts")
def diagonal_starts(rng):
    yield Sample({}, dict(nodes=3))


@samples("last_nodes")
def last_nodes(rng):
    yield Sample(dict(X=np.array([[4], [3]]), Y=np.array([[2], [1]])), dict(steps=4, nodes=3))
