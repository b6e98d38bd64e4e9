"""Derivatives of functions."""

import pytest

from fluidlite import flow
from fluidlite.errors import ArgumentError, GradientStateError, ShapeError
from fluidlite.flow.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X, Y, V = flow.tensor([1.0, 2.0]), flow.tensor([3.0, 4.0]), flow.tensor([1.0, 10.0])


def pair(x):
    return flow.stack([x[0] * x[1], x[0] * x[0]])


def cubes(x):
    return (x * x * x).sum()


def test_a_jacobian_has_the_shapes_of_output_and_input():
    assert jacobian(pair, X).tolist() == [[2, 1], [2, 0]]
    assert jacobian(lambda x: x.reshape(2, 1) * Y, X).shape == [2, 2, 2]
    assert jacobian(lambda x: x.sum(), X).tolist() == [1, 1]


def test_tuples_of_inputs_and_outputs_give_tuples():
    assert [j.tolist() for j in jacobian(lambda x, y: x * y, (X, Y))] == [
        [[3, 0], [0, 4]],
        [[1, 0], [0, 2]],
    ]
    (doubled, total) = jacobian(lambda x: (x * 2.0, x.sum()), X)
    assert (doubled.tolist(), total.tolist()) == ([[2, 0], [0, 2]], [1, 1])
    (first, second) = jacobian(lambda x, y: (x * y, x.sum()), (X, Y))
    assert [j.tolist() for j in second] == [[1, 1], [0, 0]] and len(first) == 2
    assert type(jacobian(pair, (X,))) is tuple


def test_hessians():
    assert hessian(cubes, X).tolist() == [[6, 0], [0, 12]]
    rows = hessian(lambda x, y: (x * y).sum(), (X, Y))
    assert [[part.tolist() for part in row] for row in rows] == [
        [[[0, 0], [0, 0]], [[1, 0], [0, 1]]],
        [[[1, 0], [0, 1]], [[0, 0], [0, 0]]],
    ]
    with pytest.raises(ShapeError, match="one element"):
        hessian(pair, X)


def test_products_with_jacobians():
    value, product = vjp(pair, X, V)
    assert (value.tolist(), product.tolist()) == ([2, 1], [22, 1])
    assert jvp(pair, X, V)[1].tolist() == [12, 2]
    assert jvp(lambda x, y: x * y, (X, Y), (X, flow.tensor([0.0, 1.0])))[1].tolist() == [3, 10]
    assert vjp(lambda x: x.sum(), X)[1].tolist() == [1, 1]


@pytest.mark.parametrize("product", [vhp, hvp])
def test_products_with_hessians(product):
    value, found = product(cubes, X, V)
    assert (value.item(), found.tolist()) == (9, [6, 120])
    both = product(lambda x, y: (x * y).sum(), (X, Y), (X, flow.tensor([0.0, 1.0])))[1]
    assert [part.tolist() for part in both] == [[0, 1], [1, 2]]
    assert product(lambda x: x.sum(), X, V)[1].tolist() == [0, 0]


def test_results_can_be_differentiated_where_that_is_asked_for():
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    assert not jacobian(pair, x).requires_grad and not hvp(cubes, x, V)[1].requires_grad
    jacobian(pair, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [3, 1]
    x.grad = None
    hvp(cubes, x, V, create_graph=True)[1].sum().backward()
    assert x.grad.tolist() == [6, 60]


def test_a_strict_derivative_refuses_what_does_not_depend_on_the_inputs():
    assert jacobian(lambda x: Y * 2.0, X).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(GradientStateError, match="output 0 .* does not depend on the inputs"):
        jacobian(lambda x: Y * 2.0, X, strict=True)
    with pytest.raises(GradientStateError, match="depend on input 1"):
        vjp(lambda x, y: x, (X, Y), V, strict=True)
    with pytest.raises(GradientStateError, match="the derivative of output 0"):
        hessian(lambda x: x.sum(), X, strict=True)


def test_arguments_of_other_kinds_are_refused():
    with pytest.raises(ArgumentError, match="may be left out only"):
        vjp(pair, X)
    with pytest.raises(ShapeError, match="expected v of the shapes"):
        jvp(pair, X, flow.ones(3))
    with pytest.raises(ArgumentError, match="a tensor or a tuple of tensors, got 1.0"):
        jacobian(pair, 1.0)
    with pytest.raises(ArgumentError, match="what the function returns"):
        jacobian(lambda x: 1.0, X)
    with pytest.raises(ArgumentError, match="forward-mode"):
        jacobian(pair, X, strategy="sideways")
