"""Samples of texts compared word by word."""

import numpy as np

from .form import Sample, samples


def lod_of(lengths):
    return ((0, *np.cumsum(lengths).tolist()),)


@samples("match_matrix_tensor")
def match_matrix_tensor(rng):
    lengths = {
        "two": ([3, 2], [1, 3]),
        "three": ([3, 1, 1], [1, 1, 2]),
        "empty": ([3, 0, 2], [1, 3, 0]),
    }
    for name, (x, y) in lengths.items():
        inputs = dict(X=rng.normal(size=[5, 3]), Y=rng.normal(size=[4, 5]))
        inputs["W"] = rng.normal(size=[3, 2, 5])
        yield Sample(inputs, dict(dim_t=2), name, lods=dict(X=lod_of(x), Y=lod_of(y)))


def images(rng, channels, high, wide):
    """Images of several sizes, in an order that has no equal numbers."""
    sizes = [channels * h * w for h, w in zip(high, wide)]
    inputs = dict(X=(rng.permutation(sum(sizes)) * 0.1)[:, None])
    inputs["ROW"], inputs["COLUMN"] = np.zeros([sum(high), 1]), np.zeros([sum(wide), 1])
    return inputs, dict(X=lod_of(sizes), ROW=lod_of(high), COLUMN=lod_of(wide))


@samples("var_conv_2d")
def var_conv_2d(rng):
    cases = {"two": ([3, 2], [4, 5]), "empty": ([2, 0, 1], [3, 5, 1]), "one": ([3], [2])}
    for name, (high, wide) in cases.items():
        inputs, lods = images(rng, 2, high, wide)
        attrs = dict(InputChannel=2, OutputChannel=3, KernelH=2, KernelW=3)
        if name == "two":
            attrs |= dict(StrideH=2, StrideW=1)
        inputs["W"] = rng.normal(size=[3, 12])
        yield Sample(inputs, attrs, name, lods=lods)


@samples("sequence_topk_avg_pooling")
def sequence_topk_avg_pooling(rng):
    cases = {
        "two": ([3, 2], [4, 2]),
        "short": ([3, 2, 1], [4, 1, 2]),
        "empty": ([2, 0, 1], [3, 2, 0]),
    }
    for name, (high, wide) in cases.items():
        inputs, lods = images(rng, 2, high, wide)
        yield Sample(inputs, dict(topks=[1, 3], channel_num=2), name, lods=lods)
