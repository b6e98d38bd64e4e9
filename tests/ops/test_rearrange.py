"""Elements moved, against loops over all of them."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def test_pixels_are_shuffled_out_of_channels():
    x = rng.normal(size=[2, 12, 3, 4])
    out = f.pixel_shuffle(x, upscale_factor=2)
    assert out.shape == (2, 3, 6, 8)
    for n, c, i, j in np.ndindex(out.shape):
        assert out[n, c, i, j] == x[n, c * 4 + i % 2 * 2 + j % 2, i // 2, j // 2]


def test_channels_are_dealt_out():
    x = np.arange(6.0).reshape(1, 6, 1, 1)
    found = f.shuffle_channel(x, group=2)
    np.testing.assert_array_equal(found.ravel(), [0, 3, 1, 4, 2, 5])


def test_space_becomes_depth_as_in_darknet():
    x = rng.normal(size=[2, 8, 4, 6])
    out = f.space_to_depth(x, blocksize=2)
    assert out.shape == (2, 32, 2, 3)
    # channels are cut into squares, which are laid out side by side in larger images
    large = np.zeros([2, 2, 8, 12])
    for n, k, i, j in np.ndindex(x.shape):
        square, channel = divmod(k, 2)
        large[n, channel, i * 2 + square // 2, j * 2 + square % 2] = x[n, k, i, j]
    np.testing.assert_array_equal(out.ravel(), large.ravel())


def test_channels_are_shifted_in_time():
    x = rng.normal(size=[6, 8, 2, 3])
    out = f.temporal_shift(x, seg_num=3, shift_ratio=0.25)
    clips, found = x.reshape(2, 3, 8, 2, 3), out.reshape(2, 3, 8, 2, 3)
    for clip, t, c in np.ndindex(2, 3, 8):
        source = t - 1 if c < 2 else t + 1 if c < 4 else t
        expected = clips[clip, source, c] if 0 <= source < 3 else 0
        np.testing.assert_array_equal(found[clip, t, c], expected * np.ones([2, 3]))


def test_windows_become_columns():
    x = rng.normal(size=[2, 3, 5, 4])
    attrs = dict(kernel_sizes=[2, 3], strides=[2, 1], paddings=[1, 0, 2, 3], dilations=[2, 1])
    out = f.unfold(x, **attrs)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 3)))
    positions = [(i, j) for i in range(0, 6, 2) for j in range(5)]
    assert out.shape == (2, 18, len(positions))
    for k, (i, j) in enumerate(positions):
        under = padded[:, :, i : i + 3 : 2, j : j + 3]
        np.testing.assert_array_equal(out[:, :, k], under.reshape(2, -1))
    g = rng.normal(size=out.shape)
    back = f.unfold_adjoint(g, size=x.shape, **attrs)
    assert np.sum(out * g) == pytest.approx(np.sum(x * back))


def test_paddings_below_zero_take_rows_away_before_windows_become_columns():
    x = rng.normal(size=[2, 3, 5, 6])
    attrs = dict(kernel_sizes=[2, 3], strides=[1, 2], dilations=[1, 1])
    out = f.unfold(x, paddings=[-1, 1, 0, -2], **attrs)
    middle = np.pad(x[:, :, 1:, :4], ((0, 0), (0, 0), (0, 0), (1, 0)))
    np.testing.assert_array_equal(out, f.unfold(middle, paddings=[0] * 4, **attrs))
    g = rng.normal(size=out.shape)
    back = f.unfold_adjoint(g, size=x.shape, paddings=[-1, 1, 0, -2], **attrs)
    assert np.sum(out * g) == pytest.approx(np.sum(x * back))
    assert not back[:, :, 0].any() and not back[..., 4:].any()


@pytest.mark.parametrize(
    "error, message, type, attrs",
    [
        (ShapeError, "channels that 4 divides", "pixel_shuffle", dict(upscale_factor=2)),
        (
            AttributeValueError,
            "upscale_factor of at least 1, got 0",
            "pixel_shuffle",
            dict(upscale_factor=0),
        ),
        (ShapeError, "channels that 4 divides, for group=4", "shuffle_channel", dict(group=4)),
        (ShapeError, "channels that 4 divides, for blocksize=2", "space_to_depth", dict()),
        (ShapeError, "clips of seg_num=4 frames", "temporal_shift", dict(seg_num=4)),
        (
            AttributeValueError,
            "shift_ratio from 0 to 0.5",
            "temporal_shift",
            dict(seg_num=2, shift_ratio=0.6),
        ),
        (
            AttributeValueError,
            "expected paddings of 4 numbers, got [1, 1]",
            "unfold",
            dict(kernel_sizes=[2, 2], strides=[1, 1], paddings=[1, 1], dilations=[1, 1]),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs):
    with pytest.raises(error) as raised:
        infer(type, attrs, X=((6, 6, 5, 7), "float32"))
    assert message in str(raised.value)
