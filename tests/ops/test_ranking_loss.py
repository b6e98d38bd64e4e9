"""Losses of scores against loops over the elements."""

import math

import numpy as np
import pytest

from fluidlite.errors import DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = np.array([[0.2], [-3.0], [2.5], [-0.4], [0.7]])
CLASS = np.array([[1.0], [0.0], [0.0], [1.0], [1.0]])


def test_hinge_loss_ends_at_the_margin():
    expected = [[max(0, 1 - (2 * c - 1) * x)] for x, c in zip(X[:, 0], CLASS[:, 0])]
    np.testing.assert_allclose(f.hinge_loss(X, CLASS), expected)


def test_modified_huber_loss_is_a_parabola_then_a_line():
    def loss(v):
        return -4 * v if v < -1 else (1 - v) ** 2 if v < 1 else 0

    outs = f.modified_huber_loss.all(X, CLASS)
    sided = [(2 * c - 1) * x for x, c in zip(X[:, 0], CLASS[:, 0])]
    np.testing.assert_allclose(outs["IntermediateVal"][:, 0], sided)
    np.testing.assert_allclose(outs["Out"][:, 0], [loss(v) for v in sided])


def test_rank_loss_is_the_entropy_of_an_order():
    right, label = rng.normal(size=[5, 1]), rng.uniform(size=[5, 1])
    for n, found in enumerate(f.rank_loss(label, X, right)):
        p = 1 / (1 + math.exp(right[n, 0] - X[n, 0]))
        expected = -label[n, 0] * math.log(p) - (1 - label[n, 0]) * math.log(1 - p)
        np.testing.assert_allclose(found, [expected])


def test_rank_loss_does_not_overflow():
    large = np.array([[1000.0]])
    assert f.rank_loss(np.zeros([1, 1]), large, -large).tolist() == [[2000]]


def test_margin_rank_loss_tells_where_it_is_active():
    right, label = X[::-1] + 0.05, 2 * CLASS - 1
    outs = f.margin_rank_loss.all(X, right, label, margin=0.3)
    expected = [max(0, 0.3 - s * (a - b)) for a, b, s in zip(X[:, 0], right[:, 0], label[:, 0])]
    np.testing.assert_allclose(outs["Out"][:, 0], expected)
    assert outs["Activated"][:, 0].tolist() == [float(v > 0) for v in expected]


def test_bpr_loss_compares_the_right_class_with_all_others():
    x, label = rng.normal(size=[2, 3, 4]), rng.integers(0, 4, [2, 3, 1])
    found = f.bpr_loss(x, label)
    for n, m in np.ndindex(2, 3):
        row, right = x[n, m], label[n, m, 0]
        terms = [math.log(1 + math.exp(row[j] - row[right])) for j in range(4) if j != right]
        np.testing.assert_allclose(found[n, m], [sum(terms) / 3])


def test_the_gradients_of_bpr_loss_add_up_to_0():
    label = np.array([[2], [0]])
    (found,) = pull_back(
        f, lambda f, x: f.bpr_loss(x, label), [rng.normal(size=[2, 3])], [np.ones([2, 1])]
    )
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-15)
    assert (found[[0, 1], [2, 0]] < 0).all()


@pytest.mark.parametrize(
    "type, slots",
    [
        ("hinge_loss", ("Logits", "Labels")),
        ("modified_huber_loss", ("X", "Y")),
        ("rank_loss", ("Left", "Right", "Label")),
        ("margin_rank_loss", ("X1", "X2", "Label")),
    ],
)
def test_other_shapes_and_types_are_refused(type, slots):
    specs = {slot: ([3, 1], "float32") for slot in slots}
    with pytest.raises(ShapeError, match="of the same shape"):
        infer(type, **specs | {slots[-1]: ([4, 1], "float32")})
    with pytest.raises(DTypeError, match="one element type"):
        infer(type, **specs | {slots[-1]: ([3, 1], "float64")})
    with pytest.raises(DTypeError, match="to be float16, float32 or float64, got int64"):
        infer(type, **{slot: ([3, 1], "int64") for slot in slots})


def test_bpr_loss_refuses_a_single_class_and_wrong_labels():
    with pytest.raises(ShapeError, match="at least 2 classes"):
        infer("bpr_loss", X=([3, 1], "float32"), Label=([3, 1], "int64"))
    with pytest.raises(ShapeError, match=r"a label of shape \[3, 1\]"):
        infer("bpr_loss", X=([3, 4], "float32"), Label=([3], "int64"))
    with pytest.raises(OutOfRangeError, match=r"a label in \[0, 3\), got 3"):
        f.bpr_loss(np.zeros([1, 3]), np.array([[3]]))


@pytest.mark.parametrize("flat", ["Label", "Left", "Right"])
def test_scores_and_labels_of_a_rank_loss_may_lack_their_last_size(flat):
    values = {n: rng.uniform(size=[3, 1]) for n in ("Label", "Left", "Right")}
    expected = f.rank_loss(**values)
    given = {**values, flat: values[flat][:, 0]}
    found = f.rank_loss(**given)
    assert found.shape == given["Label"].shape
    np.testing.assert_array_equal(found.ravel(), expected.ravel())
    loss = lambda f, left, right: f.rank_loss(given["Label"], left, right)
    for slope, of in zip(
        pull_back(f, loss, [given["Left"], given["Right"]], [np.ones(found.shape)]),
        ("Left", "Right"),
    ):
        assert slope.shape == given[of].shape
