"""grad: which inputs, orders, blocked tensors, and what it leaves alone."""

import math
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FluidWarning, GradientShapeError, UnreachableError


def leaf(values, dtype="float64"):
    return fluid.to_tensor(np.array(values), dtype=dtype, stop_gradient=False)


def test_gradients_of_no_tensor_change():
    x, w = leaf(3.0), leaf(4.0)
    found = fluid.grad(x * w, [w, x])
    assert [float(g) for g in found] == [3.0, 4.0]
    assert x.grad is None
    assert w.grad is None


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_derivatives_of_the_sine_of_every_order(order):
    x = leaf([0.3, -1.2])
    y = fluid.sin(x)
    for _ in range(order):
        (y,) = fluid.grad(y, x, create_graph=True)
    expected = [math.sin(v + order * math.pi / 2) for v in (0.3, -1.2)]
    np.testing.assert_allclose(y, expected, 1e-12)


def test_derivatives_through_functions_of_several_operators():
    x = leaf([0.3, 0.7])
    y = fluid.sum(fluid.nn.functional.softmax(x) * fluid.exp(x))
    (first,) = fluid.grad(y, x, create_graph=True)
    (second,) = fluid.grad(first[0], x)

    def value(a, b):
        e = math.exp(a), math.exp(b)
        return (e[0] ** 2 + e[1] ** 2) / (e[0] + e[1])

    h = 1e-4
    by_b = (value(0.3 + h, 0.7 + h) - value(0.3 + h, 0.7 - h)) / (4 * h * h)
    by_b -= (value(0.3 - h, 0.7 + h) - value(0.3 - h, 0.7 - h)) / (4 * h * h)
    np.testing.assert_allclose(float(second[1]), by_b, 1e-5)


def test_a_derivative_that_is_constant_depends_on_nothing():
    x = leaf([1.0, 2.0])
    (g,) = fluid.grad(fluid.sum(x * 3.0), x, create_graph=True)
    with pytest.raises(UnreachableError) as error:
        fluid.grad(g, x)
    assert "allow_unused=True" in str(error.value)
    assert __file__ in str(error.value)
    assert fluid.grad(g, x, allow_unused=True) == [None]


def test_an_input_that_takes_no_part_is_named():
    x, unused = leaf(1.0), leaf(2.0)
    unused.name = "bias"
    with pytest.raises(UnreachableError, match=r"inputs\[1\], tensor 'bias' .*do not depend on it"):
        fluid.grad(x * x, [x, unused])


def test_nothing_flows_through_blocked_tensors():
    x = leaf(2.0)
    a = x * x
    (g,) = fluid.grad(a * x, x, no_grad_vars=[a])
    assert float(g) == 4.0


def test_a_gradient_can_be_differentiated_by_its_seed():
    x, seed = leaf([1.0, 2.0]), leaf([5.0, 6.0])
    (g,) = fluid.grad(x * x, x, grad_outputs=seed, create_graph=True)
    fluid.sum(g * g).backward()
    np.testing.assert_array_equal(seed.grad, [40, 192])
    np.testing.assert_array_equal(x.grad, [200, 576])


def test_inputs_may_be_results():
    x = leaf([1.0, 2.0])
    m = x * x
    by_m, by_x = fluid.grad(fluid.sum(m * m), [m, x])
    np.testing.assert_array_equal(by_m, [2, 8])
    np.testing.assert_array_equal(by_x, [4, 32])


def test_inputs_may_be_results_of_operators_with_several():
    x = leaf([1.0, 2.0, 3.0])
    a, b = fluid.split(x, [1, 2])
    by_b, by_a = fluid.grad(fluid.sum(b * b) + fluid.sum(a * 7.0), [b, a])
    np.testing.assert_array_equal(by_b, [4, 6])
    np.testing.assert_array_equal(by_a, [7])


def test_a_gradient_penalty_reaches_the_weights():
    w, x = leaf([2.0, -1.0]), leaf([3.0, 4.0])
    (g,) = fluid.grad(fluid.sum(w * x * x), x, create_graph=True)
    fluid.sum(g * g).backward()
    np.testing.assert_array_equal(w.grad, [144, -128])


def test_arguments_of_grad_are_checked():
    x = leaf([1.0, 2.0])
    y = x * x
    wrong = [
        lambda: fluid.grad(y, [x, x]),
        lambda: fluid.grad([y, y], x),
        lambda: fluid.grad(y, []),
        lambda: fluid.grad(y, "x"),
        lambda: fluid.grad(y, x, create_graph=1),
        lambda: fluid.grad(y, x, only_inputs=False),
        lambda: fluid.grad(y, x, no_grad_vars="x"),
        lambda: fluid.grad([y, y * 2.0], x, [fluid.to_tensor([1.0, 1.0])]),
        lambda: fluid.grad(y, x, [np.ones(2)]),
    ]
    for call in wrong:
        with pytest.raises(ArgumentError, match=f"called at {__file__}"):
            call()
    with pytest.raises(GradientShapeError):
        fluid.grad(y, x, fluid.to_tensor([1.0]))


@pytest.mark.parametrize("spelling", ["paddle", "oneflow"])
def test_that_the_gradient_of_a_result_is_not_kept_is_said_once(spelling):
    if spelling == "paddle":
        x, keep = fluid.to_tensor([1.0], stop_gradient=False), "retain_grads"
    else:
        x, keep = fluid.flow.tensor([1.0], requires_grad=True), "retain_grad"
    y = x * 2.0
    (y * y).sum().backward()
    with pytest.warns(FluidWarning, match=rf"None here; call its {keep}\(\)") as caught:
        assert y.grad is None
    assert caught[0].filename == __file__
    assert f"{Path(__file__).name}:" in str(caught[0].message)
    assert (y * 1.0).grad is None


def test_nothing_is_said_of_leaves_and_of_what_is_kept():
    x = fluid.to_tensor([1.0], stop_gradient=False)
    y = x * 2.0
    y.retain_grads()
    assert x.grad is y.grad is fluid.ones([1]).grad is x.detach().grad is None
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0]
    with fluid.dygraph.guard():
        z = fluid.dygraph.to_variable(np.float32([1.0])) * 2.0
        assert z.grad is None


def test_a_variable_of_a_program_is_refused_with_what_programs_have():
    with pytest.raises(ArgumentError, match=r"in a program fluid\.gradients finds gradients"):
        fluid.grad(fluid.data("x", [2], "float32"), fluid.to_tensor([1.0]))


def test_no_grad_vars_may_be_one_tensor_of_several_elements():
    x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    h = x * x
    assert fluid.grad(h * x, x, no_grad_vars=h)[0].tolist() == [1, 4]


@pytest.mark.parametrize("repeated", ["outputs", "inputs"])
def test_a_tensor_that_is_listed_twice_is_a_runtime_error_as_in_paddle_2(repeated):
    x = fluid.to_tensor([1.0], stop_gradient=False)
    y = x * x
    listed = {"outputs": y, "inputs": x}
    listed[repeated] = [listed[repeated]] * 2
    with pytest.raises(RuntimeError, match="different tensors, got one twice"):
        fluid.grad(**listed)
