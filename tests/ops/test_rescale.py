"""Rescaling against loops and worked numbers."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(loc=1, scale=2, size=[2, 3, 4, 5])


def test_affine_channel_scales_and_shifts_each_channel():
    scale, bias = rng.normal(size=[2, 3])
    out = f.affine_channel(X, scale, bias)
    for c in range(3):
        np.testing.assert_allclose(out[:, c], X[:, c] * scale[c] + bias[c])
    last = f.affine_channel(X.transpose(0, 2, 3, 1), scale, bias, data_layout="NHWC")
    np.testing.assert_allclose(last, out.transpose(0, 2, 3, 1))


def test_data_norm_normalises_by_sums():
    size, total, squares = np.full(4, 5.0), np.arange(4.0), np.array([3.0, 4, 5, 6])
    x = rng.normal(size=[3, 4])
    outs = f.data_norm.all(X=x, BatchSize=size, BatchSum=total, BatchSquareSum=squares)
    for c in range(4):
        mean, scale = total[c] / 5, np.sqrt(5 / squares[c])
        assert (outs["Means"][c], outs["Scales"][c]) == pytest.approx((mean, scale))
        np.testing.assert_allclose(outs["Y"][:, c], (x[:, c] - mean) * scale)
    learnt = dict(scale_w=rng.normal(size=4), bias=rng.normal(size=4))
    sums = dict(BatchSize=size, BatchSum=total, BatchSquareSum=squares)
    more = f.data_norm(X=x, **sums, **learnt, enable_scale_and_shift=True)
    np.testing.assert_allclose(more, outs["Y"] * learnt["scale_w"] + learnt["bias"])


def test_data_norm_leaves_parts_that_begin_with_zero():
    x = np.array([[0.0, 2, 3, 4], [1, 2, 0, 4]])
    sums = dict(BatchSize=np.ones(4), BatchSum=np.ones(4), BatchSquareSum=np.ones(4))
    norm = lambda f, x: f.data_norm(X=x, **sums, slot_dim=2)
    np.testing.assert_array_equal(norm(f, x), [[0, 0, 2, 3], [0, 1, 0, 0]])
    (gradient,) = pull_back(f, norm, [x], [np.ones([2, 4])])
    np.testing.assert_array_equal(gradient, [[0, 0, 1, 1], [1, 1, 0, 0]])


def test_activated_batch_norm_is_a_batch_norm_and_an_activation():
    statistics = rng.uniform(0.5, 2, size=[4, 3])
    outs = f.batch_norm.all(X, *statistics)
    for activation, expected in [
        ("identity", outs["Y"]),
        ("leaky_relu", np.where(outs["Y"] > 0, outs["Y"], 0.25 * outs["Y"])),
        ("elu", np.where(outs["Y"] > 0, outs["Y"], 0.25 * np.expm1(outs["Y"]))),
    ]:
        found = f.inplace_abn.all(X, *statistics, activation=activation, alpha=0.25)
        np.testing.assert_allclose(found["Y"], expected, 1e-6)
        np.testing.assert_array_equal(found["MeanOut"], outs["MeanOut"])


@pytest.mark.parametrize("n", [1, 3, 9])
def test_lrn_divides_by_neighbouring_channels(n):
    x = rng.normal(size=[2, 4, 3, 2])
    outs = f.lrn.all(x, n=n, k=1.5, alpha=0.25, beta=0.75)
    for c in range(4):
        near = x[:, max(c - n // 2, 0) : c + n // 2 + 1]
        middle = 1.5 + 0.25 * (near**2).sum(1)
        np.testing.assert_allclose(outs["MidOut"][:, c], middle)
        np.testing.assert_allclose(outs["Out"][:, c], x[:, c] / middle**0.75)
    last = f.lrn(x.transpose(0, 2, 3, 1), n=n, k=1.5, alpha=0.25, data_format="NHWC")
    np.testing.assert_allclose(last, outs["Out"].transpose(0, 2, 3, 1))


@pytest.mark.parametrize("dim", [0, 1])
def test_spectral_norm_makes_the_largest_singular_value_one(dim):
    weight = rng.normal(size=[4, 3, 2])
    rows = weight.shape[dim]
    u, v = rng.normal(size=rows), rng.normal(size=24 // rows)
    out = f.spectral_norm(weight, u, v, dim=dim, power_iters=100)
    matrix = np.moveaxis(out, dim, 0).reshape(rows, -1)
    assert np.linalg.svd(matrix)[1][0] == pytest.approx(1)
    plain = f.spectral_norm(weight, u, v, dim=dim, power_iters=0)
    sigma = u @ np.moveaxis(weight, dim, 0).reshape(rows, -1) @ v
    np.testing.assert_allclose(plain, weight / sigma)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (
            ShapeError,
            "Scale of shape [3], a number for each channel",
            "affine_channel",
            dict(),
            dict(X=(2, 3, 4), Scale=(4,), Bias=(3,)),
        ),
        (
            AttributeValueError,
            "data_layout NCHW or NHWC, got 'CHW'",
            "affine_channel",
            dict(data_layout="CHW"),
            dict(X=(2, 3, 4), Scale=(3,), Bias=(3,)),
        ),
        (AttributeValueError, "n odd", "lrn", dict(n=4), dict(X=(2, 3, 4, 5))),
        (
            ShapeError,
            "expected scale_w and bias",
            "data_norm",
            dict(enable_scale_and_shift=True),
            dict(X=(2, 3), BatchSize=(3,), BatchSum=(3,), BatchSquareSum=(3,)),
        ),
        (
            ShapeError,
            "rows of parts of slot_dim=2 numbers",
            "data_norm",
            dict(slot_dim=2),
            dict(X=(2, 3), BatchSize=(3,), BatchSum=(3,), BatchSquareSum=(3,)),
        ),
        (
            ShapeError,
            "expected U of shape [4] for dim=0 and Weight",
            "spectral_norm",
            dict(),
            dict(Weight=(4, 3), U=(3,), V=(3,)),
        ),
        (
            AttributeValueError,
            "expected dim in [0, 2), got 2",
            "spectral_norm",
            dict(dim=2),
            dict(Weight=(4, 3), U=(4,), V=(3,)),
        ),
        (
            AttributeValueError,
            "activation leaky_relu, elu or identity, got 'relu'",
            "inplace_abn",
            dict(activation="relu"),
            dict(X=(2, 3), Scale=(3,), Bias=(3,), Mean=(3,), Variance=(3,)),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error) as raised:
        infer(type, attrs, **{slot: (shape, "float32") for slot, shape in inputs.items()})
    assert message in str(raised.value)
