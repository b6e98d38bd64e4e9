"""Maxima with their places, and what is put back to such places."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3, 5, 6])


def test_masks_number_the_elements_of_each_image():
    out, mask = f.max_pool2d_with_index(X, ksize=[2, 3], strides=[1, 2], paddings=[1, 0])
    assert mask.dtype == np.int32
    images = X.reshape(2, 3, 30)
    np.testing.assert_array_equal(
        np.take_along_axis(images, mask.reshape(2, 3, -1), 2), out.reshape(2, 3, -1)
    )
    expected = f.pool2d(X, pooling_type="max", ksize=[2, 3], strides=[1, 2], paddings=[1, 0])
    np.testing.assert_array_equal(out, expected)


def test_masks_number_the_elements_of_each_volume():
    x = rng.normal(size=[2, 3, 4, 3, 5])
    out, mask = f.max_pool3d_with_index(x, ksize=[2, 3, 2], strides=[2, 1, 1])
    found = np.take_along_axis(x.reshape(2, 3, -1), mask.reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(found, out.reshape(2, 3, -1))
    expected = f.pool3d(x, pooling_type="max", ksize=[2, 3, 2], strides=[2, 1, 1])
    np.testing.assert_array_equal(out, expected)


def test_of_equal_elements_the_first_by_rows_is_named():
    _, mask = f.max_pool2d_with_index(np.zeros([1, 1, 4, 4]), ksize=[2, 2], strides=[2, 2])
    np.testing.assert_array_equal(mask.ravel(), [0, 2, 8, 10])


def test_unpooling_puts_maxima_back():
    out, mask = f.max_pool2d_with_index(X[..., :4, :], ksize=[2, 3], strides=[2, 3])
    back = f.unpool(out, mask, ksize=[2, 3], strides=[2, 3], unpooling_type="max")
    largest = X[..., :4, :].reshape(2, 3, 2, 2, 2, 3).max((3, 5), keepdims=True)
    kept = X[..., :4, :].reshape(2, 3, 2, 2, 2, 3)
    expected = np.where(kept == largest, kept, 0).reshape(2, 3, 4, 6)
    np.testing.assert_array_equal(back, expected)


def test_of_places_named_twice_the_last_element_stays_and_gets_the_gradient():
    index = np.array([[[[1, 1, 3]]]])
    attrs = dict(ksize=[1, 2], strides=[1, 1], unpooling_type="max")
    put = lambda f, x: f.unpool(x, index, **attrs)
    np.testing.assert_array_equal(put(f, np.array([[[[5.0, 6, 7]]]])), [[[[0, 6, 0, 7]]]])
    (gradient,) = pull_back(f, put, [np.ones([1, 1, 1, 3])], [np.array([[[[1.0, 2, 3, 4]]]])])
    np.testing.assert_array_equal(gradient, [[[[0, 2, 4]]]])


def test_unpooling_refuses_places_outside_the_image():
    with pytest.raises(OutOfRangeError, match=r"expected an index in \[0, 4\), got 4"):
        f.unpool(
            np.ones([1, 1, 1, 1]), np.full([1, 1, 1, 1], 4), ksize=[2, 2], unpooling_type="max"
        )


@pytest.mark.parametrize("pooling_type, reduce", [("max", np.max), ("avg", np.mean)])
def test_pyramid_pools_whole_images_and_their_quarters(pooling_type, reduce):
    x = X[:, :, :4]
    out = f.spp(x, pyramid_height=2, pooling_type=pooling_type)
    whole = reduce(x, (2, 3))
    quarters = reduce(x.reshape(2, 3, 2, 2, 2, 3), (3, 5)).reshape(2, 12)
    np.testing.assert_allclose(out, np.concatenate([whole, quarters], axis=1))


@pytest.mark.parametrize(
    "error, message, type, attrs",
    [
        (AttributeValueError, "pyramid_height from 1 to 16, got 0", "spp", dict(pyramid_height=0)),
        (ShapeError, "each of 4 x 4 windows covers a part", "spp", dict(pyramid_height=3)),
        (
            AttributeValueError,
            "unpooling_type max, got 'avg'",
            "unpool",
            dict(unpooling_type="avg"),
        ),
        (AttributeValueError, "ksize of 2 numbers from 1, got [2]", "unpool", dict(ksize=[2])),
        (ShapeError, "make them [-2, 2]", "unpool", dict(paddings=[4, 3])),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs):
    more = dict(pooling_type="max") if type == "spp" else dict(ksize=[2, 2], unpooling_type="max")
    inputs = dict(X=((2, 3, 5, 7), "float32"))
    if type == "unpool":
        inputs.update(Indices=((2, 3, 5, 7), "int32"))
    with pytest.raises(error) as raised:
        infer(type, {**more, **attrs}, **inputs)
    assert message in str(raised.value)
