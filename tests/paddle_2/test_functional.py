"""Functions of paddle.nn.functional: options, and what they refuse, as paddle 2.6.2 does."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import FluidWarning

F, nn = paddle.nn.functional, paddle.nn
IMAGE = np.arange(24.0).reshape(1, 2, 3, 4)


def test_padding_may_go_on_at_the_other_end():
    x = paddle.to_tensor(IMAGE)
    found = F.pad(x, [1, 2, 0, 1], "circular").numpy()
    np.testing.assert_array_equal(found, np.pad(IMAGE, [(0, 0)] * 2 + [(0, 1), (1, 2)], "wrap"))
    last = paddle.transpose(x, [0, 2, 3, 1])
    again = F.pad(last, [1, 2, 0, 1], "circular", data_format="NHWC").numpy()
    np.testing.assert_array_equal(again.transpose(0, 3, 1, 2), found)
    conv = nn.Conv2D(2, 1, 3, padding=1, padding_mode="circular", bias_attr=False)
    wrapped = paddle.to_tensor(np.pad(IMAGE, [(0, 0)] * 2 + [(1, 1)] * 2, "wrap"), "float32")
    wanted = F.conv2d(wrapped, conv.weight).numpy()
    np.testing.assert_allclose(conv(x.astype("float32")).numpy(), wanted, rtol=1e-5)
    with pytest.raises(AssertionError, match="constant, reflect, replicate, circular"):
        F.pad(x, [1, 1, 1, 1], "foo")


def test_dimensions_may_be_an_array():
    x = paddle.arange(6.0).reshape([2, 3])
    assert x.sum(axis=np.array([1])).tolist() == [3.0, 12.0]
    assert float(paddle.mean(x, axis=np.array([0, 1]))) == 2.5
    assert paddle.max(x, np.array([0]), keepdim=True).tolist() == [[3.0, 4.0, 5.0]]


def test_sizes_may_be_fractions_and_factors_tensors():
    x = paddle.arange(16.0).reshape([1, 1, 4, 4])
    whole = F.interpolate(x, [8, 6], mode="bilinear").numpy()
    for size in ([8.0, 6.7], (8, 6.2), paddle.to_tensor([8.2, 6.0]), [paddle.to_tensor(8.9), 6]):
        assert (F.interpolate(x, size, mode="bilinear").numpy() == whole).all()
    for factor in (paddle.to_tensor([2.0, 1.5]), [paddle.to_tensor(2.0), 1.5]):
        assert (F.interpolate(x, scale_factor=factor, mode="bilinear").numpy() == whole).all()
    assert F.interpolate(x, scale_factor=paddle.to_tensor(2)).shape == [1, 1, 8, 8]
    assert paddle.nn.Upsample([8.0, 8.0])(x).shape == [1, 1, 8, 8]


def test_sizes_change_by_area_along_lines_and_in_volumes():
    x = paddle.to_tensor(IMAGE)
    area = F.interpolate(x, [3, 2], mode="area").numpy()
    np.testing.assert_allclose(area, IMAGE.reshape(1, 2, 3, 2, 2).mean(-1))
    line = paddle.to_tensor([[[0.0, 1.0, 2.0, 3.0]]])
    found = F.interpolate(line, [7], mode="linear", align_corners=True, data_format="NCW")
    np.testing.assert_allclose(found.numpy()[0, 0], np.arange(7) / 2, rtol=1e-6)
    volume = paddle.to_tensor(IMAGE.reshape(1, 1, 2, 3, 4))
    found = F.interpolate(volume, [4, 3, 2], data_format="NCDHW").numpy()
    rows = IMAGE.reshape(2, 3, 4)[np.ix_([0, 0, 1, 1], [0, 1, 2], [0, 2])]
    np.testing.assert_array_equal(found[0, 0], rows)
    with pytest.raises(ValueError, match="align_corners=False"):
        F.interpolate(x, [3, 4], align_corners=True)
    with pytest.raises(ValueError, match="2 sizes"):
        F.interpolate(x, [3], mode="bilinear")


def test_places_are_of_windows_that_lie_within_the_elements():
    x = paddle.to_tensor(np.random.default_rng(0).random([1, 2, 5, 5], "float32"))
    plain, places = F.max_pool2d(x, 2, return_mask=True)
    assert plain.shape == [1, 2, 2, 2]
    valid = F.max_pool2d(x, 2, padding="VALID", return_mask=True)[1]
    np.testing.assert_array_equal(valid.numpy(), places.numpy())
    for option in ({"ceil_mode": True}, {"padding": "SAME"}):
        with pytest.warns(FluidWarning, match="leaves out windows"):
            found, where = F.max_pool2d(x, 2, return_mask=True, **option)
        np.testing.assert_array_equal(found.numpy(), plain.numpy())
        np.testing.assert_array_equal(where.numpy(), places.numpy())
    with pytest.raises(ValueError, match="channels first"):
        F.max_pool2d(x, 2, return_mask=True, data_format="NHWC")


def test_parts_may_be_as_many_as_elements():
    x = paddle.to_tensor(IMAGE)
    np.testing.assert_allclose(
        F.adaptive_avg_pool2d(x, [None, 2]).numpy(), F.adaptive_avg_pool2d(x, [3, 2]).numpy()
    )
    pooled, places = nn.AdaptiveMaxPool2D((1, None), return_mask=True)(x)
    np.testing.assert_array_equal(pooled.numpy()[:, :, 0], IMAGE.max(2))
    assert places.shape == [1, 2, 1, 4]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: F.selu(x, 0.5), "scale above 1"),
        (lambda x: F.softshrink(x, -1.0), "threshold of at least 0"),
        (lambda x: F.maxout(x, 2, axis=0), "axis 1, 3 or -1"),
        (lambda x: F.embedding(x.astype("int64"), x[0, 0], padding_idx=9), r"padding_idx in \[-3"),
        (lambda x: F.dropout(x, axis=4), "axis below 4"),
        (lambda x: F.dropout2d(x[0]), "4 dimensions"),
        (lambda x: F.dropout3d(x), "5 dimensions"),
        (lambda x: F.label_smooth(x, epsilon=1.5), r"epsilon in \[0, 1\]"),
        (lambda x: F.adaptive_avg_pool2d(x, 2, "foo"), "NCHW or NHWC"),
        (lambda x: F.local_response_norm(x[0, 0], 3), "at least 3 dimensions"),
        (lambda x: F.triplet_margin_loss(x, x, x, -1.0), "margin above 0"),
        (lambda x: F.gaussian_nll_loss(x, x, -x), "variance of at least 0"),
        (lambda x: F.max_unpool2d(x, x.astype("int32"), 2, output_size=[20, 20]), "between 4 and"),
        (lambda x: nn.GroupNorm(3, 2)(x.astype("float32")), "num_groups to divide"),
        (lambda x: nn.BatchNorm1D(2)(x), "2 or 3 dimensions"),
        (lambda x: nn.BatchNorm2D(3)(x[0, 0]), "4 dimensions"),
        (lambda x: nn.L1Loss("foo"), "reduction to be"),
        (lambda x: nn.CosineEmbeddingLoss(2.0), r"margin in \[-1"),
        (lambda x: nn.PoissonNLLLoss(epsilon=-1), "epsilon in"),
        (lambda x: nn.PixelShuffle("a"), "upscale_factor to be an integer"),
        (lambda x: nn.ChannelShuffle(2, "foo"), "data_format"),
    ],
)
def test_what_paddle_refuses_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(paddle.to_tensor(IMAGE + 1))


def test_diagonals_are_embedded_by_a_function_that_no_list_names():
    found = F.diag_embed(paddle.to_tensor([1.0, 2.0]), offset=1)
    assert found.tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    assert "diag_embed" not in F.__all__


def test_distances_count_differences_for_a_power_of_zero():
    x, y = paddle.to_tensor([[1.0, 2.0, 3.0]]), paddle.to_tensor([[1.0, 5.0, 3.0]])
    assert F.pairwise_distance(x, y, 0.0, epsilon=0.0).tolist() == [1.0]


def test_no_gradient_flows_to_a_variance_or_a_prior():
    x, other = (paddle.to_tensor([[0.3, 0.7]], stop_gradient=False) for _ in range(2))
    (F.gaussian_nll_loss(x, x * 2, other) + F.label_smooth(x, other).sum()).backward()
    assert x.grad is not None and other.grad is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_and_means_of_nothing_are_quiet(dtype):
    def gradient(function, shape):
        x = paddle.zeros(shape, dtype)
        x.stop_gradient = False
        function(x).sum().backward()
        return x.grad.shape

    assert gradient(lambda x: F.layer_norm(x, [0]), [2, 0]) == [2, 0]
    assert gradient(lambda x: F.layer_norm(x, 4), [0, 4]) == [0, 4]
    for shape in ([2, 3, 0], [0, 3, 2]):
        assert gradient(F.instance_norm, shape) == shape
        if dtype == "float32":
            assert gradient(nn.GroupNorm(3, 3), shape) == shape
            assert gradient(nn.BatchNorm1D(3), shape) == shape
    nothing = paddle.zeros([2, 0], dtype)
    for name in ("mean", "std", "var", "median", "nanmean", "nanmedian"):
        assert np.isnan(float(getattr(nothing, name)())), name
        assert np.isnan(getattr(paddle, name)(nothing, 1).numpy()).tolist() == [True] * 2, name
        assert getattr(paddle, name)(nothing, 0).shape == [0], name
        assert gradient(getattr(paddle, name), [2, 0]) == [2, 0], name


def test_ties_and_single_elements_are_those_of_paddle_26():
    x, y = (paddle.to_tensor(v, stop_gradient=False) for v in ([1.0, 2.0, 4.0], [1.0, 3.0, 2.0]))
    for name, of_x in {"maximum": [0, 0, 1], "minimum": [0, 1, 0], "fmax": [1, 0, 1]}.items():
        x.clear_grad()
        y.clear_grad()
        getattr(paddle, name)(x, y).sum().backward()
        assert x.grad.tolist() == of_x
        assert (x.grad + y.grad).tolist() == [1, 1, 1]
    one = paddle.to_tensor([2.5], stop_gradient=False)
    paddle.var(one).backward()
    assert (paddle.var(one).item(), paddle.std(one, 0).item(), one.grad.tolist()) == (0, 0, [0])
    assert np.isnan(paddle.var(paddle.to_tensor([np.inf])).item())


def test_means_of_integers_are_integers_with_a_warning():
    for dtype in ("int32", "int64"):
        x = paddle.to_tensor([[-7, 2, 2], [1, 2, 3]], dtype)
        with pytest.warns(FluidWarning, match=f"mean: that of {dtype} is {dtype}, without a frac"):
            found = paddle.mean(x, 1)
        assert (found.tolist(), found.dtype) == ([-1, 2], x.dtype)
    with pytest.warns(FluidWarning, match="mean: that of bool is bool"):
        assert paddle.to_tensor([False, True]).mean().item() is True


@pytest.mark.parametrize(
    "function",
    [
        F.instance_norm,
        lambda x: F.pad(x, [1, 2, 0, 1], "circular"),
        lambda x: F.pad(paddle.unsqueeze(x, 2), [1, 2, 0, 1, 1, 0], "circular"),
        lambda x: F.pad(paddle.unsqueeze(x, 2), [1, 2, 0, 1, 1, 0], value=3.0),
        lambda x: paddle.quantile(x, [0.3, 0.9]),
        lambda x: paddle.quantile(x, 0.3, 1, True),
        lambda x: paddle.nanquantile(x, 0.3, 1, True),
        lambda x: paddle.squeeze(paddle.unsqueeze(x, 0), [0, 1]),
        lambda x: F.multi_margin_loss(x[0, 0, :2], paddle.to_tensor([1, 0])),
    ],
)
def test_images_of_unknown_sizes_give_what_those_of_known_sizes_do(function):
    images = np.random.RandomState(0).rand(2, 3, 4, 5).astype("float32")
    expected = function(paddle.to_tensor(images)).numpy()
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        out = function(paddle.static.data("x", [None] * 4))
        (found,) = paddle.static.Executor().run(feed={"x": images}, fetch_list=[out])
    np.testing.assert_allclose(found, expected, 1e-6)
