"""Derivatives that are zero almost everywhere."""

import numpy as np
import pytest

from fluidlite import flow, nn
from fluidlite.errors import GradientStateError, UnreachableError
from fluidlite.flow import autograd

F = nn.functional


@pytest.fixture
def x():
    values = np.linspace(-2.0, 2.0, 6, dtype="float32").reshape(2, 3)
    return flow.tensor(values, requires_grad=True)


def slope(function, x):
    return autograd.grad(function(x).sum(), x, create_graph=True)[0]


FLAT = {
    "relu": flow.relu,
    "relu6": F.relu6,
    "leaky_relu": F.leaky_relu,
    "prelu": lambda x: F.prelu(x, flow.tensor([0.25], requires_grad=True)),
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "hardtanh": F.hardtanh,
    "thresholded_relu": F.thresholded_relu,
    "hardsigmoid": F.hardsigmoid,
    "clip": lambda x: x.clip(-1.0, 1.0),
    "max": lambda x: x.max(),
    "max_pool2d": lambda x: F.max_pool2d(x.reshape([1, 1, 2, 3]), 2),
    "norm": lambda x: x.norm(1),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_derivative_that_is_zero_between_kinks_is_zero_in_every_order(name, x):
    first = slope(FLAT[name], x)
    assert first.requires_grad and first.numpy().any()
    second = autograd.grad(first.sum(), x, create_graph=True)[0]
    third = autograd.grad(second.sum(), x)[0]
    assert not second.numpy().any() and not third.numpy().any()
    assert second.shape == third.shape == [2, 3]


def test_a_flat_part_adds_nothing_to_a_curved_one(x):
    bent = slope(lambda x: flow.relu(x) * x, x)
    (second,) = autograd.grad(bent.sum(), x)
    np.testing.assert_array_equal(second.numpy(), 2.0 * (x.numpy() > 0))
    (second,) = autograd.grad((slope(flow.relu, x) * x).sum(), x)
    np.testing.assert_array_equal(second.numpy(), x.numpy() > 0)


def test_a_penalty_on_the_slope_of_a_net_with_relu_reaches_its_weights():
    w = flow.tensor(np.array([[1.0, -2.0], [0.5, 3.0]], "float32"), requires_grad=True)
    x = flow.tensor([[1.0, 2.0]], requires_grad=True)
    (g,) = autograd.grad(flow.relu(flow.matmul(x, w)).sum(), x, create_graph=True)
    (g * g).sum().backward()
    assert w.grad.tolist() == [[-2.0, -2.0], [7.0, 7.0]]
    assert x.grad.tolist() == [[0.0, 0.0]]


def test_what_no_path_reaches_is_unreachable():
    x, y = flow.tensor([1.0, 2.0], requires_grad=True), flow.tensor([3.0, 4.0], requires_grad=True)
    (by_x,) = autograd.grad((x * y).sum(), x, create_graph=True)
    with pytest.raises(UnreachableError, match="allow_unused=True"):
        autograd.grad(by_x.sum(), x)
    assert autograd.grad(slope(lambda x: x * x + y, x).sum(), y, allow_unused=True) == (None,)


def test_the_slope_of_what_is_linear_depends_on_nothing(x):
    for linear in (lambda x: x * 2.0, lambda x: x, lambda x: x.mean(), lambda x: x[0]):
        first = slope(linear, x)
        assert not first.requires_grad
        with pytest.raises(GradientStateError):
            autograd.grad(first.sum(), x)
