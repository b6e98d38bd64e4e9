"""Arithmetic on two tensors against loops over the elements."""

import math

import numpy as np
import pytest

from fluidlite.errors import DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)

FLOATS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "max": max,
    "min": min,
    "pow": math.pow,
    "mod": lambda x, y: x - y * math.floor(x / y),
}
INTEGERS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: int(x / y),
    "max": max,
    "min": min,
    "pow": lambda x, y: int(math.pow(x, y)),
    "mod": math.fmod,
    "floordiv": lambda x, y: int(x / y),
}
#: shape of X, shape of Y, axis, shape of the operand with fewer dimensions once it is aligned
ALIGNED = [
    ([2, 3], [2, 3], -1, [2, 3]),
    ([2, 3, 4], [3, 4], -1, [1, 3, 4]),
    ([2, 3, 4], [3], 1, [1, 3, 1]),
    ([2, 3, 4], [2, 3], 0, [2, 3, 1]),
    ([2, 3, 4], [2], 0, [2, 1, 1]),
    ([2, 3, 4], [1], -1, [1, 1, 1]),
    ([2, 3, 4], [3, 1], 1, [1, 3, 1]),
    ([2, 3, 4], [4, 1], 2, [1, 1, 4]),
    ([3, 4], [2, 3, 4], -1, [1, 3, 4]),
    ([3], [2, 3, 4], 1, [1, 3, 1]),
]


def one_by_one(function, x, y, aligned):
    """The function of each pair of elements, with the smaller operand in its aligned shape."""
    x, y = (x, y.reshape(aligned)) if x.ndim >= y.ndim else (x.reshape(aligned), y)
    pairs = np.broadcast(x, y)
    return np.reshape([function(a.item(), b.item()) for a, b in pairs], pairs.shape)


@pytest.mark.parametrize("x, y, axis, aligned", ALIGNED)
@pytest.mark.parametrize("name", FLOATS)
def test_operator_of_each_pair_of_elements(name, x, y, axis, aligned):
    X, Y = rng.uniform(0.5, 3, x), rng.uniform(0.5, 3, y)
    expected = one_by_one(FLOATS[name], X, Y, aligned)
    found = getattr(f, f"elementwise_{name}")(X, Y, axis=axis)
    np.testing.assert_allclose(found, expected, 1e-12, 1e-12)
    inferred = infer(f"elementwise_{name}", dict(axis=axis), X=(x, "float64"), Y=(y, "float64"))
    assert inferred["Out"].shape == expected.shape


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", INTEGERS)
def test_operator_of_each_pair_of_integers(name, dtype):
    X = np.array([[7, -7, 7, -7], [0, 6, 1, -1]], dtype)
    Y = np.array([2, 2, -2, -3], dtype)
    found = getattr(f, f"elementwise_{name}")(X, Y + (name == "pow") * 3)
    assert found.dtype == np.dtype(dtype)
    expected = one_by_one(INTEGERS[name], X, Y + (name == "pow") * 3, [1, 4])
    np.testing.assert_array_equal(found, expected)


def test_negative_powers_of_integers_lose_their_fractions():
    x = np.array([2, -2, 1, -1, -1])
    found = f.elementwise_pow(x, np.array([-1, -3, -5, -1, -2]))
    np.testing.assert_array_equal(found, [0, 0, 1, -1, 1])


def test_large_integers_are_divided_exactly():
    x = np.array([2**60 + 1, -(2**60) - 1])
    np.testing.assert_array_equal(f.elementwise_div(x, np.array([1])), x)
    np.testing.assert_array_equal(f.elementwise_floordiv(x, np.array([-1])), -x)


def test_remainder_of_floats_has_the_sign_of_the_divisor():
    found = f.elementwise_mod(np.array([-7.5, 7.5, -0.5]), np.array([2.0, -2.0, 1.5]))
    np.testing.assert_array_equal(found, [0.5, -0.5, 1.0])


#: partial derivatives by X and Y
SLOPES = {
    "add": (lambda x, y: 1, lambda x, y: 1),
    "sub": (lambda x, y: 1, lambda x, y: -1),
    "mul": (lambda x, y: y, lambda x, y: x),
    "div": (lambda x, y: 1 / y, lambda x, y: -x / y**2),
    "max": (lambda x, y: x > y, lambda x, y: x <= y),
    "min": (lambda x, y: x < y, lambda x, y: x >= y),
    "pow": (lambda x, y: y * x ** (y - 1), lambda x, y: math.log(x) * x**y),
}


@pytest.mark.parametrize("x, y, axis, aligned", ALIGNED)
@pytest.mark.parametrize("name", SLOPES)
def test_gradient_is_summed_over_what_was_stretched(name, x, y, axis, aligned):
    X, Y = rng.uniform(0.5, 3, x), rng.uniform(0.5, 3, y)
    operator = lambda f, x, y: getattr(f, f"elementwise_{name}")(x, y, axis=axis)
    g = rng.normal(size=operator(f, X, Y).shape)
    smaller = [i for i, (n, m) in enumerate(zip(aligned, g.shape)) if n != m]
    by_x, by_y = (g * one_by_one(slope, X, Y, aligned) for slope in SLOPES[name])
    if X.ndim >= Y.ndim:
        by_y = by_y.sum(tuple(smaller)).reshape(y)
    else:
        by_x = by_x.sum(tuple(smaller)).reshape(x)
    found = pull_back(f, operator, [X, Y], [g])
    np.testing.assert_allclose(found[0], by_x, 1e-12, 1e-12)
    np.testing.assert_allclose(found[1], by_y, 1e-12, 1e-12)


@pytest.mark.parametrize("name", ["max", "min"])
def test_of_equal_elements_the_second_gets_the_gradient(name):
    x, g = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    operator = lambda f, x, y: getattr(f, f"elementwise_{name}")(x, y)
    by_x, by_y = pull_back(f, operator, [x, x.copy()], [g])
    np.testing.assert_array_equal(by_x, [0, 0])
    np.testing.assert_array_equal(by_y, g)


def test_gradients_of_powers_at_zero_are_finite():
    x, y = np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0])
    by_x, by_y = pull_back(f, lambda f, x, y: f.elementwise_pow(x, y), [x, y], [np.ones(4)])
    np.testing.assert_array_equal(by_x, [0, 1, 0, 0])
    np.testing.assert_array_equal(by_y, [0, 0, 0, 0])


@pytest.mark.parametrize(
    "x, y, axis",
    [([2, 3], [2, 4], -1), ([2, 3, 4], [2], -1), ([2, 3, 4], [4], 1), ([2, 3], [3, 2], 1)],
)
def test_shapes_that_do_not_fit_are_refused(x, y, axis):
    with pytest.raises(ShapeError) as error:
        infer("elementwise_add", dict(axis=axis), X=(x, "float32"), Y=(y, "float32"))
    assert f"cannot broadcast shapes {x} and {y} with axis={axis}" in str(error.value)


@pytest.mark.parametrize("name", [*FLOATS, "floordiv"])
def test_element_types_are_never_mixed(name):
    with pytest.raises(DTypeError, match="expected one element type, got X int32, Y int64; cast"):
        infer(f"elementwise_{name}", X=([2], "int32"), Y=([2], "int64"))


def test_truth_values_are_no_numbers():
    with pytest.raises(DTypeError, match="expected numbers, got X and Y of type bool"):
        infer("elementwise_add", X=([2], "bool"), Y=([2], "bool"))


def test_floats_are_not_divided_into_integers():
    with pytest.raises(DTypeError, match="expected X to hold integers"):
        infer("elementwise_floordiv", X=([2], "float32"), Y=([2], "float32"))


def test_minus_subtracts_what_has_the_same_shape():
    x, y = np.array([5.0, 3.0]), np.array([1.0, 4.0])
    assert f.minus(x, y).tolist() == [4, -1]
    with pytest.raises(ShapeError, match=r"Y of shape \[2\], as X, got \[1\]"):
        infer("minus", X=([2], "float32"), Y=([1], "float32"))


def test_of_equal_elements_both_get_half_of_the_gradient():
    x, y, g = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]), np.array([3.0, 5.0, 7.0])
    by_x, by_y = pull_back(f, lambda f, x, y: f.maximum(x, y), [x, y], [g])
    np.testing.assert_array_equal(by_x, [0, 2.5, 7])
    np.testing.assert_array_equal(by_y, [3, 2.5, 0])
    by_x, by_y = pull_back(f, lambda f, x, y: f.minimum(x, y), [x, y], [g])
    np.testing.assert_array_equal(by_x, [3, 2.5, 0])
    np.testing.assert_array_equal(by_y, [0, 2.5, 7])


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_division_with_remainder_rounds_down(dtype):
    x, y = np.array([7, -7, 7, -7], dtype), np.array([2, 2, -2, -2], dtype)
    expected = [divmod(a, b) for a, b in zip(x.tolist(), y.tolist())]
    np.testing.assert_array_equal(f.floor_divide(x, y), [q for q, _ in expected])
    np.testing.assert_array_equal(f.remainder(x, y), [r for _, r in expected])


def test_gradient_of_a_remainder_by_the_divisor_is_minus_the_quotient():
    x, y = np.array([7.5, -7.5]), np.array([2.0, 2.0])
    by_x, by_y = pull_back(f, lambda f, x, y: f.remainder(x, y), [x, y], [np.ones(2)])
    np.testing.assert_array_equal(by_x, [1, 1])
    np.testing.assert_array_equal(by_y, [-3, 4])


def test_angles_of_points():
    x, y = np.array([1.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0])
    expected = [math.atan2(a, b) for a, b in zip(x, y)]
    np.testing.assert_allclose(f.arctan2(x, y), expected)
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        infer("arctan2", X=([2], "int64"), Y=([2], "int64"))
