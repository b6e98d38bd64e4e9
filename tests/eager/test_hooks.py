"""Hooks and gradients that are kept."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, GradientShapeError, GradientStateError


def leaf(values):
    return fluid.to_tensor(np.array(values, "float32"), stop_gradient=False)


def test_hooks_run_in_order_each_on_what_the_one_before_gave():
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: g + 1.0)
    x.register_hook(lambda g: g * 10.0)
    fluid.sum(x * x).backward()
    np.testing.assert_array_equal(x.grad, [30, 50])


def test_a_hook_of_a_result_changes_what_flows_on():
    x = leaf([1.0, 2.0])
    m = x * x
    m.register_hook(lambda g: g * 10.0)
    del m
    y = x * x
    y.register_hook(lambda g: g * 10.0)
    fluid.sum(y).backward()
    np.testing.assert_array_equal(x.grad, [20, 40])


def test_a_hook_sees_the_whole_gradient_once():
    x, seen = leaf([1.0, 2.0]), []
    m = x * 2.0
    m.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: seen.append(g.tolist()))
    fluid.sum(m * m + m * 3.0).backward()
    assert seen == [[7, 11], [14, 22]]


def test_a_hook_of_one_of_several_outputs():
    x = leaf([1.0, 2.0])
    a, b = x
    b.register_hook(lambda g: g * 10.0)
    (a + b).backward()
    np.testing.assert_array_equal(x.grad, [1, 10])


def test_a_hook_can_be_removed_while_it_runs():
    x, calls = leaf([1.0]), []

    def hook(gradient):
        calls.append(1)
        handle.remove()

    handle = x.register_hook(hook)
    (x * x).backward()
    (x * x).backward()
    assert calls == [1]
    assert handle.remove() is False


def test_a_hook_may_differentiate_something_else():
    x, u = leaf([1.0]), leaf([3.0])
    x.register_hook(lambda g: (u * u).backward())
    (x * x).backward()
    np.testing.assert_array_equal(u.grad, [6])


def test_what_a_hook_raises_comes_out_and_nothing_is_accumulated():
    x, w = leaf([1.0]), leaf([1.0])
    m = x * 2.0

    def hook(gradient):
        raise KeyError("mine")

    m.register_hook(hook)
    with pytest.raises(KeyError):
        (m * w).backward()
    assert w.grad is None


@pytest.mark.parametrize("answer, error", [(3.0, ArgumentError), ("shape", GradientShapeError)])
def test_a_hook_gives_a_gradient_of_the_same_shape(answer, error):
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: leaf([1.0]) if answer == "shape" else answer)
    with pytest.raises(error):
        fluid.sum(x).backward()


def test_a_tensor_that_stops_gradients_has_no_hooks():
    with pytest.raises(GradientStateError, match="would never be called"):
        fluid.to_tensor([1.0]).register_hook(print)
    with pytest.raises(ArgumentError, match="expected a function"):
        leaf([1.0]).register_hook(3)


def test_hooks_are_recorded_with_the_gradient():
    x = leaf([2.0])
    m = x * x
    m.register_hook(lambda g: g * x)
    (g,) = fluid.grad(m, x, create_graph=True)
    np.testing.assert_array_equal(g, [8])
    (h,) = fluid.grad(g, x)
    np.testing.assert_array_equal(h, [8])


def test_gradients_of_results_are_kept_where_asked_for():
    x = leaf([1.0, 2.0])
    m = x * x
    m.retain_grads()
    y = fluid.sum(m * 3.0)
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_array_equal(m.grad, [3, 3])
    np.testing.assert_array_equal(x.grad, [12, 24])


def test_keeping_the_gradient_of_a_constant_is_ignored():
    x = fluid.to_tensor([1.0])
    x.retain_grads()
    assert x.grad is None


def test_the_gradient_that_a_hook_gets_does_not_stop_gradients():
    x, flows = leaf([1.0]), []
    y = x * 2.0
    for each in (x, y):
        each.register_hook(lambda g: flows.append(not g.stop_gradient))
    y.backward()
    assert flows == [True, True]
