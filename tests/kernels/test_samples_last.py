"""Kernels of images whose samples lie last in memory give what they give of others."""

import numpy as np
import pytest

from fluidlite.ground.dtypes import DType
from fluidlite.kernels import registered  # noqa: F401
from fluidlite.kernels.samples_last import SamplesLast
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import spec

DTYPES = {"float32": DType.FP32, "float64": DType.FP64}
SHAPES = [(8, 6, 4, 8), (3, 4, 30, 2), (64, 4, 2, 1), (2, 8, 5, 7, 3), (8, 4, 32, 32)]
rng = np.random.default_rng(7)


def turned(image):
    """An image that lies with its samples last."""
    inner = np.ascontiguousarray(image.transpose(*range(1, image.ndim), 0))
    return inner.transpose(image.ndim - 1, *range(image.ndim - 1))


def lies_last(image):
    return image.transpose(*range(1, image.ndim), 0).flags.c_contiguous


def kernel(type, arrays, **attributes):
    """What a kernel computes of arrays; None stands for what is not there."""
    specs = [None if a is None else spec(a.shape, DTYPES[a.dtype.name]) for a in arrays]
    op = lookup(type)(attributes)
    prepared = op.prepared(specs)

    def run(*given, **more):
        room = [] if prepared.scratch is None else [prepared.scratch()]
        with np.errstate(all="ignore"):
            return prepared.function(*given, *room, **more)

    return run


def images(shape, dtype, count, mean=3):
    """Random images, plain ones."""
    return [(mean + rng.normal(size=shape)).astype(dtype) for _ in range(count)]


#: means of images: sums of squares lose digits where they are large, beside other images, too
MEANS = {"near": 0.3, "far": 3, "mixed": np.array([0, 50] * 32).reshape(-1, 1, 1, 1)}


def mean_of(which, shape):
    """Means of the samples of images of a shape."""
    mean = MEANS[which]
    return mean if which != "mixed" else mean[: shape[0]].reshape(-1, *[1] * (len(shape) - 1))


def near(dtype):
    return dict(rtol=2e-4, atol=2e-4) if dtype == "float32" else dict(rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_lines_are_the_image(shape):
    (image,) = images(shape, "float32", 1)
    last = SamplesLast(shape)
    assert last.holds(turned(image)) and not last.holds(image)
    lines = last.lined(turned(image))
    np.testing.assert_allclose(
        last.sums(lines), image.reshape(*shape[:2], -1).sum(2).T, rtol=1e-5, atol=1e-5
    )
    per_sample = np.arange(shape[0], dtype="float32")
    written, new = last.new(None, np.dtype("float32"))
    new[...] = last.repeated(per_sample)
    assert (written == per_sample.reshape(-1, *[1] * (len(shape) - 1))).all()


def test_few_samples_at_positions_that_nothing_divides_are_no_lines():
    image = turned(images((2, 3, 1, 1009), "float32", 1)[0])
    assert not SamplesLast(image.shape).holds(image)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("which", MEANS)
def test_group_norm(which, shape, dtype, given):
    (x,) = images(shape, dtype, 1, mean_of(which, shape))
    pair = rng.normal(size=(2, shape[1])).astype(dtype)
    scale, bias = (v if there else None for v, there in zip(pair, given))
    run = kernel("group_norm", [x, scale, bias], groups=2)
    expected, found = run(x, scale, bias), run(turned(x), scale, bias)
    assert lies_last(found[0]) and not lies_last(expected[0])
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == dtype
        np.testing.assert_allclose(one, other, **near(dtype))
    room = turned(np.zeros_like(x))
    assert run(turned(x), scale, bias, out=(room, None, None))[0] is room
    np.testing.assert_array_equal(room, found[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("which", MEANS)
def test_the_gradient_of_group_norm(which, shape, dtype):
    (x, g) = images(shape, dtype, 2, mean_of(which, shape))
    pair = rng.normal(size=(2, shape[1])).astype(dtype)
    y, mean, variance = kernel("group_norm", [x, *pair], groups=2)(x, *pair)
    given = [*pair, y, variance, g, x, mean, None, None]
    run = kernel("group_norm_grad", given, groups=2)
    expected = run(*given)
    for cotangent in (g, turned(g)):
        found = run(*pair, y, variance, cotangent, turned(x), mean, None, None)
        assert lies_last(found[0])
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, **near(dtype))


def test_factors_of_group_norm_beyond_the_range_give_what_is_not():
    x = (1e-25 * rng.normal(size=(8, 2, 4, 8))).astype("float32")
    scale, bias = np.full(2, 1e20, "float32"), np.zeros(2, "float32")
    run = kernel("group_norm", [x, scale, bias], groups=2, epsilon=0.0)
    x *= np.float32(1e6)  # 1e19 times the scale is beyond
    expected, found = run(x, scale, bias), run(turned(x), scale, bias)
    assert np.isfinite(expected[0]).all()
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e15)


def test_squares_of_images_may_be_beyond_the_range_where_those_of_deviations_are_not():
    x = 1e17 * images((8, 4, 16, 16), "float32", 1, 50)[0]
    run = kernel("group_norm", [x, None, None], groups=2)
    expected, found = run(x, None, None)[0], run(turned(x), None, None)[0]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("mean", [0, 3])
def test_what_is_not_finite_spoils_its_group_alone(mean, value):
    (x,) = images((8, 4, 4, 8), "float32", 1, mean)
    x[3, 2, 1, 1] = value
    found, _, _ = kernel("group_norm", [x, None, None], groups=2)(turned(x), None, None)
    spoilt = np.zeros(x.shape, bool)
    spoilt[3, 2:] = True
    assert (np.isnan(found) == spoilt).all()


@pytest.mark.parametrize("dim, keep", [([2, 3], False), ([2, 3], True), ([0, 2, 3], False)])
def test_sums_over_positions(dim, keep):
    (x,) = images((8, 6, 4, 8), "float32", 1)
    run = kernel("reduce_sum", [x], dim=dim, keep_dim=keep)
    for image in (x, turned(x)):
        found = run(image)
        np.testing.assert_allclose(found, x.sum(tuple(dim), keepdims=keep), rtol=1e-5)


@pytest.mark.parametrize("type", ["elementwise_add", "elementwise_sub", "elementwise_mul"])
def test_numbers_of_channels_of_samples(type):
    (x,), y = images((8, 6, 4, 8), "float32", 1), rng.normal(size=(8, 6, 1, 1)).astype("float32")
    run = kernel(type, [x, y])
    expected, found = run(x, y), run(turned(x), y)
    assert lies_last(found) and not lies_last(expected)
    np.testing.assert_array_equal(found, expected)
    room = turned(x)
    assert run(room, y, out=room) is room
    np.testing.assert_array_equal(room, expected)


@pytest.mark.parametrize("type", ["gelu", "sigmoid", "swish", "swish_grad"])
def test_activations_keep_the_order_of_memory(type):
    arrays = images((8, 40, 15, 16), "float32", 2 if type == "swish_grad" else 1)
    run = kernel(type, arrays)
    expected = run(*arrays)
    for given in (map(turned, arrays), [turned(arrays[0]), *arrays[1:]]):
        found = run(*given)
        assert lies_last(found)
        np.testing.assert_array_equal(found, expected)
    room = np.empty_like(expected)
    assert run(*map(turned, arrays), out=room) is room
    np.testing.assert_array_equal(room, expected)
