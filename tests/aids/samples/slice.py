"""Samples of parts of a tensor, and of elements in reverse order."""

import numpy as np

from .form import Sample, samples


@samples("slice")
def cuts(rng):
    x = rng.normal(size=[4, 5, 3])
    yield Sample(dict(Input=x), dict(axes=[0, 2], starts=[1, -2], ends=[3, -1]))
    yield Sample(dict(Input=x), dict(axes=[1], starts=[2], ends=[10000000]), "to_the_end")
    yield Sample(
        dict(Input=x), dict(axes=[0, 2], starts=[2, -1], ends=[3, 9], decrease_axis=[0, 2]), "item"
    )
    yield Sample(
        dict(Input=x[:, 0, 0]), dict(axes=[0], starts=[2], ends=[3], decrease_axis=[0]), "number"
    )
    bounds = dict(StartsTensor=np.array([1, 0]), EndsTensor=np.array([4, 2]))
    attrs = dict(axes=[0, 1], starts=[-1, -1], ends=[-1, -1], infer_flags=[-1, -1])
    yield Sample(dict(Input=x, **bounds), attrs, "vectors")
    bounds = dict(StartsTensorList=[np.array([1])], EndsTensorList=[np.array([2])])
    attrs = dict(axes=[1], infer_flags=[-1], decrease_axis=[1])
    yield Sample(dict(Input=x, **bounds), attrs, "numbers")


@samples("strided_slice")
def strided_slice(rng):
    x = rng.normal(size=[6, 5, 3])
    bounds = dict(axes=[0, 1], starts=[0, 1], ends=[6, 5], strides=[2, 3], infer_flags=[1, 1])
    yield Sample(dict(Input=x), bounds)
    bounds = dict(axes=[0, 1], starts=[5, -1], ends=[0, -6], strides=[-2, -1])
    yield Sample(dict(Input=x), bounds, "backwards")
    bounds = dict(axes=[1], starts=[2], ends=[3], strides=[1], decrease_axis=[1])
    yield Sample(dict(Input=x), bounds, "item")
    vectors = dict(
        StartsTensor=np.array([1]), EndsTensor=np.array([6]), StridesTensor=np.array([2])
    )
    yield Sample(dict(Input=x, **vectors), dict(axes=[0]), "vectors")
    listed = dict(
        StartsTensorList=[np.array([1])],
        EndsTensorList=[np.array([5])],
        StridesTensorList=[np.array([3])],
    )
    attrs = dict(axes=[0], starts=[-1], ends=[5], strides=[3], infer_flags=[-1])
    yield Sample(dict(Input=x, **listed), attrs, "numbers")


@samples("strided_slice_adjoint")
def strided_slice_adjoint(rng):
    bounds = dict(axes=[0, 1], starts=[0, -1], ends=[6, -6], strides=[2, -3], size=[6, 5, 4])
    yield Sample(dict(G=rng.normal(size=[3, 2, 4])), bounds)


@samples("crop")
def crop(rng):
    x = rng.normal(size=[4, 5])
    yield Sample(dict(X=x), dict(offsets=[1, 2], shape=[2, 3]))
    yield Sample(dict(X=x), dict(offsets=[1, 2], shape=[-1, 2]), "rest")
    yield Sample(dict(X=x), dict(shape=[2, 4]), "corner")
    yield Sample(dict(X=x, Y=np.zeros([2, 3])), dict(offsets=[0, 1]), "like")
    yield Sample(dict(X=x, Offsets=np.array([2, 0], np.int32)), dict(shape=[1, 3]), "tensor")


@samples("crop_tensor")
def crop_tensor(rng):
    x = rng.normal(size=[4, 5])
    yield Sample(dict(X=x), dict(offsets=[1, 2], shape=[2, -1]))
    vectors = dict(Shape=np.array([2, 3]), Offsets=np.array([2, 0]))
    yield Sample(dict(X=x, **vectors), {}, "vectors")
    listed = dict(
        ShapeTensor=[np.array([2]), np.array([3])], OffsetsTensor=[np.array([1]), np.array([0])]
    )
    yield Sample(dict(X=x, **listed), dict(shape=[-1, 3], offsets=[-1, 0]), "numbers")


@samples("reverse", "flip")
def reverse(rng, type):
    x, name = rng.normal(size=[2, 3, 4]), "axis" if type == "reverse" else "dims"
    yield Sample(dict(X=x), {name: [1]})
    yield Sample(dict(X=x), {name: [0, -1]}, "several")
