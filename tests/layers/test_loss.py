"""What compares predictions with labels."""

import numpy as np
import pytest

from fluidlite import layers
from fluidlite.errors import ShapeError

from building import data, refused, run, written

P = np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]], "float32")
LABEL = np.array([[1], [2]])


def probabilities():
    return data("p", [None, 3])


def label():
    return data("label", [None, 1], "int64")


def test_cross_entropy_takes_the_probability_of_the_right_class():
    out = layers.cross_entropy(probabilities(), label())
    assert out.name == "cross_entropy2_0.tmp_0"
    assert written()[0].split(" = ")[1] == "cross_entropy2(X=p, Label=label)"
    assert np.allclose(run(out, p=P, label=LABEL), -np.log([[0.5], [0.1]]), rtol=1e-5)


def test_cross_entropy_with_soft_labels_is_another_operator():
    soft = data("label", [None, 3])
    out = layers.cross_entropy(probabilities(), soft, soft_label=True)
    assert written() == ["cross_entropy_0.tmp_0 = cross_entropy(X=p, Label=label, soft_label=true)"]
    wanted = -(P * np.log(P)).sum(1, keepdims=True)
    assert np.allclose(run(out, p=P, label=P), wanted, rtol=1e-5)


def test_cross_entropy_leaves_a_class_out():
    out = layers.cross_entropy(probabilities(), label(), ignore_index=2)
    assert run(out, p=P, label=LABEL)[1].tolist() == [0]


def test_cross_entropy_doubts_labels_that_are_no_indices():
    p, wrong = probabilities(), data("label", [None, 1])
    with pytest.warns(UserWarning, match="expected Label to hold integers .* got float32"):
        layers.cross_entropy(p, wrong)


def test_cross_entropy_refuses_labels_without_a_last_size_of_1():
    p, wrong = probabilities(), data("label", [None, 3], "int64")
    with refused(ShapeError, r"(?s)label int64\[-1, 3\]"):
        layers.cross_entropy(p, wrong)


def test_softmax_with_cross_entropy_gives_the_softmax_where_asked():
    logits = data("p", [None, 3])
    loss = layers.softmax_with_cross_entropy(logits, label())
    both = layers.softmax_with_cross_entropy(logits, label(), return_softmax=True)
    assert (loss.shape, both[0].shape, both[1].shape) == ((-1, 1), (-1, 1), (-1, 3))
    softmax = np.exp(P) / np.exp(P).sum(1, keepdims=True)
    found = run(loss, *both, p=P, label=LABEL)
    assert np.allclose(found[2], softmax, rtol=1e-5)
    assert np.allclose(found[0], -np.log([[softmax[0, 1]], [softmax[1, 2]]]), rtol=1e-5)
    assert np.array_equal(found[0], found[1])


def test_square_error_cost_squares_the_difference():
    x, y = data(shape=[None, 1]), data("y", [None, 1])
    out = layers.square_error_cost(x, y)
    assert written() == [
        "square_error_cost_0.tmp_0 = elementwise_sub(X=x, Y=y)",
        "square_error_cost_0.tmp_1 = square(X=square_error_cost_0.tmp_0)",
    ]
    assert run(out, x=np.array([[3]], "float32"), y=np.array([[5]], "float32")).tolist() == [[4]]


def test_mse_loss_is_its_mean():
    x, y = data(shape=[None, 2]), data("y", [None, 2])
    out = layers.mse_loss(x, y)
    assert out.shape == (1,)
    assert [line.split(" = ")[1].split("(")[0] for line in written()] == [
        "elementwise_sub",
        "square",
        "reduce_mean",
    ]
