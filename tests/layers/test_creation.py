"""Constants, copies and ranges."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError
from fluidlite.ground.dtypes import DType

from building import data, refused, run, started, written


@pytest.mark.parametrize(
    "dtype, value, number, text",
    [
        ("float32", 1.5, "1.5", "1.5"),
        ("int64", 7, "7.0", "7"),
        ("int32", 2.7, "2.7", "2"),
        ("float64", 0.1, "0.1", "0.1"),
        ("bool", True, "1.0", "1.0"),
        ("float32", float("inf"), "inf", "inf"),
    ],
)
def test_a_constant_is_written_as_a_number_and_exactly_as_a_text(dtype, value, number, text):
    out = layers.fill_constant([2, 3], dtype, value)
    (line,) = written()
    assert f'value={number}, str_value="{text}"' in line
    assert (out.name, out.shape, out.dtype) == ("fill_constant_0.tmp_0", (2, 3), np.dtype(dtype))
    assert out.stop_gradient
    assert (run(out) == np.full([2, 3], value, dtype)).all()


def test_large_integers_are_exact():
    assert run(layers.fill_constant([1], "int64", 2**53 + 1)).item() == 2**53 + 1


def test_the_number_may_be_a_variable():
    value = layers.fill_constant([1], "float32", 2.0)
    out = layers.fill_constant([3], "float32", value)
    assert (
        written()[1]
        == "fill_constant_1.tmp_0 = fill_constant(ValueTensor=fill_constant_0.tmp_0, shape=[3])"
    )
    assert run(out).tolist() == [2, 2, 2]


def test_sizes_may_be_variables():
    n = data("n", [1], "int32")
    out = layers.fill_constant([n, 2], "float32", 1.0)
    assert out.shape == (-1, 2)
    assert "ShapeTensorList=[n, fill_constant_1.tmp_0]" in written()[1]
    assert "shape=[-1, 2]" in written()[1]
    assert run(out, n=np.array([3], "int32")).shape == (3, 2)


def test_sizes_of_int64_are_cast():
    n, shape = data("n", [1], "int64"), data("shape", [2], "int64")
    one, whole = (
        layers.fill_constant([n], "float32", 1.0),
        layers.fill_constant(shape, "float32", 1),
    )
    assert [line.split("(")[0] for line in written()] == [
        "cast_0.tmp_0 = cast",
        "fill_constant_0.tmp_0 = fill_constant",
        "cast_1.tmp_0 = cast",
        "fill_constant_1.tmp_0 = fill_constant",
    ]
    assert (one.shape, whole.shape) == ((-1,), (-1, -1))
    sizes = run(one, whole, n=np.array([3]), shape=np.array([2, 5]))
    assert [value.shape for value in sizes] == [(3,), (2, 5)]


def test_gradients_stop_at_variables_that_are_sizes():
    n = data("n", [1], "int32")
    n.stop_gradient = False
    layers.fill_constant([n], "float32", 1.0)
    assert n.stop_gradient


@pytest.mark.parametrize("shape", [3, "ab", [2.5], ["2"], None])
def test_a_shape_is_a_list_of_integers(shape):
    with refused(ArgumentError, "shape"):
        layers.fill_constant(shape, "float32", 1.0)


def test_a_size_is_an_integer_variable():
    x = data()
    with refused(DTypeError, "expected shape to be given by integers, got 'x' of float32"):
        layers.fill_constant([x, 2], "float32", 1.0)


def test_a_number_is_refused_that_is_none():
    with refused(ArgumentError, "expected a number of float32 for value, got 'one'"):
        layers.fill_constant([1], "float32", "one")


def test_a_constant_is_written_to_a_given_variable():
    out = layers.create_tensor("float32", name="out")
    assert layers.fill_constant([2], "float32", 3.0, out=out) is out
    assert written()[0].startswith("out = fill_constant(")


def test_a_given_variable_has_the_same_element_type():
    out = layers.create_tensor("float32", name="out")
    with refused(DTypeError, "expected an out of int64, .*, got 'out' of float32"):
        layers.fill_constant([2], "int64", 3, out=out)


def test_a_constant_takes_one_size_from_a_variable():
    out = layers.fill_constant_batch_size_like(data(), [5, -1], "int64", 3, 0, 1)
    assert out.shape == (5, -1)
    assert out.stop_gradient
    assert 'str_value="3"' in written()[0]
    assert run(out, x=np.zeros([2, 4], "float32")).tolist() == [[3, 3]] * 5


@pytest.mark.parametrize("make, value", [(layers.zeros, 0), (layers.ones, 1)])
def test_zeros_and_ones_are_constants(make, value):
    out = make([2, 3], "int32")
    assert (run(out) == np.full([2, 3], value, "int32")).all()
    assert out.name == "fill_constant_0.tmp_0"


def test_zeros_and_ones_like_have_the_shape_and_type():
    x, out = data(dtype="int64"), layers.create_tensor("int64", name="out")
    zero, one = layers.zeros_like(x), layers.ones_like(x)
    assert layers.zeros_like(x, out=out) is out
    assert written() == [
        "zeros_like_0.tmp_0 = fill_zeros_like(X=x)",
        "ones_like_0.tmp_0 = fill_any_like(X=x, value=1.0)",
        "out = fill_zeros_like(X=x)",
    ]
    assert (zero.stop_gradient, one.stop_gradient) == (True, False)
    assert zero.dtype is one.dtype is DType.INT64


def test_full_is_named_after_itself():
    first, second = layers.full([2], 1.5), layers.full([2], 3, dtype="int64", name="threes")
    assert (first.name, first.dtype) == ("full_0.tmp_0", DType.FP32)
    assert (second.name, second.dtype) == ("threes.tmp_0", DType.INT64)
    assert [value.tolist() for value in run(first, second)] == [[1.5, 1.5], [3, 3]]


def test_full_like_takes_the_element_type_or_another():
    x = data(dtype="int64")
    assert layers.full_like(x, 2).dtype is DType.INT64
    assert layers.full_like(x, 2.5, dtype="float32").dtype is DType.FP32
    assert not layers.full_like(x, 2, stop_gradient=False).stop_gradient


def test_an_identity_is_repeated_along_a_batch():
    out = layers.eye(2, 3, batch_shape=[4, 5], dtype="int32")
    assert [line.split("(")[0] for line in written()] == [
        "eye_0.tmp_0 = eye",
        "stack_0.tmp_0 = stack",
        "stack_1.tmp_0 = stack",
    ]
    assert out.shape == (4, 5, 2, 3)
    assert (run(out) == np.eye(2, 3)).all()


def test_a_range_makes_variables_of_its_numbers():
    out = layers.range(1, 7, 2, "int64")
    assert [line.split("(")[0] for line in written()] == [
        "fill_constant_0.tmp_0 = fill_constant",
        "fill_constant_1.tmp_0 = fill_constant",
        "fill_constant_2.tmp_0 = fill_constant",
        "range_0.tmp_0 = range",
    ]
    assert (out.shape, out.stop_gradient) == ((-1,), True)
    assert run(out).tolist() == [1, 3, 5]


def test_a_range_casts_variables_to_its_element_type():
    n = data("n", [1], "int32")
    out = layers.range(0, n, 1, "int64")
    assert [line for line in written() if " = cast(" in line] == [
        "cast_0.tmp_0 = cast(X=n, out_dtype=int64, in_dtype=int32)"
    ]
    assert run(out, n=np.array([3], "int32")).tolist() == [0, 1, 2]


def test_arange_has_a_step_and_an_element_type_by_default():
    out = layers.arange(1, 4, name="steps")
    assert (out.name, out.dtype) == ("steps.tmp_0", DType.FP32)
    assert run(out).tolist() == [1, 2, 3]


def test_linspace_includes_both_ends():
    out = layers.linspace(0.0, 1.0, 5, "float32")
    assert run(out).tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_assign_copies_a_variable():
    x, out = data(lod_level=1), layers.create_tensor("float32", name="out")
    assert layers.assign(x).lod_level == 1
    assert layers.assign(x, out) is out
    assert written() == ["assign_0.tmp_0 = assign(X=x)", "out = assign(X=x)"]


@pytest.mark.parametrize("dtype", ["bool", "float32", "int32", "int64"])
def test_assign_writes_an_array_into_the_program(dtype):
    array = np.array([[1, 0, 1], [1, 1, 0]], dtype)
    out = layers.assign(array)
    assert (out.shape, out.dtype) == ((2, 3), array.dtype)
    found = run(out)
    assert found.dtype == dtype
    assert np.array_equal(found, array)
    assert not started()


def test_assign_refuses_other_element_types():
    with refused(DTypeError, "got float64; convert it"):
        layers.assign(np.zeros([2]))


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0]])
def test_assign_takes_variables_and_arrays_only(value):
    with refused(ArgumentError, "expected input to be a variable or an array, got .*; make it one"):
        layers.assign(value)
