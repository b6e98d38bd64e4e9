"""Norms of vectors and matrices; the numbers are OneFlow 0.9's."""

import numpy as np
import pytest

from fluidlite import errors, flow

MATRIX = [[1.0, -2.0], [3.0, 4.0]]
INF = float("inf")


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        ({}, 5.477226),
        ({"ord": 1}, 6.0),
        ({"ord": -1}, 4.0),
        ({"ord": INF}, 7.0),
        ({"ord": -INF}, 3.0),
        ({"ord": "fro"}, 5.477226),
        ({"ord": 2, "dim": 1}, [2.236068, 5.0]),
        ({"ord": 1, "dim": (0, 1)}, 6.0),
        ({"ord": 1, "dim": (1, 0), "keepdim": True}, [[7.0]]),
        ({"dim": 0, "keepdim": True}, [[3.162278, 4.472136]]),
    ],
)
def test_norm_is_that_of_vectors_or_matrices(arguments, wanted):
    found = flow.linalg.norm(flow.tensor(MATRIX), **arguments)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
    assert found.numpy().shape == np.shape(wanted)


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        ({"ord": 3, "dim": [0, 1]}, 4.641589),
        ({"ord": -INF, "dim": 1, "keepdim": True}, [[1.0], [3.0]]),
        ({"ord": 0}, 4.0),
        ({"ord": 1, "dim": (1, 0), "keepdim": True}, [[10.0]]),
    ],
)
def test_vector_norm_takes_the_dimensions_as_one(arguments, wanted):
    found = flow.linalg.vector_norm(flow.tensor(MATRIX), **arguments)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
    assert found.numpy().shape == np.shape(wanted)


def test_a_norm_of_a_tensor_is_that_of_a_matrix_but_for_2():
    x = flow.tensor(MATRIX)
    assert x.norm(1).item() == flow.norm(x, p=1).item() == 6.0
    np.testing.assert_allclose(x.norm(2).item(), 5.477226, rtol=1e-6)


def test_matrices_of_a_batch_have_norms_and_gradients():
    x = flow.tensor([MATRIX, [[5.0, 0.5], [0.5, 1.0]]], requires_grad=True)
    sums = flow.linalg.matrix_norm(x, 1)
    assert sums.tolist() == [6.0, 5.5]
    sums.sum().backward()
    assert x.grad.tolist() == [[[0, -1], [0, 1]], [[1, 0], [1, 0]]]


def test_computing_in_another_type():
    assert flow.linalg.norm(flow.tensor([1, 2]), dtype=flow.float64).dtype == flow.float64


@pytest.mark.parametrize(
    "ask, error, message",
    [
        (lambda x: flow.linalg.norm(x, 2), errors.UnsupportedError, "expected ord of a matrix"),
        (lambda x: flow.linalg.matrix_norm(x, "nuc"), errors.UnsupportedError, "got 'nuc'"),
        (lambda x: flow.linalg.matrix_norm(x, dim=(0, 1, 1)), errors.ShapeError, "two dimensions"),
        (lambda x: flow.ones(2, 2, 2).norm(3), errors.ShapeError, "a vector or a matrix"),
        (lambda x: flow.norm(flow.tensor([1, 2])), errors.DTypeError, "fractions .* got int64"),
    ],
)
def test_what_has_no_norm_is_refused(ask, error, message):
    with pytest.raises(error, match=message):
        ask(flow.tensor(MATRIX))


def test_cross_and_diagonal_are_of_the_last_dimensions():
    crossed = flow.linalg.cross(flow.tensor([[1.0, 2.0, 3.0]]), flow.tensor([[3.0, 2.0, 2.0]]))
    assert crossed.tolist() == [[-2.0, 7.0, -4.0]]
    assert list(flow.linalg.diagonal(flow.ones(2, 3, 3)).shape) == [2, 3]
