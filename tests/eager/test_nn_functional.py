"""Functions of neural networks against NumPy, and their gradients against finite differences."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ShapeError

F = fluid.nn.functional
rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, [3, 4])


def each(function):
    return lambda x: np.vectorize(function, otypes=[float])(x)


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


ACTIVATIONS = {
    "relu": each(lambda v: max(v, 0)),
    "relu6": each(lambda v: min(max(v, 0), 6)),
    "sigmoid": each(sigmoid),
    "log_sigmoid": each(lambda v: math.log(sigmoid(v))),
    "tanh": np.tanh,
    "tanhshrink": lambda x: x - np.tanh(x),
    "softsign": lambda x: x / (1 + abs(x)),
    "silu": each(lambda v: v * sigmoid(v)),
    "swish": each(lambda v: v * sigmoid(v)),
    "mish": each(lambda v: v * math.tanh(math.log1p(math.exp(v)))),
    "hardswish": each(lambda v: v * min(max(v + 3, 0), 6) / 6),
    "leaky_relu": each(lambda v: v if v > 0 else 0.01 * v),
    "elu": each(lambda v: v if v > 0 else math.expm1(v)),
    "celu": each(lambda v: v if v > 0 else math.expm1(v)),
    "gelu": each(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2)))),
    "hardsigmoid": each(lambda v: min(max(v * 0.1666667 + 0.5, 0), 1)),
    "hardtanh": each(lambda v: min(max(v, -1), 1)),
    "hardshrink": each(lambda v: v if abs(v) > 0.5 else 0),
    "softshrink": each(lambda v: v - min(max(v, -0.5), 0.5)),
    "thresholded_relu": each(lambda v: v if v > 1 else 0),
    "softplus": each(lambda v: math.log1p(math.exp(v))),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "log_softmax": lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
    "glu": lambda x: x[:, :2] * each(sigmoid)(x[:, 2:]),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_and_its_gradient(name):
    function, expected = getattr(F, name), ACTIVATIONS[name]
    x = fluid.to_tensor(X, stop_gradient=False)
    y = function(x)
    np.testing.assert_allclose(y, expected(X), 1e-6, 1e-7)
    weights, direction = rng.normal(size=y.shape), rng.normal(size=X.shape)
    y.backward(fluid.to_tensor(weights))
    h = 1e-6
    slope = np.sum((expected(X + h * direction) - expected(X - h * direction)) * weights) / (2 * h)
    np.testing.assert_allclose(np.sum(x.grad.numpy() * direction), slope, 1e-5, 1e-7)


def test_linear():
    x, w, b = rng.normal(size=[2, 3]), rng.normal(size=[3, 4]), rng.normal(size=[4])
    found = F.linear(*map(fluid.to_tensor, (x, w, b)))
    np.testing.assert_allclose(found, x @ w + b)


def test_embedding_and_its_padding():
    w = fluid.to_tensor(rng.normal(size=[4, 2]), stop_gradient=False)
    rows = F.embedding(fluid.to_tensor([[1, 3], [0, 1]]), w, padding_idx=-1)
    expected = w.numpy()[[[1, 3], [0, 1]]]
    expected[0, 1] = 0
    np.testing.assert_array_equal(rows, expected)
    fluid.sum(rows).backward()
    np.testing.assert_array_equal(w.grad[:, 0], [1, 2, 0, 0])


def test_dropout():
    fluid.seed(1)
    x = fluid.ones([1000])
    kept = F.dropout(x, 0.25)
    assert set(np.unique(kept.numpy()).round(4)) == {0, round(np.float32(1 / 0.75), 4)}
    assert 0.7 < (kept.numpy() > 0).mean() < 0.8
    assert F.dropout(x, 0.25, training=False).tolist() == x.tolist()
    np.testing.assert_allclose(F.dropout(x, 0.25, training=False, mode="downscale_in_infer"), 0.75)
    rows = F.dropout(fluid.ones([50, 3]), 0.5, axis=0).numpy()
    assert (rows == rows[:, :1]).all()
    with pytest.raises(ArgumentError, match=r"expected p in \[0, 1\]"):
        F.dropout(x, 2.0)
    with pytest.raises(ArgumentError, match="expected mode"):
        F.dropout(x, 0.5, mode="upscale")


def convolved(x, w, stride, pad):
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    k = w.shape[2]
    size = (x.shape[2] - k) // stride + 1
    out = np.zeros([len(x), len(w), size, size])
    for n, f, i, j in np.ndindex(*out.shape):
        part = x[n, :, i * stride : i * stride + k, j * stride : j * stride + k]
        out[n, f, i, j] = np.sum(part * w[f])
    return out


@pytest.mark.parametrize("stride, pad", [(1, 0), (2, 1)])
def test_convolution(stride, pad):
    x, w, b = rng.normal(size=[2, 3, 5, 5]), rng.normal(size=[4, 3, 3, 3]), rng.normal(size=4)
    found = F.conv2d(*map(fluid.to_tensor, (x, w, b)), stride=stride, padding=pad)
    expected = convolved(x, w, stride, pad) + b[:, None, None]
    np.testing.assert_allclose(found, expected, 1e-10)
    last = F.conv2d(
        *map(fluid.to_tensor, (x.transpose(0, 2, 3, 1), w, b)),
        stride=stride,
        padding=pad,
        data_format="NHWC",
    )
    np.testing.assert_allclose(last.numpy().transpose(0, 3, 1, 2), expected, 1e-10)


def test_transposed_convolution_is_the_adjoint():
    x = fluid.to_tensor(rng.normal(size=[2, 3, 5, 5]), stop_gradient=False)
    w = fluid.to_tensor(rng.normal(size=[4, 3, 2, 2]))
    y = F.conv2d(x, w, stride=2)
    g = fluid.to_tensor(rng.normal(size=y.shape))
    (expected,) = fluid.grad(y, x, g)
    found = F.conv2d_transpose(g, w, stride=2, output_padding=1)
    np.testing.assert_allclose(found, expected, 1e-10)
    assert F.conv2d_transpose(g, w, stride=2).shape == [2, 3, 4, 4]
    assert F.conv2d_transpose(g, w, stride=2, output_size=[5, 5]).shape == [2, 3, 5, 5]


def test_pooling():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    t = fluid.to_tensor(x)
    assert F.max_pool2d(t, 2).tolist() == [[[[5, 7], [13, 15]]]]
    assert F.avg_pool2d(t, 2, stride=2).tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    assert F.adaptive_avg_pool2d(t, 1).tolist() == [[[[7.5]]]]
    assert F.adaptive_max_pool2d(t, [1, 2]).tolist() == [[[[13, 15]]]]
    with pytest.warns(UserWarning, match="ceil_mode=True"):
        values, places = F.max_pool2d(t, 3, 2, ceil_mode=True, return_mask=True)
    assert (values.tolist(), places.tolist()) == ([[[[10]]]], [[[[10]]]])
    with pytest.raises(ArgumentError, match="return_mask"):
        F.max_pool2d(t, 2, data_format="NHWC", return_mask=True)


def test_padding():
    t = fluid.to_tensor([[1.0, 2.0]])
    assert F.pad(t, [0, 1, 1, 0], value=9.0).tolist() == [[9, 1, 2], [9, 9, 9]]
    image = fluid.reshape(fluid.arange(4.0), [1, 1, 2, 2])
    assert F.pad(image, [1, 0, 0, 1], mode="replicate").tolist() == [
        [[[0, 0, 1], [2, 2, 3], [2, 2, 3]]]
    ]
    with pytest.raises(ArgumentError, match="expected 4 numbers"):
        F.pad(t, [1])


def test_normalisations():
    x = rng.normal(size=[4, 6, 3, 3])
    t = fluid.to_tensor(x)
    w, b = rng.normal(size=6), rng.normal(size=6)
    wt, bt = fluid.to_tensor(w), fluid.to_tensor(b)
    along = lambda v: v[:, None, None]

    def standard(v, axes):
        return (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + 1e-5)

    mean, var = fluid.zeros([6], "float64"), fluid.ones([6], "float64")
    found = F.batch_norm(t, mean, var, wt, bt, training=True)
    np.testing.assert_allclose(found, standard(x, (0, 2, 3)) * along(w) + along(b), 1e-5)
    np.testing.assert_allclose(mean, 0.1 * x.mean((0, 2, 3)), 1e-5)
    tested = F.batch_norm(t, mean, var, wt, bt)
    expected = (x - along(mean.numpy())) / np.sqrt(along(var.numpy()) + 1e-5)
    np.testing.assert_allclose(tested, expected * along(w) + along(b), 1e-5)
    found = F.instance_norm(t, weight=wt, bias=bt)
    np.testing.assert_allclose(found, standard(x, (2, 3)) * along(w) + along(b), 1e-5)
    found = F.group_norm(t, 3, weight=wt, bias=bt)
    groups = standard(x.reshape(4, 3, -1), 2).reshape(x.shape)
    np.testing.assert_allclose(found, groups * along(w) + along(b), 1e-5)
    np.testing.assert_allclose(F.layer_norm(t, [3, 3]), standard(x, (2, 3)), 1e-5)
    with pytest.raises(ShapeError, match=r"expected x to end in the sizes \[4\]"):
        F.layer_norm(t, 4)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    np.testing.assert_allclose(F.normalize(t), x / lengths)
    other = fluid.to_tensor(x[::-1].copy())
    cosine = (x * x[::-1]).sum(1) / (lengths * lengths[::-1])[:, 0]
    np.testing.assert_allclose(F.cosine_similarity(t, other), cosine)


LOGITS = rng.normal(size=[5, 3])
LABEL = np.array([0, 2, 1, -100, 2])
P = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
LOSSES = np.array([0.0 if c < 0 else -math.log(P[i, c]) for i, c in enumerate(LABEL)])


def test_cross_entropy_with_labels():
    x, label = fluid.to_tensor(LOGITS), fluid.to_tensor(LABEL)
    np.testing.assert_allclose(F.cross_entropy(x, label), LOSSES.sum() / 4)
    np.testing.assert_allclose(F.cross_entropy(x, label, reduction="none"), LOSSES)
    np.testing.assert_allclose(F.cross_entropy(x, label, reduction="sum"), LOSSES.sum())
    column = fluid.to_tensor(LABEL[:, None])
    np.testing.assert_allclose(F.cross_entropy(x, column, reduction="none"), LOSSES[:, None])
    log_p = fluid.log(fluid.to_tensor(P))
    np.testing.assert_allclose(F.nll_loss(log_p, label), LOSSES.sum() / 4)
    found = F.cross_entropy(fluid.to_tensor(P), label, use_softmax=False)
    np.testing.assert_allclose(found, LOSSES.sum() / 4)
    with pytest.raises(ArgumentError, match="expected reduction"):
        F.cross_entropy(x, label, reduction="all")


def test_cross_entropy_with_weights():
    w = np.array([1.0, 2.0, 3.0])
    x, label, weight = map(fluid.to_tensor, (LOGITS, LABEL, w))
    factors = np.array([0 if c < 0 else w[c] for c in LABEL])
    expected = (LOSSES * factors).sum() / factors.sum()
    np.testing.assert_allclose(F.cross_entropy(x, label, weight=weight), expected)
    log_p = fluid.log(fluid.to_tensor(P))
    np.testing.assert_allclose(F.nll_loss(log_p, label, weight=weight), expected)


def test_cross_entropy_with_probabilities():
    soft = rng.dirichlet([1, 1, 1], 5)
    expected = -(soft * np.log(P)).sum(1)
    x, label = fluid.to_tensor(LOGITS), fluid.to_tensor(soft)
    np.testing.assert_allclose(F.cross_entropy(x, label, soft_label=True), expected.mean())
    smoothed = 0.9 * np.eye(3)[[0, 1, 2, 0, 1]] + 0.1 / 3
    hard = fluid.to_tensor([0, 1, 2, 0, 1])
    found = F.cross_entropy(x, hard, label_smoothing=0.1, reduction="none")
    np.testing.assert_allclose(found, -(smoothed * np.log(P)).sum(1)[:, None], 1e-6)


def test_gradient_of_cross_entropy():
    x = fluid.to_tensor(LOGITS, stop_gradient=False)
    F.cross_entropy(x, fluid.to_tensor([0, 2, 1, 1, 2])).backward()
    np.testing.assert_allclose(x.grad, (P - np.eye(3)[[0, 2, 1, 1, 2]]) / 5, 1e-10)


def test_distances():
    a, b = rng.normal(size=[2, 3]), rng.normal(size=[2, 3])
    x, y = fluid.to_tensor(a), fluid.to_tensor(b)
    np.testing.assert_allclose(F.mse_loss(x, y), ((a - b) ** 2).mean())
    np.testing.assert_allclose(F.l1_loss(x, y, "sum"), abs(a - b).sum())
    np.testing.assert_allclose(F.square_error_cost(x, y), (a - b) ** 2)
    d = abs(a - b)
    expected = np.where(d < 1, 0.5 * d * d, d - 0.5)
    np.testing.assert_allclose(F.smooth_l1_loss(x, y, "none"), expected)


def test_losses_of_probabilities():
    p, t = rng.uniform(0.1, 0.9, [2, 3]), rng.integers(0, 2, [2, 3]).astype(float)
    expected = -(t * np.log(p) + (1 - t) * np.log(1 - p))
    found = F.binary_cross_entropy(fluid.to_tensor(p), fluid.to_tensor(t), reduction="none")
    np.testing.assert_allclose(found, expected, 1e-6)
    logit = fluid.to_tensor(np.log(p / (1 - p)))
    found = F.binary_cross_entropy_with_logits(logit, fluid.to_tensor(t), reduction="none")
    np.testing.assert_allclose(found, expected, 1e-6)
    a, b = rng.dirichlet([1, 1, 1], 2), rng.dirichlet([1, 1, 1], 2)
    b[0, 0] = 0
    terms = np.where(b > 0, b * (np.log(np.where(b > 0, b, 1)) - np.log(a)), 0)
    found = F.kl_div(fluid.to_tensor(np.log(a)), fluid.to_tensor(b), "batchmean")
    np.testing.assert_allclose(found, terms.sum() / 2, 1e-6)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize("padding", [0, 1, "SAME"])
def test_an_average_is_divided_by_what_is_asked_for(padding, data_format):
    image = rng.normal(size=[2, 3, 5, 6])
    x = fluid.to_tensor(image if data_format == "NCHW" else np.moveaxis(image, 1, -1))
    found = F.avg_pool2d(x, 3, 2, padding, divisor_override=5, data_format=data_format).numpy()
    found = found if data_format == "NCHW" else np.moveaxis(found, -1, 1)
    plain = F.avg_pool2d(fluid.to_tensor(image), 3, 2, padding).numpy()
    np.testing.assert_allclose(found, plain * 9 / 5, rtol=1e-12)


def test_windows_that_reach_beyond_the_image_count_what_is_around_it():
    x = fluid.ones([1, 1, 6, 6])  # numbers of paddle 2.6.2
    found = F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, exclusive=False).numpy()[0, 0]
    np.testing.assert_allclose(found[0], [4 / 9, 2 / 3, 2 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(found[3], [1 / 3, 0.5, 0.5, 0.25], rtol=1e-6)
    found = F.avg_pool2d(x, 3, 2, [0, 1, 1, 0], exclusive=False).numpy()[0, 0]
    np.testing.assert_allclose(found, [[2 / 3, 1, 1]] * 3, rtol=1e-6)
    options = dict(ceil_mode=True, exclusive=False, divisor_override=2)
    found = F.avg_pool2d(x, 3, 2, 1, **options).numpy()[0, 0]
    np.testing.assert_allclose(found[3], [1.5, 2.25, 2.25, 1.125], rtol=1e-6)
    found = F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, divisor_override=4).numpy()
    np.testing.assert_allclose(found, 2.25, rtol=1e-6)
    with pytest.raises(ArgumentError, match="other than 0"):
        F.avg_pool2d(fluid.ones([1, 1, 5, 5]), 2, divisor_override=0)


def test_instance_norm_keeps_running_statistics_and_uses_them():
    values = rng.normal(size=[3, 2, 4])
    mean, var = fluid.zeros([2], "float64"), fluid.ones([2], "float64")
    y = F.instance_norm(fluid.to_tensor(values), mean, var, momentum=0.75)
    np.testing.assert_allclose(y.numpy().mean(2), 0, atol=1e-12)
    np.testing.assert_allclose(mean.numpy(), 0.25 * values.mean(2).mean(0))
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * values.var(2).mean(0))
    y = F.instance_norm(fluid.to_tensor(values), mean, var, use_input_stats=False, eps=0.0)
    centred = values - mean.numpy()[:, None]
    np.testing.assert_allclose(y.numpy(), centred / np.sqrt(var.numpy())[:, None])
    with pytest.raises(ArgumentError, match="needs running statistics"):
        F.instance_norm(fluid.to_tensor(values), use_input_stats=False)


def test_instance_norm_takes_channels_in_the_last_dimension():
    values = rng.normal(size=[3, 2, 4])
    last = fluid.to_tensor(np.moveaxis(values, 1, -1))
    found = F.instance_norm(last, data_format="NLC").numpy()
    np.testing.assert_allclose(np.moveaxis(found, -1, 1), F.instance_norm(fluid.to_tensor(values)))


def test_softplus_is_straight_above_its_threshold():
    x = fluid.to_tensor([0.5, 3.0], dtype="float64", stop_gradient=False)
    y = F.softplus(x, beta=2.0, threshold=4.0)
    np.testing.assert_allclose(y.numpy(), [math.log1p(math.e) / 2, 3.0])
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [sigmoid(1.0), 1.0])


def test_logical_functions_write_to_a_tensor_that_is_given():
    x, out = fluid.to_tensor([True, False]), fluid.to_tensor([True, True])
    assert fluid.logical_not(x, out) is out and out.tolist() == [False, True]
    assert fluid.logical_and(x, x, out=out) is out and out.tolist() == [True, False]


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_images_of_unknown_sizes_become_larger_in_programs_as_at_once(mode):
    larger = [
        lambda x: fluid.nn.functional.interpolate(x, scale_factor=[2, 2], mode=mode),
        lambda x: fluid.flow.nn.functional.interpolate(x, scale_factor=2, mode=mode),
    ]
    tensors = [fluid.to_tensor, fluid.flow.tensor]
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.data("x", [None, 2, None, None], "float32")
        found = [function(x) for function in larger]
        for shape in ([1, 2, 3, 5], [2, 2, 4, 4]):
            value = np.random.default_rng(0).normal(size=shape).astype("float32")
            fetched = fluid.Executor().run(feed={"x": value}, fetch_list=found)
            for result, function, tensor in zip(fetched, larger, tensors, strict=True):
                np.testing.assert_allclose(result, function(tensor(value)).numpy(), atol=1e-5)


@pytest.mark.parametrize("factor", [0, "2", [2]])
def test_factors_that_are_no_numbers_above_0_are_refused_where_sizes_are_unknown(factor):
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.data("x", [None, 2, None, None], "float32")
        with pytest.raises(ArgumentError, match="to be a number above 0, or 2"):
            fluid.nn.functional.interpolate(x, scale_factor=factor)


# recorded from paddlepaddle 2.6.2
@pytest.mark.parametrize(
    "mode, row", [("nearest", [0, 0, 1, 2]), ("bilinear", [0, 0.5, 1.166667, 1.833333])]
)
def test_sizes_that_factors_give_are_rounded_down(mode, row):
    images = np.tile(np.arange(3, dtype="float32"), [1, 1, 2, 1])
    result = fluid.nn.functional.interpolate(fluid.to_tensor(images), None, [1, 1.5], mode)
    np.testing.assert_allclose(result.numpy()[0, 0], [row, row], atol=1e-6)
    x = fluid.data("x", [None, 1, None, None], "float32")
    found = fluid.nn.functional.interpolate(x, None, [1, 1.5], mode)
    assert np.array_equal(fluid.Executor().run(feed={"x": images}, fetch_list=[found])[0], result)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: F.fold(x, 2, 2), "expected X to have 3 dimensions"),
        (lambda x: F.avg_pool2d(x, 2, padding="VALID", ceil_mode=True), "ceil_mode=False where"),
        (lambda x: F.max_pool2d(x, 2, padding="VALID", ceil_mode=True), "ceil_mode=False where"),
        (
            lambda x: F.batch_norm(x, fluid.zeros([2]), fluid.ones([2]), data_format="channels"),
            "expected data_format to be one of NC, NCL",
        ),
        (lambda x: fluid.linspace(0, 1, 0), "num"),
    ],
)
def test_what_paddle_2_refuses_is_a_value_error(call, message):
    with pytest.raises(ValueError, match=message):
        call(fluid.ones([1, 2, 4, 4]))
