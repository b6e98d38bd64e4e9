"""Numbers beside tensors in an index: numbers take their place first, as in Paddle and PyTorch."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow

T = np.array([0, 2])
TWO = np.array([[0, 1, 2], [2, 1, 0]])
MASK = np.array([True, False, True, True])
ALL = slice(None)

#: indices of an array of the shape 3, 4, 5, 4
ITEMS = [
    (1, ALL, T),
    (ALL, 0, ALL, T),
    (1, Ellipsis, T),
    (Ellipsis, 1, ALL, T),
    (1, slice(1, 3), T),
    (1, None, T),
    (None, 1, ALL, T),
    (0, None, T),
    (1, ALL, TWO),
    (2, ALL, TWO, T[:1]),
    (T, ALL, 1),
    (T, 1, T),
    (T, ALL, 1, T),
    (1, T, ALL, T),
    (T, None, 1),
    (T, None, T),
    (np.int64(1), ALL, -1, T),
    (1, ALL, ALL, MASK),
    (ALL, MASK, 2),
    (1, MASK, ALL, 2),
    (1, ALL, 0, T),
    (1, ALL, T, 0),
    (-1, Ellipsis, -1),
    (np.array(1), ALL, T),
    (T, ALL, np.array(1)),
    (np.array(1), ALL, np.array(0)),
]


def basic_first(item, ndim):
    """The index in two: numbers, slices and new dimensions, and then tensors."""
    width = sum(
        e.ndim if isinstance(e, np.ndarray) and e.dtype == bool else 1
        for e in item
        if e is not None and e is not Ellipsis
    )
    first, second = [], []
    for entry in (*item, *[Ellipsis] * all(e is not Ellipsis for e in item)):
        if isinstance(entry, np.ndarray) and entry.ndim:
            first += [ALL] * (entry.ndim if entry.dtype == bool else 1)
            second.append(entry)
        elif entry is Ellipsis:
            first += [ALL] * (ndim - width)
            second += [ALL] * (ndim - width)
        elif entry is None or isinstance(entry, slice):
            first.append(entry)
            second.append(ALL)
        else:
            first.append(int(entry))
    return tuple(first), tuple(second)


def array():
    return np.arange(240.0).reshape(3, 4, 5, 4)


def expected_parts(item):
    """What stands at the index; the gradient for some weights; the array with other numbers."""
    first, second = basic_first(item, 4)
    value = array()[first][second]
    weights = np.random.default_rng(0).normal(size=value.shape)
    gradient, written = np.zeros_like(array()), array()
    np.add.at(gradient[first], second, weights)
    written[first][second] = weights
    return value, weights, gradient, written


def test_the_values_of_the_report_are_those_of_paddle_and_torch():
    x, t = fluid.to_tensor(np.arange(24).reshape(2, 3, 4)), fluid.to_tensor([0, 2])
    assert x[1, :, [0, 2]].tolist() == [[12, 14], [16, 18], [20, 22]]
    assert x[1, ..., t].tolist() == [[12, 14], [16, 18], [20, 22]]
    y, t = flow.tensor(np.arange(16).reshape(2, 2, 2, 2)), flow.tensor([1, 0])
    assert y[None, 1, :, t].tolist() == [[[[10, 11], [8, 9]], [[14, 15], [12, 13]]]]
    assert y[0, None, t].tolist() == [[[[4, 5], [6, 7]], [[0, 1], [2, 3]]]]


@pytest.mark.parametrize("item", ITEMS, ids=repr)
@pytest.mark.parametrize("face", ["paddle", "flow"])
def test_eager_items_are_read_differentiated_and_written(face, item):
    value, weights, gradient, written = expected_parts(item)
    if face == "paddle":
        x, y = (fluid.to_tensor(array(), stop_gradient=stop) for stop in (False, True))
        make = fluid.to_tensor
    else:
        x, y = (flow.tensor(array(), requires_grad=flows) for flows in (True, False))
        make = flow.tensor
    index = tuple(make(e) if isinstance(e, np.ndarray) else e for e in item)
    found = x[index]
    np.testing.assert_array_equal(found.numpy(), value)
    (found * make(weights)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), gradient)
    y[index] = make(weights)
    np.testing.assert_array_equal(y.numpy(), written)


@pytest.mark.parametrize("item", ITEMS, ids=repr)
def test_programs_give_the_same_with_indices_that_are_fed(item):
    value, weights, gradient, written = expected_parts(item)
    x = fluid.data("x", [3, 4, 5, 4], "float64")
    x.stop_gradient = False
    w = fluid.data("w", list(weights.shape), "float64")
    feed, index = {"x": array(), "w": weights}, []
    for number, entry in enumerate(item):
        if isinstance(entry, np.ndarray):
            name = f"i{number}"
            feed[name] = entry
            entry = fluid.data(name, list(entry.shape), str(entry.dtype))
        index.append(entry)
    out = x[tuple(index)]
    assert len(out.shape) == value.ndim
    assert all(n in (-1, m) for n, m in zip(out.shape, value.shape, strict=True))
    loss = fluid.layers.reduce_sum(out * w)
    (dx,) = fluid.gradients(loss, x)
    y = x * 1.0
    y[tuple(index)] = w
    exe = fluid.Executor()
    for _ in range(3):  # interpreted, compiled, bound
        results = exe.run(feed=feed, fetch_list=[out, dx, y])
        np.testing.assert_array_equal(results[0], value)
        np.testing.assert_allclose(results[1], gradient)
        np.testing.assert_array_equal(results[2], written)
