"""Derivatives of functions against finite differences and by hand."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ShapeError

autograd = fluid.autograd
A = np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0]])


def tensor(values):
    return fluid.to_tensor(np.array(values, "float64"))


def function(x):
    """Two values of three variables."""
    return fluid.tanh(fluid.matmul(tensor(A), x)) * x[:2]


def differences(f, x, h=1e-6):
    columns = []
    for k in range(x.size):
        step = np.zeros(x.size)
        step[k] = h
        up, down = (f(tensor(x + s * step.reshape(x.shape))).numpy() for s in (1, -1))
        columns.append((up - down).reshape(-1) / (2 * h))
    return np.stack(columns, 1)


X = np.array([0.3, -0.7, 0.4])


def test_jacobian():
    found = autograd.jacobian(function, tensor(X))
    np.testing.assert_allclose(found, differences(function, X), 1e-7, 1e-9)


def test_jacobian_of_tensors_that_are_there():
    x = tensor(X)
    x.stop_gradient = False
    np.testing.assert_allclose(
        autograd.jacobian(function(x), x), differences(function, X), 1e-7, 1e-9
    )


def test_jacobians_of_several_values_by_several_variables():
    found = autograd.jacobian(lambda a, b: (a * b, b), [tensor([2.0]), tensor([3.0, 4.0])])
    assert [[j.tolist() for j in row] for row in found] == [
        [[[3.0], [4.0]], [[2.0, 0.0], [0.0, 2.0]]],
        [[[0.0], [0.0]], [[1.0, 0.0], [0.0, 1.0]]],
    ]


def test_jacobians_of_rows():
    x = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = autograd.jacobian(lambda x: x[:, :1] * x, x, batch_axis=0)
    expected = [[[2 * a, 0], [b, a]] for a, b in x.tolist()]
    np.testing.assert_allclose(found, expected)


def test_hessian():
    def value(x):
        return fluid.sum(fluid.exp(x[0] * x[1]) + x[2] * x[2] * x[0])

    a, b, c = X
    e = np.exp(a * b)
    expected = [[b * b * e, e + a * b * e, 2 * c], [e + a * b * e, a * a * e, 0], [2 * c, 0, 2 * a]]
    np.testing.assert_allclose(autograd.hessian(value, tensor(X)), expected, 1e-12)


def test_hessians_of_several_variables():
    found = autograd.hessian(lambda a, b: fluid.sum(a * a * b), [tensor([2.0]), tensor([3.0])])
    assert [[h.tolist() for h in row] for row in found] == [[[[6]], [[4]]], [[[4]], [[0]]]]


def test_hessians_of_rows():
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    found = autograd.hessian(lambda x: x[:, 0] * x[:, 0] * x[:, 1], x, batch_axis=0)
    np.testing.assert_allclose(found, [[[2 * b, 2 * a], [2 * a, 0]] for a, b in x.tolist()])


def test_a_hessian_is_that_of_one_value():
    with pytest.raises(ShapeError, match="expected one value to take the Hessian of"):
        autograd.hessian(function, tensor(X))


def test_products_with_the_jacobian_from_both_sides():
    J = differences(function, X)
    u, v = np.array([2.0, -1.0]), np.array([1.0, 0.5, -2.0])
    value, back = autograd.vjp(function, tensor(X), tensor(u))
    np.testing.assert_allclose(value, function(tensor(X)))
    np.testing.assert_allclose(back, u @ J, 1e-7)
    value, forth = autograd.jvp(function, tensor(X), tensor(v))
    np.testing.assert_allclose(value, function(tensor(X)))
    np.testing.assert_allclose(forth, J @ v, 1e-7)


def test_products_of_what_takes_no_part_are_zero():
    _, back = autograd.vjp(lambda a, b: a * 2.0, [tensor([1.0]), tensor([1.0])])
    assert [g.tolist() for g in back] == [[2], [0]]
    _, forth = autograd.jvp(lambda x: tensor([5.0]), tensor([1.0]))
    assert forth.tolist() == [0]


def test_products_can_be_differentiated():
    x = tensor([0.5, 2.0])
    x.stop_gradient = False
    _, slope = autograd.jvp(lambda t: t * t * t, x, create_graph=True)
    (second,) = fluid.grad(slope, x)
    np.testing.assert_allclose(second, 6 * x.numpy())


def test_vectors_must_fit():
    with pytest.raises(ShapeError, match=r"expected v of shape \[2\].*got \[3\]"):
        autograd.vjp(function, tensor(X), tensor(X))
    with pytest.raises(ArgumentError, match="expected v to be 1 tensors, got 2"):
        autograd.jvp(function, tensor(X), [tensor(X), tensor(X)])


def test_values_with_their_gradients():
    f = autograd.value_and_grad(lambda x, y: fluid.sum(x * x * y), argnums=[0, 1])
    value, (by_x, by_y) = f(tensor([1.0, 2.0]), tensor([3.0, 4.0]))
    assert float(value) == 19
    assert (by_x.tolist(), by_y.tolist()) == ([6, 16], [1, 4])
    with pytest.raises(ShapeError, match="expected one value"):
        autograd.value_and_grad(lambda x: x * x)(tensor([1.0, 2.0]))


def test_gradients_of_each_sample():
    w = tensor([1.0, -1.0])
    loss = lambda row, target: (fluid.sum(row * w) - target) ** 2
    slope = autograd.value_and_grad(loss)
    rows, targets = tensor([[1.0, 2.0], [3.0, 5.0], [2.0, 2.0]]), tensor([1.0, 0.0, 2.0])
    values, slopes = autograd.vmap(slope)(rows, targets)
    residual = rows.numpy() @ w.numpy() - targets.numpy()
    np.testing.assert_allclose(values, residual**2)
    np.testing.assert_allclose(slopes, 2 * residual[:, None] * w.numpy())


def test_samples_may_lie_along_other_dimensions():
    x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = autograd.vmap(lambda c, k: c * k, in_axes=(1, None), out_axes=1)(x, tensor(2.0))
    np.testing.assert_allclose(found, 2 * x.numpy())
    with pytest.raises(ShapeError, match="expected one number of samples"):
        autograd.vmap(lambda a, b: a * b)(x, tensor([1.0, 2.0, 3.0]))
    with pytest.raises(ArgumentError, match="expected 1 in_axes"):
        autograd.vmap(lambda a: a, in_axes=(0, 1))(x)
