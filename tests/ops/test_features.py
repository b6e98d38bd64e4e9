"""Features marked, cropped and shifted, against loops and worked numbers."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def test_positions_are_encoded_by_sines_and_cosines():
    x = rng.normal(size=[2, 4, 6])
    out = f.add_position_encoding(x, alpha=0.5, beta=2.0)
    for t in range(4):
        for k in range(3):
            angle = t / 10000 ** (k / 2)
            np.testing.assert_allclose(out[:, t, k], 0.5 * x[:, t, k] + 2 * np.sin(angle))
            np.testing.assert_allclose(out[:, t, k + 3], 0.5 * x[:, t, k + 3] + 2 * np.cos(angle))


def test_focus_takes_numbers_from_the_largest_down_in_rows_and_columns_of_their_own():
    x = np.zeros([1, 2, 2, 3])
    x[0, 1] = [[5, 4, 1], [6, 3, 2]]  # 6 takes row 1 and column 0; then 4 is the largest
    expected = np.array([[0, 1, 0], [1, 0, 0]])
    out = f.similarity_focus(x, axis=1, indexes=[1])
    np.testing.assert_array_equal(out, np.stack([expected, expected])[None])
    turned = f.similarity_focus(np.moveaxis(x, 1, 3), axis=3, indexes=[1])
    np.testing.assert_array_equal(turned, np.moveaxis(out, 1, 3))
    x[0, 0] = [[0, 0, 9], [0, 8, 0]]  # both slices leave their marks
    both = f.similarity_focus(x, axis=1, indexes=[0, 1])
    np.testing.assert_array_equal(both[0, 0], [[0, 1, 1], [1, 1, 0]])


def test_crops_are_parts_of_their_samples():
    x = np.arange(240.0).reshape(4, 3, 4, 5)
    outs = f.random_crop.all(x, np.array([7]), shape=[2, 3])
    assert outs["Out"].shape == (4, 3, 2, 3)
    for sample, part in zip(x.reshape(12, 4, 5), outs["Out"].reshape(12, 2, 3)):
        row, column = divmod(int(part[0, 0] - sample[0, 0]), 5)
        np.testing.assert_array_equal(part, sample[row : row + 2, column : column + 3])
    again = f.random_crop.all(x, np.array([7]), shape=[2, 3])
    np.testing.assert_array_equal(again["Out"], outs["Out"])
    other = f.random_crop.all(x, outs["SeedOut"], shape=[2, 3])
    assert (other["Out"] != outs["Out"]).any()


def test_rows_are_shifted_against_weights():
    x, y = rng.normal(size=[2, 5]), rng.normal(size=[2, 3])
    out = np.zeros([2, 5])
    for n, i, j in np.ndindex(2, 5, 3):
        out[n, i] += x[n, (i + j - 1) % 5] * y[n, j]
    np.testing.assert_allclose(f.conv_shift(x, y), out)


def test_rows_look_ahead():
    x, w = rng.normal(size=[2, 4, 3]), rng.normal(size=[3, 3])
    out = np.zeros([2, 4, 3])
    for t, k in np.ndindex(4, 3):
        if t + k < 4:
            out[:, t] += x[:, t + k] * w[k]
    np.testing.assert_allclose(f.row_conv(x, w), out)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (ShapeError, "even number of features", "add_position_encoding", dict(), dict(X=(2, 3, 5))),
        (
            AttributeValueError,
            "axis 1, 2 or 3, got 0",
            "similarity_focus",
            dict(axis=0, indexes=[0]),
            dict(X=(2, 3, 4, 5)),
        ),
        (
            AttributeValueError,
            "slices in [0, 3), got [3]",
            "similarity_focus",
            dict(axis=1, indexes=[3]),
            dict(X=(2, 3, 4, 5)),
        ),
        (
            ShapeError,
            "parts that fit into samples of [4, 5]",
            "random_crop",
            dict(shape=[5, 5]),
            dict(X=(2, 4, 5)),
        ),
        (ShapeError, "sizes of a part", "random_crop", dict(shape=[1, 1]), dict(X=(4, 5))),
        (ShapeError, "rows of Y to be odd", "conv_shift", dict(), dict(X=(2, 5), Y=(2, 2))),
        (
            ShapeError,
            "Filter of shape [n, 3]",
            "row_conv",
            dict(),
            dict(X=(2, 5, 3), Filter=(2, 4)),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    inputs = {slot: (shape, "float32") for slot, shape in inputs.items()}
    if type == "random_crop":
        inputs.update(Seed=((1,), "int64"))
    with pytest.raises(error) as raised:
        infer(type, attrs, **inputs)
    assert message in str(raised.value)
