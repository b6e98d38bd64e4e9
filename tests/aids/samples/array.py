"""Samples of what stands beside arrays of tensors; arrays themselves have tests of their own."""

from .form import Sample, samples


@samples("rnn_memory_helper")
def rnn_memory_helper(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])))


@samples("pass_statistic")
def pass_statistic(rng):
    yield Sample(dict(X=rng.normal(size=[3, 2])))
