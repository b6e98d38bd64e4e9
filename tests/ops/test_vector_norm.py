"""Lengths of vectors against loops, and their gradients where they are 0."""

import math

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[3, 4])
X[1, 2] = 0


def length_by_loops(values, order):
    sizes = [abs(float(v)) for v in values]
    if order == 0:
        return sum(1 for v in sizes if v)
    if math.isinf(order):
        return max(sizes) if order > 0 else min(sizes)
    return math.fsum(v**order for v in sizes) ** (1 / order)


ORDERS = [0.0, 0.5, 1.0, 2.0, 3.0, math.inf, -math.inf]


@pytest.mark.parametrize("order", ORDERS)
def test_p_norm_takes_the_root_of_a_sum_of_powers(order):
    expected = [length_by_loops(row, order) for row in X]
    np.testing.assert_allclose(f.p_norm(X, porder=order), expected)
    kept = f.p_norm(X, porder=order, axis=0, keepdim=True)
    np.testing.assert_allclose(kept, [[length_by_loops(c, order) for c in X.T]])


def test_whole_norms_have_one_element():
    np.testing.assert_allclose(f.l1_norm(X), [length_by_loops(X.ravel(), 1)])
    np.testing.assert_allclose(f.squared_l2_norm(X), [length_by_loops(X.ravel(), 2) ** 2])


@pytest.mark.parametrize("attrs", [dict(dim=[0, 1]), dict(reduce_all=True)])
def test_frobenius_norm_is_that_of_all_elements(attrs):
    np.testing.assert_allclose(f.frobenius_norm(X, **attrs), [length_by_loops(X.ravel(), 2)])
    np.testing.assert_allclose(
        f.frobenius_norm(X, dim=[-1]), [length_by_loops(row, 2) for row in X]
    )


def test_norm_gives_vectors_of_length_1_and_their_lengths():
    outs = f.norm.all(X, axis=1, epsilon=0.0)
    np.testing.assert_allclose(outs["Norm"], [[length_by_loops(row, 2)] for row in X])
    np.testing.assert_allclose([length_by_loops(row, 2) for row in outs["Out"]], 1)
    np.testing.assert_allclose(f.norm(np.zeros([1, 2]), axis=1), 0)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, math.inf, 1.5])
def test_the_gradient_of_a_length_is_0_where_the_vector_is(order):
    zeros, one = np.zeros([1, 3]), np.ones([1])
    (found,) = pull_back(f, lambda f, x: f.p_norm(x, porder=order), [zeros], [one])
    np.testing.assert_array_equal(found, 0)
    (found,) = pull_back(f, lambda f, x: f.frobenius_norm(x, dim=[1]), [zeros], [one])
    np.testing.assert_array_equal(found, 0)


def test_an_element_that_is_0_gets_no_gradient_of_a_length():
    for order in (1.5, 2.0, 3.0):
        length = lambda f, x, order=order: f.p_norm(x, porder=order)
        (found,) = pull_back(f, length, [X], [np.ones(3)])
        assert found[1, 2] == 0
        assert np.count_nonzero(found) == X.size - 1


def test_lengths_of_integers_and_of_no_order_are_refused():
    with pytest.raises(DTypeError, match="X to be float16, float32 or float64, got int64"):
        infer("l1_norm", X=([2], "int64"))
    with pytest.raises(AttributeValueError, match="porder to be a number, got nan"):
        infer("p_norm", dict(porder=math.nan), X=([2], "float32"))
    with pytest.raises(ShapeError, match="an element to choose along axis=0"):
        infer("p_norm", dict(porder=math.inf, axis=0), X=([0], "float32"))
    with pytest.raises(ShapeError, match=r"axis in \[-1, 1\), got 1"):
        infer("norm", dict(axis=1), X=([2], "float32"))
