"""Comparisons, logic and tests of whole tensors against Python's own, one element at a time."""

import math
import operator

import numpy as np
import pytest

from fluidlite.errors import DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)

COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less_than": operator.lt,
    "less_equal": operator.le,
    "greater_than": operator.gt,
    "greater_equal": operator.ge,
}
LOGIC = {
    "logical_and": lambda x, y: x and y,
    "logical_or": lambda x, y: x or y,
    "logical_xor": operator.ne,
}
#: shape of X, shape of Y, axis, shape of Y once it is aligned
ALIGNED = [
    ([2, 3, 4], [2, 3, 4], -1, [2, 3, 4]),
    ([2, 3, 4], [3, 4], -1, [1, 3, 4]),
    ([2, 3, 4], [3], 1, [1, 3, 1]),
    ([2, 3, 4], [2], 0, [2, 1, 1]),
    ([2, 3, 4], [1], -1, [1, 1, 1]),
]


def truth(found):
    """The truth value in a tensor of shape [1]."""
    assert (found.shape, found.dtype) == ((1,), np.dtype(bool))
    return bool(found[0])


@pytest.mark.parametrize("x, y, axis, aligned", ALIGNED)
@pytest.mark.parametrize("type", COMPARISONS)
def test_comparison_of_each_pair_of_elements(type, x, y, axis, aligned):
    X, Y = rng.integers(3, size=x), rng.integers(3, size=y)
    pairs = np.broadcast(X, Y.reshape(aligned))
    expected = np.reshape([COMPARISONS[type](int(a), int(b)) for a, b in pairs], x)
    for dtype in ("int32", "int64", "float32", "float64"):
        found = getattr(f, type)(X.astype(dtype), Y.astype(dtype), axis=axis)
        assert found.dtype == np.dtype(bool)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type", COMPARISONS)
def test_what_is_no_number_differs_from_everything(type):
    x = np.array([np.nan, np.nan, 1.0])
    y = np.array([np.nan, 1.0, np.nan])
    np.testing.assert_array_equal(getattr(f, type)(x, y), [type == "not_equal"] * 3)


def test_large_integers_are_compared_exactly():
    x = np.array([2**53])
    assert f.less_than(x, x + 1)[0]
    assert not f.equal(x, x + 1)[0]


@pytest.mark.parametrize("type", LOGIC)
def test_truth_tables(type):
    x, y = np.array([[False], [True]]), np.array([False, True])
    expected = [[LOGIC[type](bool(a), bool(b)) for b in y] for a in x[:, 0]]
    found = getattr(f, type)(x, y)
    assert found.dtype == np.dtype(bool)
    np.testing.assert_array_equal(found, expected)


def test_negation():
    np.testing.assert_array_equal(f.logical_not(np.array([True, False])), [False, True])


def test_equality_of_whole_tensors():
    x = np.arange(6).reshape(2, 3)
    other = x.copy()
    other[1, 2] = 0
    assert truth(f.equal_reduce(x, x.copy()))
    assert not truth(f.equal_reduce(x, other))
    assert not truth(f.equal_reduce(x, x[:1]))


def test_equality_of_whole_tensors_broadcasts():
    x = np.array([[1, 2, 3], [1, 2, 3]])
    assert truth(f.equal_reduce(x, x[0]))
    assert truth(f.equal_reduce(x.T, x[0], axis=0))
    assert not truth(f.equal_reduce(x, np.array([[1], [1]])))
    with pytest.raises(ShapeError, match="cannot broadcast"):
        infer("equal_reduce", {}, X=((2, 3), "int64"), Y=((2,), "int64"))


@pytest.mark.parametrize(
    "x, y, attrs",
    [
        (1.0, 1.0 + 1e-6, {}),
        (1.0, 1.0 + 1e-4, {}),
        (1.0, 1.5, dict(atol=0.6)),
        (100.0, 103.0, dict(rtol=0.03)),
        (103.0, 100.0, dict(rtol=0.029)),
        (0.0, 1e-9, {}),
        (0.0, 1e-7, {}),
        (math.inf, math.inf, {}),
        (math.inf, -math.inf, {}),
        (math.inf, 1.0, {}),
    ],
)
def test_closeness_is_relative_to_the_second_tensor(x, y, attrs):
    rtol, atol = attrs.get("rtol", 1e-5), attrs.get("atol", 1e-8)
    close = x == y or (math.isfinite(y) and abs(x - y) <= atol + rtol * abs(y))
    found = f.allclose(np.array([2.0, x]), np.array([2.0, y]), **attrs)
    assert truth(found) == close


def test_what_is_no_number_is_close_to_itself_on_demand():
    x = np.array([1.0, np.nan])
    assert not truth(f.allclose(x, x))
    assert truth(f.allclose(x, x, equal_nan=True))
    assert not truth(f.allclose(x, x[::-1].copy(), equal_nan=True))


#: elements -> whether all are finite, one is no number, one is infinite
QUESTIONS = [
    ([1.0, -2.0], True, False, False),
    ([1.0, math.nan], False, True, False),
    ([1.0, -math.inf], False, False, True),
    ([math.inf, math.nan], False, True, True),
    ([3, 4], True, False, False),
]


@pytest.mark.parametrize("values, finite, nan, infinite", QUESTIONS)
def test_questions_about_whole_tensors(values, finite, nan, infinite):
    x = np.array([values, values])
    assert truth(f.isfinite(x)) == finite
    assert truth(f.isnan(x)) == nan
    assert truth(f.isinf(x)) == infinite


def test_a_tensor_without_elements_is_empty():
    assert truth(f.is_empty(np.zeros([2, 0])))
    assert not truth(f.is_empty(np.zeros([1])))


@pytest.mark.parametrize("type", [*COMPARISONS, "equal_reduce"])
def test_element_types_are_never_mixed(type):
    with pytest.raises(DTypeError, match="expected one element type, got X int64, Y float32; cast"):
        infer(type, X=([2], "int64"), Y=([2], "float32"))


@pytest.mark.parametrize("type", LOGIC)
def test_logic_takes_truth_values(type):
    with pytest.raises(DTypeError, match=r"expected Y to hold truth values \(bool\), got int64"):
        infer(type, X=([2], "bool"), Y=([2], "int64"))


def test_negation_takes_truth_values():
    with pytest.raises(DTypeError, match=r"expected X to hold truth values \(bool\), got float32"):
        infer("logical_not", X=([2], "float32"))


@pytest.mark.parametrize("type", [*COMPARISONS, *LOGIC])
def test_shapes_that_do_not_fit_are_refused(type):
    dtype = "bool" if type in LOGIC else "int64"
    with pytest.raises(ShapeError, match=r"cannot broadcast shapes \[2, 3\] and \[2\]"):
        infer(type, X=([2, 3], dtype), Y=([2], dtype))


def test_closeness_is_between_floats_of_one_shape():
    x = ([2, 3], "float32")
    with pytest.raises(ShapeError, match=r"Other of shape \[2, 3\], as Input, got \[3\]"):
        infer("allclose", Input=x, Other=([3], "float32"))
    with pytest.raises(
        DTypeError, match="expected Other to be float16, float32 or float64, got int"
    ):
        infer("allclose", Input=x, Other=([2, 3], "int64"))
    with pytest.raises(DTypeError, match="got Input float32, Other float64"):
        infer("allclose", Input=x, Other=([2, 3], "float64"))
    assert infer("allclose", Input=x, Other=([-1, 3], "float32"))["Out"].shape == (1,)


def test_questions_of_each_element():
    x = np.array([1.0, math.nan, math.inf, -math.inf])
    for type, question in [
        ("isfinite_v2", math.isfinite),
        ("isnan_v2", math.isnan),
        ("isinf_v2", math.isinf),
    ]:
        found = getattr(f, type)(x)
        assert found.dtype == np.dtype(bool)
        np.testing.assert_array_equal(found, [question(v) for v in x])
