"""Labels that are probabilities, one element at a time."""

from math import exp, log

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.0]])
LABEL = np.array([[0.25, 1.0, 0.0], [0.5, 0.75, 1.0]])


def loss(x, label):
    p = 1 / (1 + exp(-x))
    return -label * log(p) - (1 - label) * log(1 - p)


def test_labels_are_mixed_with_equal_probabilities():
    found = f.label_smooth(np.array([[0.0, 1.0, 0.0, 0.0]]), epsilon=0.5)
    np.testing.assert_allclose(found, [[0.125, 0.625, 0.125, 0.125]])


def test_labels_are_mixed_with_a_prior():
    prior = np.array([[0.25, 0.75]])
    found = f.label_smooth(np.array([[[0.0, 1.0]], [[1.0, 0.0]]]), prior, epsilon=0.5)
    np.testing.assert_allclose(found, [[[0.125, 0.875]], [[0.625, 0.375]]])


def test_each_element_has_its_own_cross_entropy():
    found = f.sigmoid_cross_entropy_with_logits(X, LABEL)
    wanted = [[loss(x, y) for x, y in zip(*row)] for row in zip(X, LABEL)]
    np.testing.assert_allclose(found, wanted)


def test_large_logits_give_finite_losses():
    large = np.array([1000.0, -1000.0])
    found = f.sigmoid_cross_entropy_with_logits(large, np.array([0.0, 0.0]))
    assert found.tolist() == [1000.0, 0.0]


def test_ignored_labels_count_nothing():
    labels = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 1.0]])
    plain = f.sigmoid_cross_entropy_with_logits(X, labels, ignore_index=-1)
    mean = f.sigmoid_cross_entropy_with_logits(X, labels, ignore_index=-1, normalize=True)
    assert plain[0, 1] == plain[1, 0] == 0
    np.testing.assert_allclose(plain[0, 0], loss(0.5, 1.0))
    np.testing.assert_allclose(mean, plain / 4)


def test_where_all_labels_are_ignored_the_loss_is_zero():
    labels = np.full([2, 3], -1.0)
    found = f.sigmoid_cross_entropy_with_logits(X, labels, ignore_index=-1, normalize=True)
    assert (found == 0).all()


@pytest.mark.parametrize(
    "type, attrs, inputs, error, message",
    [
        (
            "label_smooth",
            {"epsilon": 1.5},
            {"X": ([2, 3], "float32")},
            AttributeValueError,
            "expected epsilon from 0 to 1, got 1.5",
        ),
        ("label_smooth", {}, {"X": ([2, 3], "int64")}, DTypeError, "expected X to be float16"),
        ("label_smooth", {}, {"X": ([], "float32")}, ShapeError, "at least 1 dimension"),
        (
            "label_smooth",
            {},
            {"X": ([2, 3], "float32"), "PriorDist": ([3], "float32")},
            ShapeError,
            "expected PriorDist of shape [1, 3], a probability for each class, got [3]",
        ),
        (
            "sigmoid_cross_entropy_with_logits",
            {},
            {"X": ([2, 3], "float32"), "Label": ([2, 1], "float32")},
            ShapeError,
            "expected Label of shape [2, 3], one probability",
        ),
        (
            "sigmoid_cross_entropy_with_logits",
            {},
            {"X": ([2, 3], "float32"), "Label": ([2, 3], "int64")},
            DTypeError,
            "X float32, Label int64",
        ),
    ],
)
def test_what_does_not_fit_is_refused(type, attrs, inputs, error, message):
    with pytest.raises(error) as caught:
        infer(type, attrs, **inputs)
    assert message in str(caught.value)


def test_the_whole_part_of_a_soft_label_says_whether_it_is_ignored():
    x, labels = np.array([[0.3, -0.7, 1.1]]), np.array([[0.5, 1.0, 1.5]])
    found = f.sigmoid_cross_entropy_with_logits(x, labels, ignore_index=1)
    assert found[0, 0] > 0 and not found[0, 1:].any()
    loss = lambda f, x: f.sigmoid_cross_entropy_with_logits(x, labels, ignore_index=1)
    (slope,) = pull_back(f, loss, [x], [np.ones_like(x)])
    assert slope[0, 0] and not slope[0, 1:].any()
