"""Padding against loops over every element."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3])
IMAGES = rng.normal(size=[2, 1, 3, 4])


def source(i, size, before, mode):
    """Which of ``size`` elements stands at place ``i`` of a padded row; None for the number."""
    at = i - before
    if 0 <= at < size:
        return at
    if mode == "edge":
        return 0 if at < 0 else size - 1
    if mode == "reflect":
        return -at if at < 0 else 2 * (size - 1) - at
    return None


def by_loops(x, paddings, mode="constant", value=0.0):
    """``x`` padded along each dimension, and where each element comes from."""
    pairs = list(zip(paddings[::2], paddings[1::2]))
    out = np.full([n + sum(pair) for n, pair in zip(x.shape, pairs)], value)
    origin = {}
    for place in np.ndindex(out.shape):
        from_ = [source(i, n, b, mode) for i, n, (b, _) in zip(place, x.shape, pairs)]
        if None not in from_:
            origin[place] = tuple(from_)
            out[place] = x[origin[place]]
    return out, origin


@pytest.mark.parametrize("paddings", [[1, 0, 2, 1], [0, 0, 0, 3], [0, 0, 0, 0]])
@pytest.mark.parametrize("value", [0.0, 0.5])
def test_pad_puts_a_number_around(paddings, value):
    expected, _ = by_loops(X, paddings, value=value)
    found = f.pad(X, paddings=paddings, pad_value=value)
    np.testing.assert_array_equal(found, expected)


def test_pad_keeps_integers():
    found = f.pad(np.array([1, 2], np.int32), paddings=[1, 2], pad_value=7.0)
    assert (found.tolist(), found.dtype) == ([7, 1, 2, 7, 7], np.int32)


@pytest.mark.parametrize("paddings", [[0, 1], [0, 1, -1, 0]])
def test_pad_refuses_paddings_that_do_not_fit(paddings):
    with pytest.raises(ShapeError, match="4 paddings of at least 0"):
        infer("pad", dict(paddings=paddings), X=([2, 3], "float32"))


def test_inferred_shape_of_a_padded_tensor():
    found = infer("pad", dict(paddings=[1, 1, 2, 0]), X=([-1, 3], "float32"))["Out"]
    assert found.shape == (-1, 5)


def test_pad_constant_like_fills_up():
    found = f.pad_constant_like(np.zeros([3, 5]), X, pad_value=0.25)
    np.testing.assert_array_equal(found, by_loops(X, [0, 1, 0, 2], value=0.25)[0])
    g = rng.normal(size=[3, 5])
    (found,) = pull_back(f, lambda f, y: f.pad_constant_like(np.zeros([3, 5]), y), [X], [g])
    np.testing.assert_array_equal(found, g[:2, :3])


def test_pad_constant_like_refuses_a_smaller_shape():
    with pytest.raises(ShapeError, match=r"at least as large as Y, got \[3, 4\] and \[4, 2\]"):
        infer("pad_constant_like", X=([3, 4], "float32"), Y=([4, 2], "float32"))
    with pytest.raises(ShapeError, match="at least as large as Y"):
        infer("pad_constant_like", X=([3, 4], "float32"), Y=([2], "float32"))
    with pytest.raises(DTypeError, match="one element type"):
        infer("pad_constant_like", X=([3], "float32"), Y=([3], "float64"))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("paddings", [[1, 2, 3, 0], [2, 0, 1, 3], [0, 0, 0, 0], [-1, 2, 1, -2]])
def test_pad2d_adds_rows_and_columns(mode, paddings):
    expected, _ = by_loops(IMAGES, [0, 0, 0, 0, *paddings], mode, 0.25)
    attrs = dict(mode=mode, pad_value=0.25)
    np.testing.assert_array_equal(f.pad2d(IMAGES, paddings=paddings, **attrs), expected)
    found = f.pad2d(IMAGES, np.array(paddings), paddings=[0] * 4, **attrs)
    np.testing.assert_array_equal(found, expected)
    last = IMAGES.transpose([0, 2, 3, 1])
    found = f.pad2d(last, paddings=paddings, data_format="NHWC", **attrs)
    np.testing.assert_array_equal(found, expected.transpose([0, 2, 3, 1]))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("paddings", [[1, 2, 3, 0], [2, 2, 3, 3], [-1, 2, 1, -2]])
def test_gradients_of_copies_add_up(mode, paddings):
    padded, origin = by_loops(IMAGES, [0, 0, 0, 0, *paddings], mode)
    g, expected = rng.normal(size=padded.shape), np.zeros(IMAGES.shape)
    for place, from_ in origin.items():
        expected[from_] += g[place]
    pad2d = lambda f, x: f.pad2d(x, paddings=paddings, mode=mode)
    (found,) = pull_back(f, pad2d, [IMAGES], [g])
    np.testing.assert_allclose(found, expected)


def test_inferred_shape_of_padded_images():
    one = lambda attrs, **more: infer("pad2d", attrs, X=([-1, 2, 3, -1], "float32"), **more)["Out"]
    assert one(dict(paddings=[1, 2, 0, 1])).shape == (-1, 2, 6, -1)
    assert one(dict(paddings=[0] * 4), Paddings=([4], "int32")).shape == (-1, 2, -1, -1)


@pytest.mark.parametrize(
    "attrs, error, message",
    [
        (dict(paddings=[1, 1, 1]), ShapeError, "4 paddings, two for each of 2"),
        (dict(paddings=[-2, -1, 0, 0]), ShapeError, r"paddings \[-2, -1, 0, 0\] leave nothing"),
        (
            dict(paddings=[3, 0, 0, 0], mode="reflect"),
            ShapeError,
            r"below the size 3 that is mirrored along axis 2, got \[3, 0\]",
        ),
        (dict(paddings=[0] * 4, mode="wrap"), AttributeValueError, "constant, reflect or edge"),
        (dict(paddings=[0] * 4, data_format="NCWH"), AttributeValueError, "NCHW or NHWC"),
    ],
)
def test_pad2d_refuses_what_does_not_fit(attrs, error, message):
    with pytest.raises(error, match=message):
        infer("pad2d", attrs, X=([2, 1, 3, 4], "float32"))


def test_pad2d_takes_images():
    with pytest.raises(ShapeError, match="X to have 4 dimensions"):
        infer("pad2d", dict(paddings=[0] * 4), X=([3, 4], "float32"))
