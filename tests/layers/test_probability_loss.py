"""Losses of predicted probabilities, logits and logarithms."""

import numpy as np

from fluidlite import layers
from fluidlite.errors import AttributeValueError, ShapeError

from building import data, refused, run, written

P = np.array([[0.25], [0.5]], "float32")


def test_log_loss_names_its_inputs():
    out = layers.log_loss(data(shape=[None, 1]), data("y", [None, 1]))
    assert written() == ["log_loss_0.tmp_0 = log_loss(Predicted=x, Labels=y, epsilon=0.0001)"]
    assert np.allclose(run(out, x=P, y=P * 0), -np.log(1 - P), rtol=1e-3)


def test_kldiv_loss_reduces_as_it_is_told():
    x, y = data(shape=[None, 1]), data("y", [None, 1])
    assert layers.kldiv_loss(x, y).shape == (1,)
    assert layers.kldiv_loss(x, y, reduction="none").shape == (-1, 1)
    with refused(AttributeValueError, "got 'all'"):
        layers.kldiv_loss(x, y, reduction="all")


def test_dice_loss_is_0_where_the_prediction_is_right():
    x, label = data(shape=[None, 3, 2]), data("label", [None, 3, 1], "int64")
    out = layers.dice_loss(x, label)
    classes = np.array([[[0], [1], [1]]])
    right = np.eye(2, dtype="float32")[classes[..., 0]]
    assert np.allclose(run(out, x=right, label=classes), 0, atol=1e-5)
    assert np.allclose(run(out, x=1 - right, label=classes), 1)


def test_dice_loss_needs_the_number_of_classes():
    x, label = data(shape=[None, None]), data("label", [None, 1], "int64")
    with refused(ShapeError, r"known number of classes, got \[-1, -1\]"):
        layers.dice_loss(x, label)


def test_sigmoid_focal_loss_has_the_shape_of_the_logits():
    x, label, count = data(), data("label", [None, 1], "int32"), data("n", [1], "int32")
    out = layers.sigmoid_focal_loss(x, label, count, gamma=0.0, alpha=0.5)
    found = run(
        out, x=np.zeros([1, 4], "float32"), label=np.array([[2]], "int32"), n=np.array([1], "int32")
    )
    assert np.allclose(found, 0.5 * np.log(2))


def test_teacher_student_sigmoid_loss_passes_its_bounds_on():
    x, label = data(shape=[None, 1]), data("label", [None, 1])
    layers.teacher_student_sigmoid_loss(x, label, soft_max_up_bound=2.0)
    assert "soft_max_up_bound=2.0" in written()[0]
