"""Samples of repetition."""

import numpy as np

from .form import Sample, samples


@samples("expand")
def expand(rng):
    x = rng.normal(size=[2, 3])
    yield Sample(dict(X=x), dict(expand_times=[3, 2]))
    yield Sample(dict(X=rng.normal(size=[2, 1, 3])), dict(expand_times=[1, 4, 2]), "mixed")
    yield Sample(dict(X=rng.normal(size=[2, 1])), dict(expand_times=[1, 4]), "stretched")
    yield Sample(dict(X=x), dict(expand_times=[1, 1]), "once")
    times = np.array([2, 3], np.int32)
    yield Sample(dict(X=x, ExpandTimes=times), {}, "vector")
    listed = [np.array([2]), np.array([3])]
    attrs = dict(expand_times=[2, -1])
    yield Sample(dict(X=x, expand_times_tensor=listed), attrs, "numbers")


@samples("expand_as")
def expand_as(rng):
    target = rng.normal(size=[2, 6])
    yield Sample(dict(X=rng.normal(size=[2, 3]), target_tensor=target))
    yield Sample(dict(X=rng.normal(size=[1, 6]), target_tensor=target), name="stretched")
    yield Sample(dict(X=rng.normal(size=[2, 6]), target_tensor=target), name="once")


@samples("meshgrid")
def meshgrid(rng):
    for count in (1, 2, 3):
        yield Sample(dict(X=[rng.normal(size=[n + 2]) for n in range(count)]), name=f"of{count}")


@samples("broadcast_tensors")
def broadcast_tensors(rng):
    shapes = [2, 1, 4], [3, 1], [4]
    yield Sample(dict(X=[rng.normal(size=shape) for shape in shapes]))


@samples("tile")
def tile(rng):
    x = rng.normal(size=[2, 3])
    yield Sample(dict(X=x), dict(repeat_times=[3, 2]))
    yield Sample(dict(X=x), dict(repeat_times=[4, 1, 2]), "more")
    yield Sample(dict(X=x), dict(repeat_times=[2]), "fewer")
    yield Sample(dict(X=np.float64(0.5)), dict(repeat_times=[2, 3]), "number")
    yield Sample(dict(X=x, RepeatTimes=np.array([2, 3], np.int32)), {}, "vector")
    listed = [np.array([2]), np.array([3])]
    yield Sample(dict(X=x, repeat_times_tensor=listed), dict(repeat_times=[2, -1]), "numbers")


@samples("expand_v2")
def expand_v2(rng):
    x = rng.normal(size=[3, 1])
    yield Sample(dict(X=x), dict(shape=[2, 3, 4]))
    yield Sample(dict(X=x), dict(shape=[2, -1, 4]), "kept")
    yield Sample(dict(X=x, Shape=np.array([3, 5], np.int32)), {}, "vector")
    listed = [np.array([3]), np.array([4])]
    yield Sample(dict(X=x, expand_shapes_tensor=listed), dict(shape=[3, -1]), "numbers")


@samples("expand_as_v2")
def expand_as_v2(rng):
    target = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=rng.normal(size=[3, 1]), Y=np.ones([2, 3, 4], "int64")))
    yield Sample(dict(X=target), dict(target_shape=[2, 3, 4]), "attribute")
