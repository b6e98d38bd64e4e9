"""Each optimizer trains a parameter as its formulas say, written out in NumPy."""

from functools import partial
from math import sqrt

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

# attributes are C floats: 0.05 has seven digits
assert_close = partial(np.testing.assert_allclose, rtol=1e-6)
START = np.array([0.5, -1.0, 2.0])
INPUTS = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 3.0], [2.0, 0.0, 1.0], [-1.0, 1.5, 0.5]])


def train(optimizer, steps=4):
    """The parameter after each step; the loss of step s is the square of input s times it."""
    x = fluid.data("x", [3], "float64")
    w = fluid.layers.create_parameter(
        [3], "float64", name="w", default_initializer=fluid.initializer.Constant(0.0)
    )
    optimizer.minimize(fluid.layers.reduce_sum(fluid.layers.square(x * w)))
    executor, scope = fluid.Executor(), fluid.global_scope()
    executor.run(fluid.default_startup_program())
    tensor = scope.find_var("w").get_tensor()
    tensor.set(START)
    seen = []
    for step in range(steps):
        executor.run(feed={"x": INPUTS[step]})
        seen.append(np.array(tensor))
    return seen


def expected(rule, steps=4):
    """The parameter after each step of ``rule(number of the step, parameter, gradient)``."""
    w, seen = START.copy(), []
    for step in range(steps):
        w = rule(step + 1, w, 2 * INPUTS[step] ** 2 * w)
        seen.append(w.copy())
    return seen


def test_gradient_descent():
    found = train(fluid.optimizer.SGD(0.05))
    assert_close(found, expected(lambda _, w, g: w - 0.05 * g))


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    velocity = np.zeros(3)

    def rule(_, w, g):
        nonlocal velocity
        velocity = 0.9 * velocity + g
        return w - 0.01 * (g + 0.9 * velocity if nesterov else velocity)

    found = train(fluid.optimizer.Momentum(0.01, 0.9, use_nesterov=nesterov))
    assert_close(found, expected(rule))


def adam_rule(rate, beta1, beta2, epsilon):
    first, second = np.zeros(3), np.zeros(3)

    def rule(t, w, g):
        nonlocal first, second
        first = beta1 * first + (1 - beta1) * g
        second = beta2 * second + (1 - beta2) * g * g
        step = rate * sqrt(1 - beta2**t) / (1 - beta1**t)
        return w - step * first / (np.sqrt(second) + epsilon)

    return rule


def test_adam():
    found = train(fluid.optimizer.Adam(0.1, beta1=0.8, beta2=0.95, epsilon=1e-3))
    assert_close(found, expected(adam_rule(0.1, 0.8, 0.95, 1e-3)))


def test_adam_with_its_usual_numbers_as_variables():
    betas = [
        fluid.layers.create_global_var([1], value, "float64", persistable=True, name=name)
        for name, value in (("beta1", 0.9), ("beta2", 0.999))
    ]
    found = train(fluid.optimizer.Adam(0.1, *betas))
    assert_close(found, expected(adam_rule(0.1, 0.9, 0.999, 1e-8)))


def test_decay_is_added_to_the_gradient():
    decay = fluid.regularizer.L2Decay(0.5)
    found = train(fluid.optimizer.SGD(0.05, regularization=decay))
    assert_close(found, expected(lambda _, w, g: w - 0.05 * (g + 0.5 * w)))


def test_gradients_are_clipped_before_decay_is_added():
    def rule(_, w, g):
        g = g * min(1.0, 2.0 / np.linalg.norm(g))
        return w - 0.05 * (g + 0.5 * w)

    optimizer = fluid.optimizer.SGD(
        0.05,
        regularization=fluid.regularizer.L2Decay(0.5),
        grad_clip=fluid.clip.GradientClipByGlobalNorm(2.0),
    )
    assert_close(train(optimizer), expected(rule))


def test_a_step_reads_what_the_parameter_was_before():
    x = fluid.data("x", [1], "float64")
    w = fluid.layers.create_parameter(
        [1], "float64", name="w", default_initializer=fluid.initializer.Constant(3.0)
    )
    loss = fluid.layers.reduce_sum(x * w)
    fluid.optimizer.SGD(1.0).minimize(loss)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    seen, after = executor.run(feed={"x": np.array([2.0])}, fetch_list=[loss, w])
    assert seen.tolist() == [6.0] and after.tolist() == [1.0]


@pytest.mark.parametrize(
    "kind, given, message",
    [
        ("Momentum", {"momentum": "x"}, "Momentum: expected momentum to be a number, got 'x'"),
        ("Momentum", {"momentum": None}, "Momentum: expected momentum to be a number, got None"),
        (
            "Adam",
            {"beta1": 2.0},
            "Adam: expected beta1 to be a number of at least 0 and less than 1",
        ),
        ("Adam", {"beta2": -0.1}, r"Adam: expected beta2 to be .*, got -0\.1 of type float"),
        (
            "Adam",
            {"epsilon": None},
            "Adam: expected epsilon to be a number of at least 0, got None",
        ),
    ],
)
def test_numbers_out_of_bounds_are_refused(kind, given, message):
    with pytest.raises(ArgumentError, match=message):
        getattr(fluid.optimizer, kind)(0.1, **given)


def test_adam_passes_its_betas_on():
    beta = fluid.layers.create_global_var([1], 0.7, "float32", persistable=True, name="beta")
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    ((step,), _) = fluid.optimizer.Adam(0.1, beta1=beta, beta2=0.9, lazy_mode=True).minimize(loss)
    assert step.input("Beta1Tensor") == ["beta"] and step.input("Beta2Tensor") == []
    assert step.attr("beta2") == pytest.approx(0.9) and step.attr("lazy_mode") is True


def test_names_with_and_without_optimizer_are_the_same_class():
    for name in ("SGD", "Momentum", "Adam"):
        assert getattr(fluid.optimizer, name) is getattr(fluid.optimizer, f"{name}Optimizer")
