"""Elementary functions: one operator each, of the shape of the input."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError
from fluidlite.layers import unary

from building import data, refused, run, written

X = np.array([[0.2, 0.5, 0.9, 0.7]], "float32")
EXPECTED = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": np.square,
    "reciprocal": lambda x: 1 / x,
    "abs": np.abs,
    "sign": np.sign,
    "ceil": np.ceil,
    "floor": np.floor,
    "round": lambda x: np.floor(x + 0.5),
    "sin": np.sin,
    "cos": np.cos,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "erf": lambda x: np.array([[0.222703, 0.5204999, 0.7969082, 0.6778012]]),
    "pow": lambda x: x,
}


def test_every_elementary_function_is_tested():
    public = [name for name in layers.__all__ if getattr(unary, name, None) and name != "assign"]
    assert sorted(public) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_function_appends_one_operator_of_its_name(name):
    x = data()
    out = getattr(layers, name)(x)
    assert written()[0].startswith(f"{name}_0.tmp_0 = {name}(X=x")
    assert (out.name, out.shape, out.dtype) == (f"{name}_0.tmp_0", (-1, 4), x.dtype)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_function_computes_it(name):
    out = getattr(layers, name)(data())
    assert np.allclose(run(out, x=X), EXPECTED[name](X.astype("float64")), rtol=1e-5)


@pytest.mark.parametrize("name", ["tanh", "sin", "rsqrt", "erf"])
def test_integers_are_refused_by_the_name_of_the_variable(name):
    n = data("n", dtype="int64")
    with refused(DTypeError, r"(?s)float32.*n int64\[-1, 4\]"):
        getattr(layers, name)(n)


def test_log1p_writes_to_a_given_variable():
    out = layers.create_tensor("float32", name="out")
    assert layers.log1p(data(), out=out) is out
    assert written() == ["out = log1p(X=x)"]


def test_log1p_writes_to_variables_only():
    x = data()
    with refused(ArgumentError, "expected out to be a variable"):
        layers.log1p(x, out="y")


def test_the_power_may_be_a_variable_that_nothing_flows_to():
    x, power = data(), data("p", [1])
    power.stop_gradient = False
    out = layers.pow(x, power)
    assert written() == ["pow_0.tmp_0 = pow(X=x, FactorTensor=p)"]
    assert power.stop_gradient
    assert np.allclose(run(out, x=X, p=np.array([2], "float32")), X**2)


def test_the_sign_of_an_array_is_written_into_the_program():
    found = run(layers.sign(np.array([3.0, 0.0, -2.0], "float32")))
    assert found.tolist() == [1.0, 0.0, -1.0]
    with pytest.raises(ArgumentError, match="a variable or an array"):
        layers.sign([1.0])
