"""Activations: one operator each, with the attributes that the user gave."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import FluidWarning, ShapeError
from fluidlite.layers import activation

from building import data, refused, run, written

X = np.array([[-2.5, -0.3, 0.4, 3.1]], "float32")
EXPECTED = {
    "tanh": math.tanh,
    "tanh_shrink": lambda x: x - math.tanh(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "logsigmoid": lambda x: -math.log(1 + math.exp(-x)),
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "relu": lambda x: max(x, 0),
    "relu6": lambda x: min(max(x, 0), 6),
    "brelu": lambda x: min(max(x, 0), 24),
    "leaky_relu": lambda x: x if x > 0 else 0.02 * x,
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "selu": lambda x: 1.0507009873 * (x if x > 0 else 1.6732632423 * (math.exp(x) - 1)),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "swish": lambda x: x / (1 + math.exp(-x)),
    "mish": lambda x: x * math.tanh(math.log(1 + math.exp(x))),
    "stanh": lambda x: 1.7159 * math.tanh(0.67 * x),
    "soft_relu": lambda x: math.log(1 + math.exp(x)),
    "hard_sigmoid": lambda x: min(max(0.2 * x + 0.5, 0), 1),
    "hard_swish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "hard_shrink": lambda x: x if abs(x) > 0.5 else 0,
    "softshrink": lambda x: math.copysign(max(abs(x) - 0.5, 0), x),
    "thresholded_relu": lambda x: x if x > 1 else 0,
}
OTHERS = {"softmax", "log_softmax"}


def test_every_activation_is_tested():
    public = {name for name in layers.__all__ if getattr(activation, name, None)}
    assert public == EXPECTED.keys() | OTHERS


@pytest.mark.parametrize("name", EXPECTED)
def test_an_activation_appends_one_operator_of_its_name(name):
    out = getattr(layers, name)(data())
    (line,) = written()
    assert line.startswith(f"{name}_0.tmp_0 = {name}(X=x")
    assert out.shape == (-1, 4)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_activation_computes_it(name):
    out = getattr(layers, name)(data())
    wanted = [[EXPECTED[name](x) for x in X[0].tolist()]]
    assert np.allclose(run(out, x=X), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make, wanted",
    [
        (lambda x: layers.relu6(x, 3.0), "relu6(X=x, threshold=3.0)"),
        (lambda x: layers.brelu(x, -1.0, 1.0), "brelu(X=x, t_min=-1.0, t_max=1.0)"),
        (lambda x: layers.leaky_relu(x, 0.5), "leaky_relu(X=x, alpha=0.5)"),
        (lambda x: layers.elu(x, alpha=0.5), "elu(X=x, alpha=0.5)"),
        (lambda x: layers.selu(x, scale=2.0), "selu(X=x, scale=2.0)"),
        (lambda x: layers.gelu(x, True), "gelu(X=x, approximate=true)"),
        (lambda x: layers.swish(x, beta=0.5), "swish(X=x, beta=0.5)"),
        (lambda x: layers.stanh(x, 0.5, 2.0), "stanh(X=x, scale_a=0.5, scale_b=2.0)"),
        (lambda x: layers.hard_sigmoid(x, 0.5, 0.25), "hard_sigmoid(X=x, slope=0.5, offset=0.25)"),
        (lambda x: layers.hard_shrink(x, 0.25), "hard_shrink(X=x, threshold=0.25)"),
        (lambda x: layers.softshrink(x, 0.25), "softshrink(X=x, lambda=0.25)"),
        (lambda x: layers.thresholded_relu(x, 0.25), "thresholded_relu(X=x, threshold=0.25)"),
        (lambda x: layers.softmax(x, axis=1), "softmax(X=x, axis=1)"),
    ],
)
def test_arguments_become_attributes(make, wanted):
    made = make(data())
    assert written() == [f"{made.name} = {wanted}"]


def test_the_logarithm_of_softmax_is_two_operators():
    out = layers.log_softmax(data())
    assert written() == [
        "log_softmax_0.tmp_0 = softmax(X=x)",
        "log_softmax_0.tmp_1 = log(X=log_softmax_0.tmp_0)",
    ]
    found = run(out, x=X)
    assert np.allclose(found, X - np.log(np.exp(X.astype("float64")).sum()), rtol=1e-5)


def test_the_logarithm_of_softmax_is_computed_in_another_element_type():
    out = layers.log_softmax(data(), dtype="float64")
    assert run(out, x=X).dtype == "float64"


def test_softmax_refuses_a_dimension_that_is_not_there():
    x = data()
    with refused(ShapeError, r"(?s)axis.*\[-2, 2\).*x float32\[-1, 4\]"):
        layers.softmax(x, axis=2)


def test_a_leaky_rectifier_with_a_negative_slope_has_its_gradient():
    """From the sign of its result alone nobody can tell where x was."""
    x = fluid.data("x", [5], "float32")
    x.stop_gradient = False
    with pytest.warns(FluidWarning, match="alpha=-0.5 is composed of others"):
        out = layers.leaky_relu(x, -0.5)
    fetches = [out, *fluid.gradients([out], [x])]
    feed = {"x": np.array([-np.inf, -2, 0, 1, np.inf], "float32")}
    value, slope = fluid.Executor().run(feed=feed, fetch_list=fetches)
    assert value.tolist() == [np.inf, 1, 0, 1, np.inf]
    assert slope.tolist() == [-0.5, -0.5, -0.5, 1, 1]
    eager = fluid.to_tensor([-2.0, 0.0, 1.0], stop_gradient=False)
    fluid.nn.functional.leaky_relu(eager, -0.5).sum().backward()
    assert eager.grad.tolist() == [-0.5, 1, 1]  # at 0 as in paddle 2
