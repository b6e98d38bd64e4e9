"""Softmax and losses against loops over the samples."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import DTypeError, OutOfRangeError, ShapeError

from gradcheck import check_gradients, evaluator, pull_back
from infer import infer

f = evaluator()
layers = fluid.layers
rng = np.random.default_rng(0)
LOGITS = rng.normal(size=[4, 5])
LABEL = np.array([[1], [4], [0], [4]])
SOFT = rng.uniform(size=[4, 5])


def softmax_by_loops(x):
    out = np.empty_like(x)
    for row, values in zip(out, x):
        total = sum(math.exp(v) for v in values)
        row[:] = [math.exp(v) / total for v in values]
    return out


P = softmax_by_loops(LOGITS)


def test_softmax_divides_exponentials_by_their_sum():
    np.testing.assert_allclose(f.softmax(LOGITS), P)
    x = np.moveaxis(np.stack([LOGITS, -LOGITS]), 2, 1)
    expected = np.stack([P, softmax_by_loops(-LOGITS)])
    np.testing.assert_allclose(np.moveaxis(f.softmax(x, axis=1), 1, 2), expected)


def test_softmax_does_not_overflow():
    x = np.array([[1000, 1001, 999], [-1000, 0, 5]], "float32")
    y = f.softmax(x)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y[0], softmax_by_loops(x[:1] - 1000)[0], rtol=1e-6)
    np.testing.assert_allclose(y[1, 1:], [1 / (1 + math.exp(5)), 1 / (1 + math.exp(-5))], 1e-6)


def test_cross_entropy_is_the_negative_logarithm_at_the_label():
    expected = [[-math.log(p[label])] for p, (label,) in zip(P, LABEL)]
    np.testing.assert_allclose(f.cross_entropy(P, LABEL), expected)
    outs = f.cross_entropy2.all(P, LABEL)
    np.testing.assert_allclose(outs["Y"], expected)
    np.testing.assert_allclose(outs["MatchX"], np.exp(-np.array(expected)))
    assert outs["XShape"].shape == (4, 5, 0)


def test_cross_entropy_of_a_distribution_is_a_weighted_sum():
    expected = [[-sum(w * math.log(p) for w, p in zip(*rows))] for rows in zip(SOFT, P)]
    np.testing.assert_allclose(f.cross_entropy(P, SOFT, soft_label=True), expected)
    loss = f.softmax_with_cross_entropy(LOGITS, SOFT, soft_label=True)
    np.testing.assert_allclose(loss, expected)


def test_probabilities_may_be_given_in_place_of_logits():
    loss = f.softmax_with_cross_entropy(P, LABEL, use_softmax=False)
    np.testing.assert_allclose(loss, -np.log(np.take_along_axis(P, LABEL, 1)))


def test_softmax_with_cross_entropy_is_both():
    outs = f.softmax_with_cross_entropy.all(LOGITS, LABEL)
    np.testing.assert_allclose(outs["Softmax"], P)
    np.testing.assert_allclose(outs["Loss"], f.cross_entropy(P, LABEL))
    moved = np.stack([LOGITS.T, 2 * LOGITS.T])
    outs = f.softmax_with_cross_entropy.all(moved, np.stack([LABEL.T, LABEL.T]), axis=1)
    np.testing.assert_allclose(outs["Softmax"][0], P.T)
    np.testing.assert_allclose(outs["Loss"][0], f.cross_entropy(P, LABEL).T)


FAR = np.array([[0, -100, 50, -13.5], [0, 0, -np.inf, -63]])
#: logits less the largest of their row, and at least -64
NEAR = np.array([[-50, -64, 0, -63.5], [0, 0, -64, -63]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_probability_of_a_softmax_is_less_than_that_of_a_logit_64_below_the_largest(dtype):
    found = f.softmax(FAR.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, softmax_by_loops(NEAR), rtol=1e-5)
    np.testing.assert_allclose(f.softmax(FAR.T.astype(dtype), axis=0).T, found)
    assert np.isnan(f.softmax(np.array([[np.nan, 1.0]], dtype))).all()


def test_the_loss_of_a_softmax_is_at_most_64_and_the_logarithm_of_the_classes():
    loss = f.softmax_with_cross_entropy(np.array([[0.0, 2000.0]]), np.array([[0]]))
    np.testing.assert_allclose(loss, [[64]])
    far = np.array([[0, -100, 50, -13.5], [0, 0, -200, -63]])
    soft = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    loss = f.softmax_with_cross_entropy(far, soft, soft_label=True)
    np.testing.assert_allclose(loss, [[57], [63.5 + math.log(2)]])


@pytest.mark.parametrize("kernels", ["numpy", "auto"])
def test_gradients_through_the_loss_of_an_unlikely_label_stay_finite(monkeypatch, kernels):
    monkeypatch.setenv("FLUIDLITE_KERNELS", kernels)
    x = fluid.data("x", [2, 4], "float32")
    x.stop_gradient = False
    label = fluid.data("label", [2, 1], "int64")
    p = layers.softmax(x)
    both = [layers.cross_entropy(p, label), layers.softmax_with_cross_entropy(x, label)]
    fetched = [p, *both, layers.log_softmax(x)]
    fetched += [fluid.gradients(loss, x)[0] for loss in both]
    feed = dict(x=FAR.astype("float32"), label=np.array([[1], [2]]))
    exe, expected = fluid.Executor(), softmax_by_loops(NEAR)
    for _ in range(4):  # interpreted first, by prepared kernels then
        p, *losses, log, first, second = exe.run(feed=feed, fetch_list=fetched)
        np.testing.assert_allclose(p, expected, rtol=1e-5)
        np.testing.assert_allclose(log, np.log(expected), rtol=1e-5)
        for loss in losses:
            np.testing.assert_allclose(loss, [[64], [64 + math.log(2)]], rtol=1e-6)
        for slope in (first, second):
            np.testing.assert_allclose(slope, expected - np.eye(4)[[1, 2]], rtol=1e-5)


@pytest.mark.parametrize(
    "type, x", [("cross_entropy", P), ("cross_entropy2", P), ("softmax_with_cross_entropy", LOGITS)]
)
def test_ignored_labels_give_no_loss_and_no_gradient(type, x):
    loss = lambda f, x: getattr(f, type)(x, LABEL, ignore_index=4)
    kept = getattr(f, type)(x, LABEL)
    np.testing.assert_allclose(loss(f, x), kept * [[1], [0], [1], [0]])
    (gradient,) = pull_back(f, loss, [x], [np.ones([4, 1])])
    np.testing.assert_array_equal(gradient[[1, 3]], 0)
    assert gradient[[0, 2]].any(axis=1).all()


def test_gradient_at_the_logits_is_the_softmax_less_the_label():
    g = rng.normal(size=[4, 1])
    loss = lambda f, x: f.softmax_with_cross_entropy(x, LABEL)
    (gradient,) = pull_back(f, loss, [LOGITS], [g])
    np.testing.assert_allclose(gradient, (P - np.eye(5)[LABEL[:, 0]]) * g)


def test_a_softmax_that_is_differentiated_too_counts():
    both = lambda f, x: list(f.softmax_with_cross_entropy.all(x, LABEL).values())
    check_gradients(both, [LOGITS], order=3, tolerance=1e-5)


def test_loss_of_a_probability_of_zero_is_large_but_finite():
    x = np.array([[0.0, 1.0], [0.5, 0.5]], "float32")
    label = np.array([[0], [1]])
    for loss in (f.cross_entropy(x, label), f.cross_entropy2(x, label)):
        assert loss.dtype == np.float32
        np.testing.assert_allclose(loss, [[1e20], [math.log(2)]], rtol=1e-6)


def test_labels_are_picked_and_placed():
    x = np.arange(6.0).reshape(2, 3)
    label = np.array([[2], [1]])
    np.testing.assert_array_equal(f.pick_label(x, label), [[2], [4]])
    picked = f.pick_label(x, label, ignore_index=1, ignored=-1.0)
    np.testing.assert_array_equal(picked, [[2], [-1]])
    placed = f.place_label(np.array([[5.0], [7.0]]), label, size=4, ignore_index=2)
    np.testing.assert_array_equal(placed, [[0, 0, 0, 0], [0, 7, 0, 0]])


@pytest.mark.parametrize("type", ["cross_entropy", "cross_entropy2", "softmax_with_cross_entropy"])
@pytest.mark.parametrize("wrong", [-1, 5])
def test_a_label_that_is_no_class_is_refused(type, wrong):
    with pytest.raises(OutOfRangeError, match=rf"expected a label in \[0, 5\), got {wrong}"):
        getattr(f, type)(P, np.array([[1], [wrong], [0], [-100]]))


HARD = ["cross_entropy", "cross_entropy2", "softmax_with_cross_entropy"]


def loss_spec(type, x, label, dtype="int64", **attrs):
    slot = "Logits" if type.startswith("softmax") else "X"
    outs = infer(type, attrs, **{slot: (x, "float32"), "Label": (label, dtype)})
    return outs["Loss" if type.startswith("softmax") else "Y"].shape


@pytest.mark.parametrize("type", HARD)
def test_a_loss_has_one_class(type):
    assert loss_spec(type, (-1, 5), (-1, 1)) == (-1, 1)
    assert loss_spec(type, (2, -1, 5), (-1, 3, 1)) == (2, -1, 1)


@pytest.mark.parametrize("type", HARD)
@pytest.mark.parametrize(
    "error, message, label, dtype",
    [
        (ShapeError, "expected a label of shape [-1, 1]", (-1, 3), "int64"),
        (ShapeError, "dimension 1 of [-1, 5], got [-1, 1, 1]", (-1, 1, 1), "int64"),
        (DTypeError, "Label to hold integers (int64 or int32), got float32", (-1, 1), "float32"),
    ],
)
def test_labels_that_are_no_indices_are_refused(type, error, message, label, dtype):
    with pytest.raises(error) as raised:
        loss_spec(type, (-1, 5), label, dtype)
    assert message in str(raised.value)


@pytest.mark.parametrize("type", ["cross_entropy", "softmax_with_cross_entropy"])
@pytest.mark.parametrize(
    "error, message, label, dtype",
    [
        (ShapeError, "expected Label of shape [n, 5], one probability", (-1, 1), "float32"),
        (DTypeError, "expected one element type", (-1, 5), "int64"),
    ],
)
def test_soft_labels_that_are_no_probabilities_are_refused(type, error, message, label, dtype):
    with pytest.raises(error) as raised:
        loss_spec(type, (-1, 5), label, dtype, soft_label=True)
    assert message in str(raised.value)


@pytest.mark.parametrize("type", ["softmax", "softmax_with_cross_entropy"])
def test_an_axis_that_is_not_there_is_refused(type):
    slots = dict(Label=((2, 1), "int64"), Logits=((2, 3), "float32"))
    inputs = slots if "cross" in type else dict(X=slots["Logits"])
    with pytest.raises(ShapeError, match=r"expected axis in \[-2, 2\), got 2"):
        infer(type, dict(axis=2), **inputs)


@pytest.mark.parametrize("type", ["cross_entropy", "cross_entropy2"])
def test_labels_may_lack_their_last_size(type):
    loss = getattr(f, type)
    flat = LABEL[:, 0]
    np.testing.assert_array_equal(loss(P, flat), loss(P, LABEL)[:, 0])
    of = lambda label: lambda f, x: getattr(f, type)(x, label, ignore_index=4)
    (expected,) = pull_back(f, of(LABEL), [P], [np.ones([4, 1])])
    (found,) = pull_back(f, of(flat), [P], [np.ones(4)])
    np.testing.assert_array_equal(found, expected)
    assert loss_spec(type, (-1, 3, 5), (-1, 3)) == (-1, 3)
