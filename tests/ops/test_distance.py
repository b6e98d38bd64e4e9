"""Distances and angles against loops."""

import math

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X, Y = rng.normal(size=[3, 4]), rng.normal(size=[3, 4])


def test_dist_is_the_length_of_the_difference():
    terms = [abs(a - b) for a, b in zip(X.ravel(), Y.ravel())]
    for p in (1, 2, 3):
        np.testing.assert_allclose(f.dist(X, Y, p=p), [sum(t**p for t in terms) ** (1 / p)])
    np.testing.assert_allclose(f.dist(X, Y, p=math.inf), [max(terms)])
    np.testing.assert_allclose(f.dist(X, Y, p=-math.inf), [min(terms)])
    assert f.dist(X, X, p=0).tolist() == [0]
    np.testing.assert_allclose(f.dist(X, Y[:1]), f.dist(X, np.repeat(Y[:1], 3, axis=0)))


def test_dist_of_the_same_has_no_slope():
    x, y = pull_back(f, lambda f, x, y: f.dist(x, y), [X, X], [np.ones(1)])
    assert not x.any()
    assert not y.any()


def test_dist_refuses_no_order_and_nothing():
    with pytest.raises(AttributeValueError, match="p to be a number"):
        infer("dist", dict(p=math.nan), X=([2], "float32"), Y=([2], "float32"))
    with pytest.raises(ShapeError, match="an element to choose"):
        infer("dist", dict(p=math.inf), X=([0], "float32"), Y=([0], "float32"))
    with pytest.raises(ShapeError, match="cannot broadcast"):
        infer("dist", X=([2], "float32"), Y=([3], "float32"))


def test_squared_l2_distance_compares_row_by_row_or_with_one():
    for y in (Y, Y[:1]):
        rows = np.broadcast_to(y, X.shape)
        expected = [[sum((a - b) ** 2 for a, b in zip(*pair))] for pair in zip(X, rows)]
        outs = f.squared_l2_distance.all(X, y)
        np.testing.assert_allclose(outs["Out"], expected)
        np.testing.assert_allclose(outs["sub_result"], X - y)


def test_cos_sim_is_the_cosine_of_the_angle():
    for y in (Y, Y[:1]):
        found = f.cos_sim.all(X, y)
        for n, a in enumerate(X):
            b = y[n % len(y)]
            lengths = [math.sqrt(sum(v * v for v in row)) for row in (a, b)]
            product = sum(v * w for v, w in zip(a, b))
            np.testing.assert_allclose(found["Out"][n], [product / lengths[0] / lengths[1]])
            np.testing.assert_allclose(found["XNorm"][n], lengths[:1])
    assert f.cos_sim(X, 2 * X) == pytest.approx(1)


def test_cos_sim_of_nothing_is_0_and_finite():
    x, y = pull_back(
        f, lambda f, x, y: f.cos_sim(x, y), [np.zeros([1, 4]), Y[:1]], [np.ones([1, 1])]
    )
    assert f.cos_sim(np.zeros([1, 4]), Y[:1]).tolist() == [[0]]
    assert np.isfinite(x).all()
    assert not y.any()


@pytest.mark.parametrize("type", ["squared_l2_distance", "cos_sim"])
def test_rows_that_cannot_be_compared_are_refused(type):
    for x, y, message in (
        ([3], [3], r"X \[n, ...\] and Y with rows of the same shape"),
        ([3, 4], [3, 5], r"X \[n, ...\] and Y with rows of the same shape"),
        ([3, 4], [2, 4], "as many rows in Y as in X, or a single one"),
    ):
        with pytest.raises(ShapeError, match=message):
            infer(type, X=(x, "float32"), Y=(y, "float32"))
    with pytest.raises(DTypeError, match="one element type"):
        infer(type, X=([3, 4], "float32"), Y=([3, 4], "float64"))
