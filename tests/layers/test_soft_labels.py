"""Labels that are probabilities."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import AttributeValueError, ShapeError

from building import data, refused, run, written

LABEL = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]], "float32")


def test_labels_are_mixed_with_equal_probabilities():
    out = layers.label_smooth(data("label"), epsilon=0.5)
    assert written() == ["label_smooth_0.tmp_0 = label_smooth(X=label, epsilon=0.5)"]
    assert run(out, label=LABEL).tolist() == (LABEL * 0.5 + 0.125).tolist()


def test_labels_are_mixed_with_a_prior():
    prior = np.array([[0.5, 0.25, 0.125, 0.125]], "float32")
    out = layers.label_smooth(data("label"), data("prior", [1, 4]), epsilon=0.5)
    assert run(out, label=LABEL, prior=prior).tolist() == ((LABEL + prior) / 2).tolist()


def test_no_gradient_flows_to_smoothed_labels():
    label = data("label")
    label.stop_gradient = False
    out = layers.label_smooth(label)
    with pytest.warns(fluid.errors.FluidWarning, match="gradients stop at it"):
        assert fluid.gradients(out, label) == []


def test_a_prior_of_another_shape_is_refused():
    label, prior = data("label"), data("prior", [4])
    with refused(ShapeError, r"expected PriorDist of shape \[1, 4\]"):
        layers.label_smooth(label, prior)


def test_an_epsilon_that_is_no_part_is_refused():
    label = data("label")
    with refused(AttributeValueError, r"expected epsilon from 0 to 1, got -0.5"):
        layers.label_smooth(label, epsilon=-0.5)


def test_each_class_has_a_cross_entropy_of_its_own():
    logits = np.array([[0.5, -1.0, 2.0, 0.0], [0.0, 3.0, -2.0, 1.0]], "float32")
    out = layers.sigmoid_cross_entropy_with_logits(data("x"), data("label"))
    assert out.name == "sigmoid_cross_entropy_with_logits_0.tmp_0"
    p = 1 / (1 + np.exp(-logits))
    wanted = -np.log(np.where(LABEL == 1, p, 1 - p))
    assert np.allclose(run(out, x=logits, label=LABEL), wanted, rtol=1e-5)


def test_a_class_can_be_ignored_and_losses_divided_by_what_is_left():
    label = np.array([[-1.0, 1.0, 0.0, -1.0], [1.0, -1.0, 1.0, 0.0]], "float32")
    x = data("x")
    out = layers.sigmoid_cross_entropy_with_logits(
        x, data("label"), ignore_index=-1, normalize=True
    )
    found = run(out, x=np.zeros([2, 4], "float32"), label=label)
    assert np.allclose(found, np.where(label < 0, 0, np.log(2) / 5), rtol=1e-5)


def test_labels_of_another_shape_are_refused():
    x, label = data("x"), data("label", [None, 3])
    with refused(ShapeError, r"expected Label of shape \[n, 4\], one probability"):
        layers.sigmoid_cross_entropy_with_logits(x, label)
