"""Losses of probabilities, logits and logarithms against loops over the elements."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
P, SOFT = rng.uniform(0.1, 0.9, [4, 1]), rng.uniform(size=[4, 1])
LOGITS = rng.normal(size=[4, 3])


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def entropy(p, y, epsilon=0.0):
    return -y * math.log(p + epsilon) - (1 - y) * math.log(1 - p + epsilon)


def test_log_loss_keeps_away_from_the_logarithm_of_0():
    expected = [[entropy(p, y, 1e-4)] for p, y in zip(P[:, 0], SOFT[:, 0])]
    np.testing.assert_allclose(f.log_loss(P, SOFT, epsilon=1e-4), expected)
    sure = f.log_loss(np.array([[0.0]]), np.array([[1.0]]), epsilon=1e-4)
    np.testing.assert_allclose(sure, [[-math.log(1e-4)]], rtol=1e-6)


def test_bce_loss_stops_at_100():
    np.testing.assert_allclose(
        f.bce_loss(P, SOFT), [[entropy(*v)] for v in zip(P[:, 0], SOFT[:, 0])]
    )
    x, y = np.array([0.0, 1.0, 1e-30]), np.array([1.0, 0.0, 1.0])
    np.testing.assert_allclose(f.bce_loss(x, y), [100, 100, -math.log(1e-30)])
    (found,) = pull_back(f, lambda f, x: f.bce_loss(x, y), [x], [np.ones(3)])
    assert np.isfinite(found).all()


@pytest.mark.parametrize("type", ["log_loss", "bce_loss"])
def test_labels_of_another_shape_are_refused(type):
    names = ("Predicted", "Labels") if type == "log_loss" else ("X", "Label")
    attrs = dict(epsilon=0.1) if type == "log_loss" else {}
    specs = dict(zip(names, [([4, 1], "float32"), ([4], "float32")]))
    with pytest.raises(ShapeError, match=r"of the same shape, got \[4, 1\], \[4\]"):
        infer(type, attrs, **specs)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "batchmean"])
def test_kldiv_loss_compares_distributions(reduction):
    target = rng.uniform(size=[4, 3])
    target[1, 1], target[2, 0] = 0, -0.5
    each = [
        [t * (math.log(t) - x) if t > 0 else 0 for t, x in zip(*rows)]
        for rows in zip(target, LOGITS)
    ]
    total = sum(map(sum, each))
    expected = dict(none=each, sum=[total], mean=[total / 12], batchmean=[total / 4])[reduction]
    np.testing.assert_allclose(f.kldiv_loss(LOGITS, target, reduction=reduction), expected)


def test_kldiv_loss_refuses_unknown_reductions():
    one = ([4], "float32")
    with pytest.raises(AttributeValueError, match="'mean', 'sum' or 'batchmean', got 'average'"):
        infer("kldiv_loss", dict(reduction="average"), X=one, Target=one)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "batchmean"])
def test_kl_div_takes_single_numbers(reduction):
    x, label = fluid.to_tensor(-0.5, stop_gradient=False), fluid.to_tensor(0.3, stop_gradient=False)
    loss = fluid.nn.functional.kl_div(x, label, reduction)
    loss.backward()
    assert loss.shape == [] and float(loss) == pytest.approx(0.3 * (math.log(0.3) + 0.5))
    assert float(x.grad) == pytest.approx(-0.3) and label.grad is None


WEIGHT = rng.uniform(0.5, 1.5, [3])


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_nll_loss_weighs_the_right_classes(reduction, weight):
    label = np.array([2, -100, 0, 2])
    weights = [0 if c < 0 else 1 if weight is None else weight[c] for c in label]
    each = [-w * row[c] if w else 0 for w, row, c in zip(weights, LOGITS, label)]
    expected = dict(none=each, sum=[sum(each)], mean=[sum(each) / sum(weights)])[reduction]
    outs = f.nll_loss.all(LOGITS, label, weight, reduction=reduction)
    np.testing.assert_allclose(outs["Out"], expected)
    np.testing.assert_allclose(outs["Total_weight"], [0 if reduction == "none" else sum(weights)])


def test_nll_loss_of_places_is_that_of_rows():
    x, label = rng.normal(size=[2, 3, 4, 5]), rng.integers(0, 3, [2, 4, 5])
    rows = f.nll_loss(np.moveaxis(x, 1, 3).reshape(-1, 3), label.ravel(), WEIGHT)[0]
    np.testing.assert_allclose(f.nll_loss(x, label, WEIGHT)[0], rows)


def test_nll_loss_of_ignored_labels_is_0():
    loss = lambda f, x: f.nll_loss(x, np.zeros(4, "int64"), ignore_index=0)[0]
    assert loss(f, LOGITS).tolist() == [0]
    (found,) = pull_back(f, loss, [LOGITS], [np.ones(1)])
    np.testing.assert_array_equal(found, 0)


@pytest.mark.parametrize(
    "error, changed, message",
    [
        (ShapeError, dict(X=([4], "float32")), "X to have 2 or 4 dimensions"),
        (ShapeError, dict(Label=([4, 1], "int64")), r"Label of shape \[4\], one class for each"),
        (DTypeError, dict(Label=([4], "float32")), "Label to hold integers"),
        (ShapeError, dict(Weight=([4], "float32")), r"Weight of shape \[3\], got \[4\]"),
    ],
)
def test_nll_loss_refuses_what_does_not_fit(error, changed, message):
    specs = dict(X=([4, 3], "float32"), Label=([4], "int64")) | changed
    with pytest.raises(error, match=message):
        infer("nll_loss", **specs)


def test_nll_loss_refuses_labels_that_are_no_classes():
    with pytest.raises(OutOfRangeError, match=r"a label in \[0, 3\), got 3"):
        f.nll_loss(LOGITS, np.array([0, 3, 1, 2]))


def test_sigmoid_focal_loss_makes_little_of_easy_examples():
    label, gamma, alpha = np.array([[2], [0], [-1], [3]]), 1.5, 0.3
    found = f.sigmoid_focal_loss(LOGITS, label, np.array([2]), gamma=gamma, alpha=alpha)
    for n, c in np.ndindex(4, 3):
        p = sigmoid(LOGITS[n, c])
        if label[n, 0] == -1:
            expected = 0
        elif label[n, 0] == c + 1:
            expected = -alpha * (1 - p) ** gamma * math.log(p)
        else:
            expected = -(1 - alpha) * p**gamma * math.log(1 - p)
        np.testing.assert_allclose(found[n, c], expected / 2, rtol=1e-6)


def test_sigmoid_focal_loss_is_finite_for_large_logits_and_without_foreground():
    x, label = np.array([[800.0, -800.0]]), np.array([[1]])
    assert np.isfinite(f.sigmoid_focal_loss(x, label, np.array([0]))).all()
    with pytest.raises(ShapeError, match=r"Label of shape \[4, 1\], got \[4\]|2 dimensions"):
        specs = dict(X=([4, 3], "float32"), Label=([4], "int32"), FgNum=([1], "int32"))
        infer("sigmoid_focal_loss", **specs)


def test_a_teacher_has_a_say_in_the_loss_of_a_click():
    labels = {-2.0: (0, None), -1.0: (1, None), -0.5: (1, None), 0.3: (0, 0.3), 1.7: (1, 0.7)}
    for x in (-3.0, 0.2, 2.5):
        for label, (click, score) in labels.items():
            expected = entropy(sigmoid(x), click)
            expected += 0 if score is None else entropy(sigmoid(x), score)
            found = f.teacher_student_sigmoid_loss(np.array([[x]]), np.array([[label]]))
            np.testing.assert_allclose(found, [[expected]])


def test_no_gradient_flows_beyond_the_bounds_of_a_teacher():
    x, label = np.array([[20.0], [1.0], [-20.0]]), np.zeros([3, 1])
    loss = lambda f, x: f.teacher_student_sigmoid_loss(x, label)
    (found,) = pull_back(f, loss, [x], [np.ones([3, 1])])
    np.testing.assert_allclose(found, [[0], [2 * sigmoid(1)], [0]])
    with pytest.raises(ShapeError, match=r"X of shape \[n, 1\], got \[3\]"):
        infer("teacher_student_sigmoid_loss", X=([3], "float32"), Label=([3], "float32"))
