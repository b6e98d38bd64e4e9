"""Deformable convolutions against loops over every number."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def between(image, y, x):
    """The value of an image [row, column] at a point; zeros beyond it."""
    out = 0.0
    for row in (int(np.floor(y)), int(np.floor(y)) + 1):
        for column in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= row < len(image) and 0 <= column < image.shape[1]:
                out += image[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return out


@pytest.mark.parametrize(
    "attrs, filter",
    [
        (dict(paddings=[1, 0]), (4, 4, 2, 3)),
        (dict(strides=[2, 1], dilations=[1, 2], groups=2, deformable_groups=2), (6, 2, 3, 2)),
    ],
)
@pytest.mark.parametrize("weighted", [True, False])
def test_elements_of_the_window_are_moved(attrs, filter, weighted):
    x, w = rng.normal(size=[2, 4, 5, 6]), rng.normal(size=filter)
    strides, pads, dilations, groups, parts = (
        attrs.get(name, default)
        for name, default in [
            ("strides", (1, 1)),
            ("paddings", (0, 0)),
            ("dilations", (1, 1)),
            ("groups", 1),
            ("deformable_groups", 1),
        ]
    )
    height, width = filter[2:]
    sizes = [
        (n + 2 * pad - (k - 1) * d - 1) // s + 1
        for n, pad, k, d, s in zip((5, 6), pads, (height, width), dilations, strides)
    ]
    offset = rng.normal(size=(2, 2 * parts * height * width, *sizes))
    mask = rng.uniform(size=(2, parts * height * width, *sizes))
    out = np.zeros((2, filter[0], *sizes))
    for n, o, i, j in np.ndindex(out.shape):
        for c, k, m in np.ndindex(*filter[1:]):
            channel = o // (filter[0] // groups) * filter[1] + c
            element = channel // (4 // parts) * height * width + k * width + m
            down, across = offset[n, 2 * element : 2 * element + 2, i, j]
            y = i * strides[0] - pads[0] + k * dilations[0] + down
            z = j * strides[1] - pads[1] + m * dilations[1] + across
            value = between(x[n, channel], y, z) * w[o, c, k, m]
            out[n, o, i, j] += value * (mask[n, element, i, j] if weighted else 1)
    if weighted:
        found = f.deformable_conv(x, offset, mask, w, **attrs)
    else:
        found = f.deformable_conv_v1(x, offset, w, **attrs)
    np.testing.assert_allclose(found, out)


def test_windows_that_stay_convolve():
    x, w = rng.normal(size=[2, 3, 5, 6]), rng.normal(size=[4, 3, 3, 2])
    found = f.deformable_conv_v1(x, np.zeros([2, 12, 3, 5]), w)
    np.testing.assert_allclose(found, f.conv2d(x, w))


def test_points_a_whole_element_beyond_an_end_have_no_slope():
    """So fluid 1.8.5 has it: offsets that start at 0 get nothing from the border of zeros."""
    x, w = rng.normal(size=[1, 2, 4, 5]), rng.normal(size=[3, 2, 3, 3])

    def convolved(f, offset):
        return f.deformable_conv_v1(x, offset, w, paddings=[1, 1])

    offset = np.zeros([1, 18, 4, 5])
    (found,) = pull_back(f, convolved, [offset], [np.ones([1, 3, 4, 5])])
    found = found.reshape(3, 3, 2, 4, 5)
    assert not found[0, :, :, 0].any() and not found[2, :, :, 3].any()
    assert not found[:, 0, :, :, 0].any() and not found[:, 2, :, :, 4].any()
    assert found[1, 1, :, 1:3, 1:4].all()


def test_a_padding_below_zero_starts_inside_the_image():
    x, w = rng.normal(size=[2, 3, 6, 7]), rng.normal(size=[4, 3, 3, 2])
    found = f.deformable_conv_v1(x, np.zeros([2, 12, 2, 6]), w, paddings=[-1, 0])
    np.testing.assert_allclose(found, f.conv2d(x, w, paddings=[-1, 0]))


@pytest.mark.parametrize(
    "error, message, attrs, offset",
    [
        (ShapeError, "Offset of shape [2, 18, 6, 6], got [2, 9, 6, 6]", dict(), (2, 9, 6, 6)),
        (AttributeValueError, "groups that divide 4 channels", dict(groups=3), (2, 18, 6, 6)),
        (AttributeValueError, "strides of 2 numbers from 1", dict(strides=[0, 1]), (2, 18, 6, 6)),
        (
            ShapeError,
            "a window of 9 does not fit into 8 elements",
            dict(dilations=[4, 4]),
            (2, 18, 6, 6),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, attrs, offset):
    inputs = dict(Input=(2, 4, 8, 8), Offset=offset, Filter=(6, 4, 3, 3))
    with pytest.raises(error) as raised:
        infer("deformable_conv_v1", attrs, **{k: (s, "float32") for k, s in inputs.items()})
    assert message in str(raised.value)
