"""Constants, copies and ranges."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()


def same(found, expected, dtype):
    """Values, shape and element type."""
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, np.array(expected, dtype))
    assert found.shape == np.shape(expected)


def test_constant_has_the_value_in_the_element_type():
    same(f.fill_constant(shape=[2, 3], value=1.5), [[1.5] * 3] * 2, "float32")
    same(f.fill_constant(shape=[2], value=2.9, dtype="int64"), [2, 2], "int64")
    same(f.fill_constant(shape=[1], value=3.0, dtype="bool"), [True], "bool")
    same(f.fill_constant(shape=[], value=3.0), 3.0, "float32")
    same(f.fill_constant(shape=[0, 2]), np.zeros([0, 2]), "float32")
    same(f.fill_constant(shape=[2], dtype="complex64"), [0, 0], "complex64")
    assert not np.signbit(f.fill_constant(shape=[1], value=0.0))
    assert np.signbit(f.fill_constant(shape=[1], value=-0.0))


def test_constant_as_a_text_is_exact():
    big = 2**53 + 1
    same(f.fill_constant(shape=[1], str_value=str(big), dtype="int64"), [big], "int64")
    same(f.fill_constant(shape=[1], str_value="0.1", dtype="float64"), [0.1], "float64")
    same(f.fill_constant(shape=[1], str_value="2.7", dtype="int64"), [2], "int64")
    same(f.fill_constant(shape=[1], value=7.0, str_value="-inf"), [-np.inf], "float32")


def test_shape_and_value_may_come_in_tensors():
    listed = [np.array([2], np.int32), np.array([1])]
    same(f.fill_constant(ShapeTensorList=listed, value=2.0), [[2.0], [2.0]], "float32")
    both = dict(ShapeTensor=np.array([3]), ShapeTensorList=listed)
    same(f.fill_constant(**both, value=2.0), [2.0] * 3, "float32")
    value = np.array([7.0], np.float32)
    same(f.fill_constant(ValueTensor=value, shape=[2], value=1.0, str_value="2"), [7, 7], "float32")


def test_constant_takes_a_size_of_its_input():
    x = np.zeros([4, 3])
    like = f.fill_constant_batch_size_like
    same(like(x, shape=[-1, 2], value=2.0), [[2.0, 2.0]] * 4, "float32")
    found = like(x, shape=[7, 9], input_dim_idx=-1, output_dim_idx=1, value=1.0, dtype="int32")
    same(found, np.ones([7, 3]), "int32")


def test_a_size_that_is_not_declared_is_refused_with_what_gives_it():
    with pytest.raises(ShapeError, match=r"got \[-1, 2\]; .* layers.shape, .* _batch_size_like"):
        layers.fill_constant([-1, 2], "float32", 0.0)


def test_constants_in_the_shape_of_another_value():
    x = np.array([[1, 2, 3]], np.int64)
    same(f.fill_any_like(x, value=2.5), [[2, 2, 2]], "int64")
    same(f.fill_any_like(x, value=2.5, dtype="float32"), [[2.5] * 3], "float32")
    same(f.fill_zeros_like(x), [[0, 0, 0]], "int64")
    same(f.fill_zeros_like2(x), [[0, 0, 0]], "float32")


def test_elements_are_laid_out_row_by_row():
    same(f.fill(value=[1.0, 2.5, 3.0, 4.0], shape=[2, 2]), [[1, 2.5], [3, 4]], "float32")
    found = f.assign_value(shape=[3, 1], dtype="int64", int64_values=[1, 2**40, -3])
    same(found, [[1], [2**40], [-3]], "int64")
    same(f.assign_value(shape=[2], dtype="bool", bool_values=[0, 1]), [False, True], "bool")
    same(f.assign_value(shape=[1], dtype="float64", fp64_values=[0.1]), [0.1], "float64")


def test_what_is_assigned_is_the_value_itself():
    x = np.ones([2])
    same(f.assign(x), [1, 1], "float64")


def test_identity_matrix():
    same(f.eye(num_rows=2, num_columns=3), [[1, 0, 0], [0, 1, 0]], "float32")
    same(f.eye(num_rows=2, dtype="int64"), [[1, 0], [0, 1]], "int64")


def numbers(dtype, *values):
    return [np.array([value], dtype) for value in values]


def test_linspace_includes_both_ends():
    start, stop = numbers("float32", 1.0, 2.0)
    same(f.linspace(start, stop, np.array([5], np.int32)), [1, 1.25, 1.5, 1.75, 2], "float32")
    same(f.linspace(start, stop, np.array([1], np.int32)), [1], "float32")


def test_range_stops_before_its_end():
    same(f.range(*numbers("int64", 5, 0, -2)), [5, 3, 1], "int64")
    same(f.range(*numbers("int64", 0, 4, 2)), [0, 2], "int64")
    same(f.range(*numbers("int64", 3, 3, 1)), [], "int64")
    same(f.range(*numbers("float64", 0, 1, 0.25)), [0, 0.25, 0.5, 0.75], "float64")


def test_range_counts_its_steps_in_the_element_type():
    assert len(f.range(*numbers("float32", 0, 0.3, 0.1))) == 3


@pytest.mark.parametrize("step", [0, -1])
def test_range_that_leads_nowhere_is_refused(step):
    with pytest.raises(AttributeValueError, match=f"from Start 2 to End 7, got {step}"):
        f.range(*numbers("int64", 2, 7, step))


def test_linspace_of_nothing_is_refused():
    with pytest.raises(AttributeValueError, match="Num of at least 1, got 0"):
        f.linspace(*numbers("float32", 0, 1), np.array([0]))


def test_sizes_that_tensors_give_are_unknown_before():
    assert infer("fill_constant", ShapeTensor=([2], "int32"))["Out"].shape == (-1, -1)
    one = ([1], "int64")
    out = infer("fill_constant", {"shape": [-1, 3]}, ShapeTensorList=[one, one])["Out"]
    assert out.shape == (-1, 3)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (ShapeError, "at least 0, got [2, -1]", "fill_constant", {"shape": [2, -1]}, {}),
        (AttributeValueError, "'abc'", "fill_constant", {"str_value": "abc"}, {}),
        (
            ShapeError,
            "one number, got shape [2]",
            "fill_constant",
            {"shape": [3]},
            {"ValueTensor": ([2], "float32")},
        ),
        (
            DTypeError,
            "ShapeTensor to hold integers (int64 or int32), got float32",
            "fill_constant",
            {},
            {"ShapeTensor": ([2], "float32")},
        ),
        (
            ShapeError,
            "input_dim_idx in [-2, 2), got 2",
            "fill_constant_batch_size_like",
            {"shape": [-1], "input_dim_idx": 2},
            {"Input": ([4, 3], "float32")},
        ),
        (ShapeError, "[2, 2] does not hold the 3", "fill", {"value": [1] * 3, "shape": [2, 2]}, {}),
        (DTypeError, "got float16", "assign_value", {"shape": [1], "dtype": "float16"}, {}),
        (
            DTypeError,
            "got Start int64, End float32, Step int64",
            "range",
            {},
            {"Start": ([1], "int64"), "End": ([1], "float32"), "Step": ([1], "int64")},
        ),
    ],
)
def test_what_cannot_be_made_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error) as caught:
        infer(type, attrs, **inputs)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "dtype, good, bad",
    [
        ("int32", 2147483520, 1e10),
        ("int64", -(2**63), 9.3e18),
        ("uint8", 255, -1),
        ("bool", 1, 2),
        ("float16", 65504, 65505),
        ("float32", 3.4e38, float("inf")),
        ("float64", -3.4e38, 1e39),
        ("float32", 0, float("nan")),
    ],
)
def test_a_value_beyond_the_range_of_its_element_type_is_refused(dtype, good, bad):
    like = dict(X=((2,), dtype))
    assert str(infer("fill_any_like", dict(value=good), **like)["Out"].dtype) == dtype
    with pytest.raises(AttributeValueError, match=f"expected a value that {dtype} can hold"):
        infer("fill_any_like", dict(value=bad), **like)
    other = dict(X=((2,), "float32"))
    with pytest.raises(AttributeValueError, match=f"expected a value that {dtype} can hold"):
        infer("fill_any_like", dict(value=bad, dtype=dtype), **other)
