"""Samples of several tensors made one, and of one made several."""

import numpy as np

from .form import Sample, samples


@samples("concat")
def concat(rng):
    parts = [rng.normal(size=[2, n, 4]) for n in (3, 1, 5)]
    yield Sample(dict(X=parts), dict(axis=1))
    yield Sample(dict(X=parts[:1]), dict(axis=2), "one")
    flat = [rng.normal(size=[2, n]) for n in (3, 4)]
    yield Sample(dict(X=flat), dict(axis=-1), "negative")
    yield Sample(dict(X=flat, AxisTensor=np.array([1], np.int32)), {}, "tensor")
    yield Sample(dict(X=[np.array([1, 2]), np.array([3])]), {}, "integers")


@samples("split")
def split(rng):
    x = rng.normal(size=[2, 6, 3])
    yield Sample(dict(X=x), dict(num=3, axis=1), "num")
    yield Sample(dict(X=x), dict(sections=[1, 3, 2], axis=1), "sections")
    yield Sample(dict(X=x), dict(sections=[2, -1], axis=-2), "rest")
    yield Sample(dict(X=x, AxisTensor=np.array([1])), dict(num=2), "axis_tensor")
    listed = [np.array([1], np.int32), np.array([-1], np.int32)]
    yield Sample(
        dict(X=x, SectionsTensorList=listed), dict(sections=[1, -1], axis=1), "sections_tensor"
    )


@samples("stack")
def stack(rng):
    for axis in (0, 1, -1):
        parts = [rng.normal(size=[2, 3]) for _ in range(4)]
        yield Sample(dict(X=parts), dict(axis=axis), f"axis{axis}")


@samples("unstack")
def unstack(rng):
    x = rng.normal(size=[2, 3, 4])
    yield Sample(dict(X=x), dict(num=2))
    yield Sample(dict(X=x), dict(num=3, axis=1), "middle")
    yield Sample(dict(X=x), dict(num=4, axis=-1), "negative")


@samples("unbind")
def unbind(rng):
    x = rng.normal(size=[2, 3, 4])
    for axis in (0, 1, -1):
        yield Sample(dict(X=x), dict(axis=axis), f"axis{axis}")


@samples("partial_concat", "partial_sum")
def partial(rng, type):
    parts = [rng.normal(size=[2, 5]) for _ in range(3)]
    yield Sample(dict(X=parts), dict(start_index=1, length=3))
    yield Sample(dict(X=parts), dict(start_index=-2), "rest")
