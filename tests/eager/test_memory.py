"""What is let go of, and when; long chains."""

import gc
import threading
import weakref

import numpy as np
import pytest

import fluidlite as fluid


def leaf(values):
    return fluid.to_tensor(np.array(values, "float32"), stop_gradient=False)


@pytest.fixture
def no_collector():
    """References alone free everything: there are no cycles."""
    gc.disable()
    yield
    gc.enable()


def build(x):
    """A graph with all sorts of operators, and weak references to its inner tensors and nodes."""
    a = fluid.exp(x)
    b, c = fluid.split(fluid.concat([a, a * x]), 2)
    d = fluid.nn.functional.softmax(b) + c[1:].sum()
    d.retain_grads()
    d.register_hook(lambda g: g * 1.0)
    return fluid.sum(d), [weakref.ref(t) for t in (a, b, c, d, a.grad_fn, d.grad_fn)]


def test_a_graph_goes_with_its_result(no_collector):
    y, parts = build(leaf([1.0, 2.0]))
    assert all(part() is not None for part in parts[-2:])
    del y
    assert [part() for part in parts] == [None] * 6


def test_backward_lets_go_of_what_it_has_passed(no_collector):
    x = leaf([1.0, 2.0])
    y, parts = build(x)
    y.backward()
    assert y.grad_fn is not None
    assert [part() for part in parts] == [None] * 6


def test_a_graph_that_is_kept_stays(no_collector):
    y, parts = build(leaf([1.0, 2.0]))
    y.backward(retain_graph=True)
    assert parts[-1]() is not None


def test_arrays_are_freed_at_once(no_collector):
    x = leaf(np.ones(1000))
    m = fluid.sin(x)
    array = weakref.ref(m.array)
    y = m * m
    del m
    assert array() is not None
    y.backward(fluid.ones([1000]))
    assert array() is None


def test_gradients_of_gradients_make_no_cycle(no_collector):
    x = leaf([0.5])
    y = fluid.tanh(x) * x
    (g,) = fluid.grad(y, x, create_graph=True)
    parts = [weakref.ref(t) for t in (y, g, y.grad_fn, g.grad_fn)]
    del y, g
    assert [part() for part in parts] == [None] * 4


def chain(length):
    x = leaf(1.0)
    y = x
    for _ in range(length):
        y = y + 0.5
    return x, y


def in_small_stack(function):
    """Run a function in a thread that has little room to recurse: about what Python 3.13 needs to
    free any linked list, far from what a million frames do.
    """
    found = []
    before = threading.stack_size(4 * 1024 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(function()))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return found[0]


def test_a_long_chain_of_operators_is_freed_without_recursion():
    def free():
        _, y = chain(100_000)
        last = weakref.ref(y.grad_fn)
        del y
        return last() is None

    assert in_small_stack(free)


def test_a_long_chain_is_differentiated_without_recursion():
    def gradient():
        x, y = chain(100_000)
        y.backward()
        return float(x.grad)

    assert in_small_stack(gradient) == 1.0
