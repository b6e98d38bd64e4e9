"""Elementary functions against Python's own, one element at a time."""

import math

import numpy as np
import pytest

from fluidlite.errors import DTypeError, ShapeError
from fluidlite.kernels import special

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.uniform(0.1, 0.9, [2, 3, 4]) * rng.choice([-1, 1], [2, 3, 4])

#: the function of one number, and what makes inputs from X
FUNCTIONS = {
    "exp": (math.exp, lambda x: 9 * x),
    "log": (math.log, abs),
    "expm1": (math.expm1, lambda x: x),
    "log2": (math.log2, abs),
    "log10": (math.log10, abs),
    "log1p": (math.log1p, lambda x: x),
    "sqrt": (math.sqrt, abs),
    "rsqrt": (lambda x: 1 / math.sqrt(x), abs),
    "square": (lambda x: x * x, lambda x: x),
    "reciprocal": (lambda x: 1 / x, lambda x: x),
    "sin": (math.sin, lambda x: 9 * x),
    "cos": (math.cos, lambda x: 9 * x),
    "tan": (math.tan, lambda x: x),
    "sinh": (math.sinh, lambda x: 3 * x),
    "cosh": (math.cosh, lambda x: 3 * x),
    "asin": (math.asin, lambda x: x),
    "acos": (math.acos, lambda x: x),
    "atan": (math.atan, lambda x: 9 * x),
    "erf": (math.erf, lambda x: 3 * x),
    "erfc": (math.erfc, lambda x: 9 * x),
    "abs": (lambda x: x if x > 0 else -x, lambda x: x),
    "sign": (lambda x: 1 if x > 0 else -1, lambda x: x),
    "floor": (math.floor, lambda x: 9 * x),
    "ceil": (math.ceil, lambda x: 9 * x),
    "trunc": (math.trunc, lambda x: 9 * x),
}


@pytest.mark.parametrize("type", FUNCTIONS)
def test_function_of_each_element(type):
    function, prepare = FUNCTIONS[type]
    x = prepare(X)
    expected = np.reshape([function(v) for v in x.ravel().tolist()], x.shape)
    np.testing.assert_allclose(getattr(f, type)(x), expected, 1e-14)
    found = getattr(f, type)(x.astype("float32"))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, 1e-5)


@pytest.mark.parametrize("dtype, units", [("float64", 3), ("float32", 4)])
def test_error_function_is_right_to_the_last_digits(dtype, units):
    x = np.concatenate([np.linspace(-7, 7, 2001), np.logspace(-30, 0, 61)]).astype(dtype)
    expected = [math.erf(v) for v in x.tolist()]
    found = f.erf(x)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found, expected, units * np.finfo(dtype).eps)


def test_error_function_in_parts_is_that_of_the_whole():
    for dtype in ("float32", "float64"):
        x = np.linspace(-4, 4, 70_001).astype(dtype)  # more than one part holds
        found = f.erf(x)
        np.testing.assert_array_equal(found, np.concatenate([f.erf(p) for p in np.split(x, [5])]))
        np.testing.assert_array_equal(f.erf(x[::2]), found[::2])
        np.testing.assert_array_equal(special.erf(x, out=x), found)


def test_error_function_ends_at_one():
    np.testing.assert_array_equal(f.erf(np.array([-np.inf, -30, 0, 30, np.inf])), [-1, -1, 0, 1, 1])
    assert np.isnan(f.erf(np.array([np.nan]))).all()


def test_log1p_keeps_small_numbers():
    np.testing.assert_array_equal(f.log1p(np.array([1e-20])), [1e-20])


def test_halves_are_rounded_away_from_zero():
    x = np.array([-2.5, -1.5, -0.5, -0.4, 0.0, 0.49999997, 0.5, 1.5, 2.5, 2.6])
    expected = [-3, -2, -1, 0, 0, 0, 1, 2, 3, 3]
    np.testing.assert_array_equal(f.round(x), expected)
    np.testing.assert_array_equal(f.round(x.astype("float32")), expected)


def test_sign_of_zero_is_zero():
    np.testing.assert_array_equal(f.sign(np.array([-2.0, 0.0, 3.0])), [-1, 0, 1])


@pytest.mark.parametrize("type", ["floor", "ceil", "round", "trunc", "sign"])
def test_gradient_of_a_step_is_zero(type):
    (found,) = pull_back(f, lambda f, x: getattr(f, type)(x), [X], [np.ones_like(X)])
    np.testing.assert_array_equal(found, np.zeros_like(X))


def test_gradient_of_the_absolute_value_is_zero_at_zero():
    x = np.array([-2.0, 0.0, 3.0])
    (found,) = pull_back(f, lambda f, x: f.abs(x), [x], [np.full(3, 5.0)])
    np.testing.assert_array_equal(found, [-5, 0, 5])


def test_integers_stay_integers():
    x = np.array([[-3, 0, 4]])
    for found, expected in [
        (f.square(x), [[9, 0, 16]]),
        (f.abs(x), [[3, 0, 4]]),
        (f.pow(x, factor=3.0), [[-27, 0, 64]]),
    ]:
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype, beyond", [("int32", 22), ("int64", 44)])
def test_exponentials_of_integers_lose_their_fraction(dtype, beyond):
    """What fluid 1.8.5 gave; beyond the range it is the least number."""
    found = f.exp(np.array([-3, -1, 0, 1, 2, 3, 5, 7, 20, beyond, 100], dtype))
    assert found.dtype == dtype
    least = np.iinfo(dtype).min
    assert found.tolist() == [0, 0, 1, 2, 7, 20, 148, 1096, 485165195, least, least]


def test_exponentials_of_bytes_are_refused():
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int8"):
        infer("exp", X=([2], "int8"))


@pytest.mark.parametrize("factor", [0.0, 1.0, 2.0, 3.0, -2.0])
def test_power_of_negative_numbers(factor):
    expected = np.reshape([v**factor for v in X.ravel().tolist()], X.shape)
    np.testing.assert_allclose(f.pow(X, factor=factor), expected)


def test_power_may_come_in_a_tensor():
    x, factor = abs(X).astype("float32"), np.array([2.5], "float32")
    found = f.pow(x, factor, factor=7.0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, f.pow(x, factor=2.5), 1e-6)
    (by_tensor,) = pull_back(f, lambda f, x: f.pow(x, factor), [x], [np.ones_like(x)])
    np.testing.assert_allclose(by_tensor, 2.5 * x**1.5, 1e-6)


def test_gradients_of_powers_at_zero():
    x = np.zeros([2])
    for factor, expected in [(0.0, 0), (1.0, 1), (2.0, 0), (3.0, 0)]:
        power = lambda f, x, factor=factor: f.pow(x, factor=factor)
        (found,) = pull_back(f, power, [x], [np.ones(2)])
        np.testing.assert_array_equal(found, [expected, expected])


@pytest.mark.parametrize("type", sorted({*FUNCTIONS, "round"} - {"square", "abs", "exp"}))
def test_other_functions_take_no_integers(type):
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        infer(type, X=([2, 3], "int64"))


def test_a_power_is_one_number():
    with pytest.raises(
        ShapeError, match=r"expected FactorTensor to hold one number, got shape \[2"
    ):
        infer("pow", X=([2, 3], "float32"), FactorTensor=([2], "float32"))
