"""Losses of numbers against loops over the elements."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X, Y = rng.normal(scale=2, size=[3, 4]), rng.normal(scale=2, size=[3, 4])


def huber(r, delta):
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def test_huber_loss_is_a_parabola_between_lines():
    outs = f.huber_loss.all(X, Y, delta=1.5)
    np.testing.assert_allclose(
        outs["Out"], [[huber(b - a, 1.5) for a, b in zip(*r)] for r in zip(X, Y)]
    )
    np.testing.assert_array_equal(outs["Residual"], Y - X)


def test_the_slope_of_huber_loss_stays_within_delta():
    x, y = pull_back(f, lambda f, x, y: f.huber_loss(x, y, delta=0.5), [X, Y], [np.ones([3, 4])])
    np.testing.assert_allclose(y, np.clip(Y - X, -0.5, 0.5))
    np.testing.assert_allclose(x, -y)


def test_huber_loss_refuses_no_delta_and_other_shapes():
    one = ([3, 1], "float32")
    with pytest.raises(AttributeValueError, match="delta above 0, got 0"):
        infer("huber_loss", dict(delta=0), X=one, Y=one)
    with pytest.raises(ShapeError, match=r"X and Y of the same shape, got \[3, 1\], \[3\]"):
        infer("huber_loss", dict(delta=1), X=one, Y=([3], "float32"))
    with pytest.raises(DTypeError, match="one element type"):
        infer("huber_loss", dict(delta=1), X=one, Y=([3, 1], "float64"))


def smooth(d, sigma):
    d = abs(d)
    return (sigma * d) ** 2 / 2 if d < 1 / sigma**2 else d - 0.5 / sigma**2


def test_smooth_l1_loss_sums_weighted_losses_of_a_row():
    inside, outside = rng.uniform(size=[3, 4]), rng.uniform(size=[3, 4])
    found = f.smooth_l1_loss(X, Y, inside, outside, sigma=1.25)
    for n in range(3):
        terms = (outside[n, i] * smooth(inside[n, i] * (X[n, i] - Y[n, i]), 1.25) for i in range(4))
        np.testing.assert_allclose(found[n], [sum(terms)])


def test_smooth_l1_loss_flattens_rows():
    flat = f.smooth_l1_loss(X, Y)
    np.testing.assert_allclose(f.smooth_l1_loss(*(v.reshape(3, 2, 2) for v in (X, Y))), flat)
    assert flat.shape == (3, 1)


def test_smooth_l1_loss_refuses_vectors_and_other_weights():
    with pytest.raises(ShapeError, match=r"X to have at least 2 dimensions, got shape \[3\]"):
        infer("smooth_l1_loss", X=([3], "float32"), Y=([3], "float32"))
    specs = dict(X=([3, 2], "float32"), Y=([3, 2], "float32"))
    with pytest.raises(ShapeError, match="X and Y and OutsideWeight of the same shape"):
        infer("smooth_l1_loss", **specs, OutsideWeight=([3, 1], "float32"))
    with pytest.raises(AttributeValueError, match="sigma above 0, got 0"):
        infer("smooth_l1_loss", dict(sigma=0), **specs)


LABEL = np.array([[1], [0], [1]])
CENTERS = rng.normal(size=[3, 4])
CENTER_INPUTS = dict(X=X, Label=LABEL, Centers=CENTERS, CenterUpdateRate=np.array([0.1]))


def test_center_loss_moves_centres_towards_their_features():
    outs = f.center_loss.all(**CENTER_INPUTS, cluster_num=3, need_update=True)
    for n, (label,) in enumerate(LABEL):
        terms = [(a - c) ** 2 for a, c in zip(X[n], CENTERS[label])]
        np.testing.assert_allclose(outs["Loss"][n], [sum(terms) / 2])
    for c in range(3):
        rows = [X[n] - CENTERS[c] for n in range(3) if LABEL[n, 0] == c]
        moved = CENTERS[c] + 0.1 * sum(rows, np.zeros(4)) / (1 + len(rows))
        np.testing.assert_allclose(outs["CentersOut"][c], moved)


def test_center_loss_leaves_centres_alone_where_told():
    outs = f.center_loss.all(**CENTER_INPUTS, cluster_num=3, need_update=False)
    np.testing.assert_array_equal(outs["CentersOut"], CENTERS)


@pytest.mark.parametrize(
    "changed, message",
    [
        (dict(Label=([2, 1], "int64")), r"a label for each row of X \[3, 4\], got \[2, 1\]"),
        (dict(Centers=([4, 4], "float32")), r"Centers of shape \[3, 4\], got \[4, 4\]"),
        (dict(CenterUpdateRate=([2], "float32")), "CenterUpdateRate to hold one number"),
    ],
)
def test_center_loss_refuses_what_does_not_fit(changed, message):
    specs = dict(X=([3, 4], "float32"), Label=([3, 1], "int64"), Centers=([3, 4], "float32"))
    specs = specs | dict(CenterUpdateRate=([1], "float32")) | changed
    with pytest.raises(ShapeError, match=message):
        infer("center_loss", dict(cluster_num=3, need_update=True), **specs)


def test_center_loss_refuses_labels_without_a_centre():
    with pytest.raises(OutOfRangeError, match=r"Label in \[0, 3\), got 3"):
        inputs = CENTER_INPUTS | dict(Label=np.array([[0], [3], [1]]))
        f.center_loss.all(**inputs, cluster_num=3, need_update=True)
