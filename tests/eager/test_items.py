"""Items of tensors, read and written, and their gradients."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, OutOfRangeError, ShapeError

ITEMS = [
    1,
    -1,
    slice(1, 3),
    slice(None, None, -2),
    (0, slice(None), 2),
    (Ellipsis, 0),
    (None, slice(0, 2)),
    [2, 0, 2],
    ([0, 1], [1, 2]),
    (slice(None), [0, 3], slice(1, None)),
    np.array([[True, False, True, False]] * 3),
    (1, np.array([True, False, True, False])),
]


@pytest.fixture
def x():
    return fluid.to_tensor(np.arange(60.0).reshape(3, 4, 5), stop_gradient=False)


@pytest.mark.parametrize("item", ITEMS, ids=repr)
def test_items_and_their_gradients_are_those_of_arrays(x, item):
    found = x[item]
    expected = x.numpy()[item]
    np.testing.assert_array_equal(found, expected)
    weights = np.random.default_rng(0).normal(size=expected.shape)
    found.backward(fluid.to_tensor(weights))
    gradient = np.zeros([3, 4, 5])
    np.add.at(gradient, item, weights)
    np.testing.assert_allclose(x.grad, gradient)


@pytest.mark.parametrize("item", ITEMS, ids=repr)
def test_items_can_be_written(x, item):
    expected = x.numpy()
    expected[item] = 7.0
    with fluid.no_grad():
        x[item] = 7.0
    np.testing.assert_array_equal(x, expected)


def test_tensors_are_indices(x):
    i = fluid.to_tensor([2, 0])
    np.testing.assert_array_equal(x[i], x.numpy()[[2, 0]])
    np.testing.assert_array_equal(x[fluid.to_tensor(1)], x.numpy()[1])
    np.testing.assert_array_equal(x[x > 30.0], np.arange(31.0, 60))
    np.testing.assert_array_equal(x[: fluid.to_tensor(2)], x.numpy()[:2])


def test_second_derivatives_go_through_items():
    x = fluid.to_tensor([1.0, 2.0, 3.0], dtype="float64", stop_gradient=False)
    y = x[[0, 2, 0]] * x[1:].sum()
    (g,) = fluid.grad(y.sum(), x, create_graph=True)
    (h,) = fluid.grad(fluid.sum(g * g), x)
    # y = (2 a + c) (b + c): its Hessian is constant, and h = 2 H g
    hessian = np.array([[0, 2, 2], [2, 0, 1], [2, 1, 2]], float)
    np.testing.assert_allclose(h, 2 * hessian @ g.numpy())


def test_wrong_items_are_refused_with_the_line_of_the_user(x):
    with pytest.raises(OutOfRangeError, match=r"expected an index in \[-3, 3\)"):
        x[3]
    with pytest.raises(OutOfRangeError, match="out of bounds"):
        x[[0, 7]]
    with pytest.raises(ShapeError, match="takes 3 indices, got 4"):
        x[0, 0, 0, 0]
    with pytest.raises(ArgumentError, match="a tensor is indexed by"):
        x["name"]
    with pytest.raises(ArgumentError, match="a slice takes integers"):
        x[1.5:]
    with pytest.raises(ShapeError, match="expected Value to broadcast"), fluid.no_grad():
        x[0] = fluid.ones([7])


@pytest.mark.parametrize("item", [(0, 0, 0), ([True, False, True],)])
def test_an_index_that_fits_no_dimension_is_an_index_error(item):
    with pytest.raises(IndexError):
        fluid.to_tensor([[1.0, 2.0]])[item]
