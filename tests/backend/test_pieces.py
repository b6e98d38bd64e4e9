"""Chains of element-wise instructions on NumPy, worked on in pieces."""

import numpy as np
import pytest

import fluidlite as fluid
import fluidlite.paddle as paddle
from fluidlite import layers

ROWS, COLUMNS = 301, 307  # no multiple of a piece


@pytest.fixture(autouse=True)
def on_numpy_alone(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")


def planned(feed, fetches, passes=""):
    """What the plan gives, and its source."""
    exe = fluid.Executor(passes=passes)
    for _ in range(3):
        found = exe.run(feed=feed, fetch_list=fetches)
    return found, exe.plan(fetch_list=fetches).source


def activations(x):
    """Values that chains of several operators make."""
    y = layers.sigmoid(layers.scale(x, 0.5, bias=0.1)) * layers.tanh(x)
    z = paddle.nn.functional.gelu(y + x) + paddle.nn.functional.silu(x)
    return layers.sum([z, layers.relu(x), layers.sqrt(layers.square(y))])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_chain_keeps_the_bits_of_its_instructions(dtype):
    x = fluid.data("x", [ROWS, COLUMNS], dtype)
    x.stop_gradient = False
    y = activations(x)
    (dx,) = fluid.gradients([layers.reduce_mean(y * y)], [x])
    feed = {"x": np.random.default_rng(3).normal(size=(ROWS, COLUMNS)).astype(dtype)}
    cut, source = planned(feed, [y, dx])
    whole, plain = planned(feed, [y, dx], "-elementwise_fusion")
    assert " more, " in source and " more, " not in plain
    for one, other in zip(cut, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_values_that_lie_in_another_order_are_computed_as_they_lie():
    x = fluid.data("x", [64, 40, 50], "float32")
    turned = layers.transpose(x, [2, 0, 1])
    y = layers.exp(layers.scale(turned, -1.0)) + turned
    feed = {"x": np.random.default_rng(3).normal(size=(64, 40, 50)).astype("float32")}
    (found,), source = planned(feed, [y])
    value = feed["x"].transpose(2, 0, 1)
    assert " more, " in source
    np.testing.assert_array_equal(found, np.exp(-value) + value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2]])
def test_rows_are_repeated_in_the_pieces(order, dtype):
    shapes = {"x": [26, 101, 60], "bias": [60], "gain": [1, 1, 60], "power": [1]}
    given = {name: fluid.data(name, shape, dtype) for name, shape in shapes.items()}
    x = layers.transpose(given["x"], order)
    y = layers.elementwise_add(x * given["gain"], given["bias"], axis=2)
    y = paddle.nn.functional.gelu(y) + given["bias"] - y
    y = layers.elementwise_pow(layers.abs(y), given["power"])
    rng = np.random.default_rng(3)
    feed = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    (cut,), source = planned(feed, [y])
    (whole,), plain = planned(feed, [y], "-elementwise_fusion")
    assert "# elementwise_add," in plain and "elementwise_pow and 6 more" in source
    np.testing.assert_array_equal(cut, whole)


@pytest.mark.parametrize("shape, axis", [([101], 1), ([13], 0), ([13, 1, 60], -1), ([101, 1], 1)])
def test_what_is_repeated_otherwise_is_combined_by_itself(shape, axis):
    x, y = fluid.data("x", [13, 101, 60]), fluid.data("y", shape)
    z = layers.exp(layers.elementwise_add(layers.tanh(x), y, axis=axis))
    rng = np.random.default_rng(3)
    feed = {"x": rng.normal(size=[13, 101, 60]), "y": rng.normal(size=shape)}
    feed = {name: value.astype("f") for name, value in feed.items()}
    (found,), _ = planned(feed, [z])
    begin = 3 - len(shape) if axis == -1 else axis
    value = feed["y"].reshape([1] * begin + shape + [1] * (3 - begin - len(shape)))
    np.testing.assert_array_equal(found, np.exp(np.tanh(feed["x"]) + value))


def test_small_values_are_computed_one_by_one():
    x = fluid.data("x", [8, 8], "float32")
    _, source = planned({"x": np.ones((8, 8), "float32")}, [activations(x)])
    assert " more, " not in source


def test_the_distribution_of_gelu_and_of_its_gradient_is_computed_once():
    x = fluid.data("x", [ROWS, COLUMNS], "float32")
    x.stop_gradient = False
    y = paddle.nn.functional.gelu(x)
    (dx,) = fluid.gradients([layers.reduce_sum(y)], [x])
    feed = {"x": np.linspace(-6, 6, ROWS * COLUMNS, dtype="float32").reshape(ROWS, COLUMNS)}
    (value, slope), source = planned(feed, [y, dx])
    (single, other), _ = planned(feed, [y, dx], "-elementwise_fusion")
    assert "gelu" not in source.replace("gelu,", "")
    np.testing.assert_allclose(value, single, rtol=2e-7, atol=1e-7)
    np.testing.assert_array_equal(slope, other)


def test_chains_make_no_more_values_at_once_than_they_read():
    x = fluid.data("x", [400, 1000], "float32")
    sums = []
    for _ in range(6):
        sums.append(layers.reduce_sum(layers.cumsum(x, axis=0)))
        x = layers.scale(x, 1.5)
    _, source = planned({"x": np.ones((400, 1000), "float32")}, [layers.sum(sums)])
    assert " and 5 more" not in source
