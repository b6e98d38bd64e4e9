"""Checkpoints: the same bits from a second call, and less to keep."""

import gc
import weakref

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, OverwrittenError, ReleasedError

checkpoint = fluid.autograd.checkpoint
dropout = fluid.nn.functional.dropout


def leaf(values):
    return fluid.to_tensor(np.array(values, "float64"), stop_gradient=False)


def plain(function, *args, **kwargs):
    return function(*args, **kwargs)


def test_gradients_are_the_same_to_the_last_bit():
    found = []
    for call in (plain, checkpoint):
        fluid.seed(5)
        x, w = leaf([[0.3, -0.7], [1.1, 0.4]]), leaf([[0.5, 2.0], [-1.0, 0.25]])
        h = x * 2.0  # neither an argument nor a leaf
        y = call(lambda a, h=h, w=w: fluid.tanh(dropout(fluid.matmul(a, w), 0.5) + h), x * x)
        (dropout(y, 0.5) * y).sum().backward()
        found.append([y.tolist(), x.grad.tolist(), w.grad.tolist()])
    assert found[0] == found[1]


def test_the_function_is_called_twice_and_random_numbers_go_on_as_without():
    calls = []

    def function(x):
        calls.append(dropout(x, 0.5))
        return calls[-1] * x

    fluid.seed(3)
    x = leaf(np.ones(50))
    y = checkpoint(function, x)
    expected = fluid.rand([2])
    fluid.seed(3)
    dropout(x, 0.5)
    assert fluid.rand([2]).tolist() == expected.tolist()
    y.backward()
    assert len(calls) == 2 and calls[0].tolist() == calls[1].tolist()


def test_gradients_can_be_differentiated():
    found = []
    for call in (plain, checkpoint):
        x = leaf([0.5, -2.0])
        h = fluid.exp(x)
        y = call(lambda t, h=h: t * t * t * h, x)
        (slope,) = fluid.grad(y, x, create_graph=True)
        (second,) = fluid.grad(slope, x, create_graph=True)
        (third,) = fluid.grad(second, x)
        found.append([slope.tolist(), second.tolist(), third.tolist()])
    np.testing.assert_allclose(found[1], found[0], 1e-13)
    assert fluid.gradcheck(
        lambda x: checkpoint(lambda t: fluid.tanh(t) * t, x), [leaf([0.3, 2.0])], order=3
    ).ok


def test_a_source_that_another_source_was_made_of_counts_once():
    x = leaf([3.0])
    h = x * x
    k = h * 2.0
    checkpoint(lambda: h * k + x).backward()  # 2 x^4 + x
    assert x.grad.tolist() == [8 * 27.0 + 1]


def test_hooks_of_what_a_checkpoint_reads_are_called_once():
    x, seen = leaf([3.0]), []
    h = x * x
    h.register_hook(lambda g: seen.append(g.tolist()))
    (checkpoint(lambda h: h * h, h) + h).backward()
    assert seen == [[19.0]]


def test_checkpoints_within_checkpoints():
    x = leaf([0.5, 2.0])

    def inner(t):
        return fluid.tanh(t) * t

    y = checkpoint(lambda t: checkpoint(inner, checkpoint(inner, t)) * t, x)
    expected = inner(inner(x)) * x
    # what reaches x from within and from outside is added up in another order
    np.testing.assert_allclose(fluid.grad(y, x)[0], fluid.grad(expected, x)[0], 1e-15)


def test_several_results_and_those_that_stop():
    x = leaf([1.0, 2.0])
    a, b, c = checkpoint(lambda x: (x * x, x.detach(), x * 3.0), x)
    assert [t.stop_gradient for t in (a, b, c)] == [False, True, False]
    (a + b).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_inner_values_are_let_go_of():
    x, inner = leaf([1.0, 2.0]), []

    def function(x):
        t = fluid.exp(x)
        inner.append(weakref.ref(t))
        return t * t

    gc.disable()
    try:
        y = checkpoint(function, x)
        assert inner[0]() is None
        y.backward()
        assert inner[1]() is None
    finally:
        gc.enable()


def test_the_graph_is_released_and_can_be_kept():
    x = leaf([3.0])
    y = checkpoint(lambda x: x * x, x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]
    with pytest.raises(ReleasedError, match="checkpoint of <lambda>"):
        y.backward()


def test_where_nothing_wants_a_gradient_the_function_is_only_called():
    x = leaf([3.0])
    with fluid.no_grad():
        assert checkpoint(lambda x: x * x, x).stop_gradient
    assert checkpoint(lambda x: x * x, x.detach()).stop_gradient


def test_what_would_give_wrong_gradients_is_refused():
    x = leaf([3.0])
    h = x * 1.0
    y = checkpoint(lambda h: h * h, h)
    h.add_(h)
    with pytest.raises(OverwrittenError, match="needed to compute a checkpoint again"):
        y.backward()
    with pytest.raises(ArgumentError, match="the function writes an argument in place"):
        checkpoint(lambda h: h.add_(h), x * 1.0)
    sizes = [2, 3]
    y = checkpoint(lambda x: fluid.expand(x, [sizes.pop()]), x)
    with pytest.raises(ArgumentError, match="gives something else when it is called again"):
        y.sum().backward()


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="expected a function to call, got 3"):
        checkpoint(3)
    with pytest.raises(ArgumentError, match="expected what the function returns to be a tensor"):
        checkpoint(lambda: 3)
