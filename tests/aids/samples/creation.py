"""Samples of the operators in fluidlite/ops/creation.py."""

import numpy as np

from .form import Sample, samples


@samples("fill_constant")
def fill_constant(rng):
    yield Sample({}, dict(shape=[2, 3], value=1.5), "value")
    yield Sample({}, dict(shape=[2], dtype="int64", str_value="123456789012"), "text")
    yield Sample({}, dict(shape=[3], dtype="bool", value=1.0), "bool")
    sizes = np.array([2, 3])
    yield Sample(dict(ShapeTensor=sizes), dict(shape=[-1, -1], value=2.0), "shape_tensor")
    listed = [np.array([2]), np.array([3])]
    yield Sample(dict(ShapeTensorList=listed), dict(shape=[-1, 3], value=2.0), "shape_list")
    yield Sample(
        dict(ValueTensor=rng.normal(size=[1])), dict(shape=[2, 3], dtype="float64"), "value_tensor"
    )


@samples("fill_constant_batch_size_like")
def fill_constant_batch_size_like(rng):
    x = rng.normal(size=[4, 3])
    yield Sample(dict(Input=x), dict(shape=[-1, 2], value=2.0))
    yield Sample(
        dict(Input=x),
        dict(shape=[5, -1], input_dim_idx=1, output_dim_idx=1, dtype="int64", value=1.0),
        "columns",
    )
    for lod in (((0, 1, 4),), ((0, 1, 1, 4),), ((0, 2, 3), (0, 1, 1, 4))):
        yield Sample(
            dict(Input=x), dict(shape=[-1, 2], value=2.0), f"lod{len(lod[0])}", lods={"Input": lod}
        )


@samples("fill_any_like")
def fill_any_like(rng):
    x = rng.normal(size=[2, 3])
    yield Sample(dict(X=x), dict(value=2.0))
    yield Sample(dict(X=x), dict(value=2.0, dtype="int64"), "other_dtype")


@samples("fill_zeros_like", "fill_zeros_like2")
def zeros(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])))
    yield Sample(dict(X=rng.integers(5, size=[3])), name="integers")


@samples("fill")
def fill(rng):
    yield Sample({}, dict(value=[1.0, 2.5, 3.0, 4.0, 5.0, 6.0], shape=[2, 3]))
    yield Sample({}, dict(value=[1.0, 2.0], shape=[2], dtype="int32"), "integers")


@samples("assign_value")
def assign_value(rng):
    yield Sample({}, dict(fp32_values=[1.0, 2.5, 3.0, 4.0, 5.0, 6.0], shape=[2, 3], dtype=5))
    yield Sample({}, dict(int64_values=[1, 2**40], shape=[2, 1], dtype="int64"), "int64")
    yield Sample({}, dict(int32_values=[1, 2], shape=[2], dtype="int32"), "int32")
    yield Sample({}, dict(bool_values=[1, 0], shape=[2], dtype="bool"), "bool")


@samples("assign")
def assign(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])))
    yield Sample(dict(X=rng.integers(5, size=[3])), name="integers")


@samples("eye")
def eye(rng):
    yield Sample({}, dict(num_rows=2, num_columns=3))
    yield Sample({}, dict(num_rows=3, dtype="int64"), "square")


@samples("linspace")
def linspace(rng):
    start, stop = np.array([1.0]), np.array([-2.0])
    yield Sample(dict(Start=start, Stop=stop, Num=np.array([4])))
    yield Sample(dict(Start=start, Stop=stop, Num=np.array([1])), name="one")
    single = dict(Start=start, Stop=stop, Num=np.array([3]))
    yield Sample(single, dict(dtype="float32"), "single")


@samples("range")
def arange(rng):
    yield Sample(dict(Start=np.array([5]), End=np.array([0]), Step=np.array([-2])), name="down")
    yield Sample(dict(Start=np.array([0.0]), End=np.array([1.0]), Step=np.array([0.3])))


@samples("empty")
def empty(rng):
    yield Sample({}, dict(shape=[2, 3], dtype="int32"), values_matter=False)
    given = dict(ShapeTensor=np.array([3, 2]))
    yield Sample(given, dict(shape=[-1, -1]), "tensor", values_matter=False)


@samples("full_int_array")
def full_int_array(rng):
    yield Sample({}, dict(value=[3, -1, 2**40], dtype="int64"))


@samples("fill_any")
def fill_any(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(value=1.5))
    yield Sample(dict(X=rng.integers(0, 3, [2, 3])), dict(value=2.0), "integers")


@samples("logspace")
def logspace(rng):
    ends = dict(Start=np.array([0.0]), Stop=np.array([3.0]), Num=np.array([4], "int32"))
    yield Sample(dict(**ends, Base=np.array([2.0])), dict(dtype="float64"))
    yield Sample(dict(**ends, Base=np.array([10.0])), dict(dtype="int32"), "integers")
