"""Normalisations against loops over channels and samples."""

import math

import numpy as np
import pytest
from backend.agreement import needs_library

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import check_gradients, evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(loc=2, scale=3, size=[4, 3, 2, 5])
SCALE, BIAS, MEAN, VARIANCE = rng.uniform(0.5, 2, size=[4, 3])
EPSILON = float(np.float32(1e-5))
MOMENTUM = float(np.float32(0.9))


def normalised(channels_first, statistics=None, epsilon=EPSILON):
    """The batch norm of an array with channels first, with statistics of its own or given ones."""
    out = np.empty_like(channels_first)
    for c, x in enumerate(channels_first):
        mean, variance = statistics[c] if statistics else (x.mean(), x.var())
        out[c] = (x - mean) / np.sqrt(variance + epsilon) * SCALE[c] + BIAS[c]
    return out


def test_training_normalises_by_the_batch_and_moves_the_running_statistics():
    outs = f.batch_norm.all(X, SCALE, BIAS, MEAN, VARIANCE)
    by_channel = X.swapaxes(0, 1)
    np.testing.assert_allclose(outs["Y"], normalised(by_channel).swapaxes(0, 1))
    for c, x in enumerate(by_channel):
        mean = MOMENTUM * MEAN[c] + (1 - MOMENTUM) * x.mean()
        variance = MOMENTUM * VARIANCE[c] + (1 - MOMENTUM) * x.var()
        assert outs["MeanOut"][c] == pytest.approx(mean)
        assert outs["VarianceOut"][c] == pytest.approx(variance)
        assert outs["SavedMean"][c] == pytest.approx(x.mean())
        assert outs["SavedVariance"][c] == pytest.approx(1 / np.sqrt(x.var() + EPSILON))
    assert outs["ReserveSpace"] is None


@pytest.mark.parametrize("attrs", [dict(is_test=True), dict(use_global_stats=True)])
def test_running_statistics_normalise_and_stay_in_a_test(attrs):
    outs = f.batch_norm.all(X, SCALE, BIAS, MEAN, VARIANCE, **attrs)
    expected = normalised(X.swapaxes(0, 1), list(zip(MEAN, VARIANCE))).swapaxes(0, 1)
    np.testing.assert_allclose(outs["Y"], expected)
    np.testing.assert_array_equal(outs["MeanOut"], MEAN)
    np.testing.assert_array_equal(outs["VarianceOut"], VARIANCE)


def test_trainable_statistics_are_those_of_the_batch_even_in_a_test():
    train = f.batch_norm.all(X, SCALE, BIAS, MEAN, VARIANCE)
    test = f.batch_norm.all(X, SCALE, BIAS, MEAN, VARIANCE, is_test=True, trainable_statistics=True)
    np.testing.assert_array_equal(test["Y"], train["Y"])


def test_channels_may_come_last():
    last = np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    y = f.batch_norm.all(last, SCALE, BIAS, MEAN, VARIANCE, data_layout="NHWC")["Y"]
    expected = normalised(X.swapaxes(0, 1)).swapaxes(0, 1)
    np.testing.assert_allclose(y, expected.transpose(0, 2, 3, 1))


def test_momentum_may_be_a_tensor():
    outs = f.batch_norm.all(X, SCALE, BIAS, MEAN, VARIANCE, np.array([0.25]))
    np.testing.assert_allclose(outs["MeanOut"], 0.25 * MEAN + 0.75 * X.mean((0, 2, 3)))


def test_gradient_of_a_batch_has_no_part_along_a_constant_or_the_input():
    batch_norm = lambda f, x: f.batch_norm.all(x, SCALE, BIAS, MEAN, VARIANCE, epsilon=0.0)["Y"]
    (gradient,) = pull_back(f, batch_norm, [X], [rng.normal(size=X.shape)])
    np.testing.assert_allclose(gradient.sum((0, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose((gradient * X).sum((0, 2, 3)), 0, atol=1e-12)


def test_batch_norm_has_a_third_order():
    small = X[:2, :, :1, :2]
    batch_norm = lambda f, x, scale: f.batch_norm.all(x, scale, BIAS, MEAN, VARIANCE)["Y"]
    check_gradients(batch_norm, [small, SCALE], order=3, tolerance=1e-5)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_layer_norm_normalises_each_sample(axis):
    size = int(np.prod(X.shape[axis:]))
    scale, bias = rng.normal(size=[2, size])
    y, mean, variance = f.layer_norm.all(X, scale, bias, begin_norm_axis=axis).values()
    rows = X.reshape(-1, size)
    assert mean.shape == variance.shape == (len(rows),)
    for i, x in enumerate(rows):
        expected = (x - x.mean()) / np.sqrt(x.var() + EPSILON) * scale + bias
        np.testing.assert_allclose(y.reshape(-1, size)[i], expected)
        assert (mean[i], variance[i]) == pytest.approx((x.mean(), x.var()))


def test_layer_norm_needs_neither_scale_nor_bias():
    plain = f.layer_norm(X)
    np.testing.assert_allclose(plain.mean((1, 2, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(plain.var((1, 2, 3)), 1, rtol=1e-4)
    scale, bias = np.arange(1.0, 31), np.arange(30.0)
    flat = plain.reshape(4, 30)
    np.testing.assert_allclose(f.layer_norm(X, scale).reshape(4, 30), flat * scale)
    np.testing.assert_allclose(f.layer_norm(X, None, bias).reshape(4, 30), flat + bias)


def batch_norm_specs(shape=(-1, 3, 8, 8), dtype="float32", scale=(3,), **attrs):
    one = ((3,), "float32")
    inputs = dict(Scale=(scale, "float32"), Bias=one, Mean=one, Variance=one)
    return infer("batch_norm", attrs, X=(shape, dtype), **inputs)


def test_unknown_sizes_stay_unknown():
    specs = batch_norm_specs()
    assert specs["Y"].shape == (-1, 3, 8, 8)
    assert specs["SavedMean"].shape == (3,)
    specs = infer("layer_norm", dict(begin_norm_axis=2), X=((-1, 3, 4), "float32"))
    assert (specs["Y"].shape, specs["Mean"].shape) == ((-1, 3, 4), (-1,))


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ShapeError, "Scale of shape [4], a number for each channel", dict(shape=(-1, 4, 2, 2))),
        (ShapeError, "a number for each channel of [-1, 3, 8, 8], got [3, 1]", dict(scale=(3, 1))),
        (ShapeError, "expected X to have 2 or 3 or 4 or 5 dimensions", dict(shape=(3,))),
        (DTypeError, "expected one element type, got X float64, Scale", dict(dtype="float64")),
        (DTypeError, "expected X to be float16, float32 or float64", dict(dtype="int64")),
        (AttributeValueError, "NCHW or NHWC, got 'HWC'", dict(data_layout="HWC")),
    ],
)
def test_batch_norm_refuses_what_does_not_fit(error, message, given):
    with pytest.raises(error) as raised:
        batch_norm_specs(**given)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "error, message, scale, axis",
    [
        (ShapeError, "Scale of shape [12], a number for each element of a sample", (4,), 1),
        (AttributeValueError, "expected begin_norm_axis in [1, 3)", (4,), 3),
    ],
)
def test_layer_norm_refuses_what_does_not_fit(error, message, scale, axis):
    with pytest.raises(error) as raised:
        infer(
            "layer_norm",
            dict(begin_norm_axis=axis),
            X=((-1, 3, 4), "float32"),
            Scale=(scale, "float32"),
        )
    assert message in str(raised.value)


def test_instance_norm_normalises_each_image():
    outs = f.instance_norm.all(X, SCALE, BIAS)
    for n, c in np.ndindex(4, 3):
        image, k = X[n, c], n * 3 + c
        expected = (image - image.mean()) / np.sqrt(image.var() + EPSILON) * SCALE[c] + BIAS[c]
        np.testing.assert_allclose(outs["Y"][n, c], expected)
        assert outs["SavedMean"][k] == pytest.approx(image.mean())
        assert outs["SavedVariance"][k] == pytest.approx(1 / np.sqrt(image.var() + EPSILON))


@pytest.mark.parametrize("count, groups", [(4, 1), (4, 2), (4, 4), (5, 2), (5, 3), (5, 4)], ids=str)
def test_group_norm_normalises_each_group_of_channels(count, groups):
    x, scale, bias = rng.normal(size=[2, count, 3, 5]), *rng.normal(size=[2, count])
    y, mean, variance = f.group_norm.all(x, scale, bias, groups=groups).values()
    size = math.ceil(count / groups)
    assert mean.shape == variance.shape == (2, groups)
    for n, g in np.ndindex(2, groups):
        channels = slice(g * size, (g + 1) * size)
        part = x[n, channels]
        if not part.size:
            assert mean[n, g] == variance[n, g] == 0
            continue
        assert (mean[n, g], variance[n, g]) == pytest.approx((part.mean(), part.var()))
        normal = (part - part.mean()) / np.sqrt(part.var() + EPSILON)
        expected = normal * scale[channels, None, None] + bias[channels, None, None]
        np.testing.assert_allclose(y[n, channels], expected)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    found = f.group_norm(last, scale, bias, groups=groups, data_layout="NHWC")
    np.testing.assert_allclose(found, y.transpose(0, 2, 3, 1))


def test_group_norm_has_a_third_order():
    x, scale = rng.normal(size=[1, 4, 1, 2]), rng.normal(size=4)
    group_norm = lambda f, x, scale: f.group_norm.all(x, scale, groups=2)["Y"]
    check_gradients(group_norm, [x, scale], order=3, tolerance=1e-5)


@pytest.mark.parametrize(
    "error, message, attrs, scale",
    [
        (AttributeValueError, "1 to 4 groups", dict(groups=5), (4,)),
        (AttributeValueError, "NCHW or NHWC, got 'HWC'", dict(groups=2, data_layout="HWC"), (4,)),
        (ShapeError, "Scale of shape [4], a number for each channel", dict(groups=2), (3,)),
    ],
)
def test_group_norm_refuses_what_does_not_fit(error, message, attrs, scale):
    inputs = dict(X=((2, 4, 3, 5), "float32"), Scale=(scale, "float32"))
    with pytest.raises(error) as raised:
        infer("group_norm", attrs, **inputs)
    assert message in str(raised.value)


@pytest.mark.parametrize("kernels", ["numpy", pytest.param("onednn", marks=needs_library)])
@pytest.mark.parametrize(
    "shape, layout", [([1, 3], "NCHW"), ([1, 3, 1, 1], "NCHW"), ([1, 1, 3], "NHWC")]
)
def test_a_batch_of_one_element_a_channel_goes_through_as_it_is(
    monkeypatch, shape, layout, kernels
):
    monkeypatch.setenv("FLUIDLITE_KERNELS", kernels)
    x = fluid.data("x", shape, "float32")
    x.stop_gradient = False
    y = fluid.layers.batch_norm(x, data_layout=layout, moving_mean_name="m")
    scale, bias = fluid.default_main_program().all_parameters()[:2]
    slopes = fluid.gradients(fluid.layers.reduce_sum(y * y), [x, scale, bias])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    given = rng.normal(size=shape).astype("float32")
    for _ in range(4):
        y_value, mean, *found = exe.run(feed=dict(x=given), fetch_list=[y, "m", *slopes])
        np.testing.assert_array_equal(y_value, given)
        np.testing.assert_array_equal(mean, np.zeros(3))
        for value, expected in zip(found, (2 * given, np.zeros(3), np.zeros(3)), strict=True):
            np.testing.assert_array_equal(value, expected)
