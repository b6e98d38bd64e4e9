"""Convolutions against loops over every number."""

import numpy as np
import pytest

import fluidlite as fluid
import fluidlite.ops.conv as conv
from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import check_gradients, evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def by_loops(x, w, strides=(1, 1), pads=((0, 0), (0, 0)), dilations=(1, 1), groups=1):
    """The convolution of NCHW images with filters."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    filters, depth, *kernel = w.shape
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    sizes = [(n - span) // s + 1 for n, span, s in zip(x.shape[2:], spans, strides)]
    out = np.zeros((len(x), filters, *sizes))
    for n, o, i, j in np.ndindex(out.shape):
        first = o // (filters // groups) * depth
        for c, k, m in np.ndindex(depth, *kernel):
            row, column = i * strides[0] + k * dilations[0], j * strides[1] + m * dilations[1]
            out[n, o, i, j] += x[n, first + c, row, column] * w[o, c, k, m]
    return out


def transposed_by_loops(x, w, size, strides=(1, 1), pads=((0, 0), (0, 0)), dilations=(1, 1)):
    """The transposed convolution of NCHW images: every number spreads over a window."""
    whole = [n + sum(pad) for n, pad in zip(size, pads)]
    out = np.zeros((len(x), w.shape[1], *whole))
    for n, c, i, j in np.ndindex(x.shape):
        for o, k, m in np.ndindex(w.shape[1:]):
            row, column = i * strides[0] + k * dilations[0], j * strides[1] + m * dilations[1]
            out[n, o, row, column] += x[n, c, i, j] * w[c, o, k, m]
    (top, _), (left, _) = pads
    return out[:, :, top : top + size[0], left : left + size[1]]


X, W = rng.normal(size=[2, 4, 6, 7]), rng.normal(size=[6, 4, 3, 2])


def test_convolution_of_a_ramp_worked_by_hand():
    x = np.arange(9.0).reshape(1, 1, 3, 3)
    w = np.array([[1.0, 2.0], [0.0, -1.0]]).reshape(1, 1, 2, 2)
    # 0 + 2 * 1 - 4, 1 + 2 * 2 - 5 and so on
    np.testing.assert_array_equal(f.conv2d(x, w), [[[[-2, 0], [4, 6]]]])


@pytest.mark.parametrize(
    "attrs, pads",
    [
        (dict(), ((0, 0), (0, 0))),
        (dict(strides=[2, 3], paddings=[1, 2]), ((1, 1), (2, 2))),
        (dict(paddings=[0, 1, 2, 1]), ((0, 1), (2, 1))),
        (dict(dilations=[2, 3]), ((0, 0), (0, 0))),
        (dict(paddings=[1, 2], padding_algorithm="VALID"), ((0, 0), (0, 0))),
        # 6 rows by 2 are 3: they need (3 - 1) * 2 + 3 = 7; 7 columns by 3 are 3: they need 8
        (dict(strides=[2, 3], padding_algorithm="SAME"), ((0, 1), (0, 1))),
        # the dilation counts as 1
        (dict(dilations=[2, 3], padding_algorithm="SAME"), ((1, 1), (0, 1))),
        # a window of 9 rows reaches beyond 6 + 1 by less than 3
        (dict(strides=[3, 1], dilations=[4, 1], paddings=[1, 0, 0, 0]), ((1, 2), (0, 0))),
    ],
)
def test_convolution_is_the_sum_over_the_window(attrs, pads):
    options = {name: attrs[name] for name in ("strides", "dilations") if name in attrs}
    if attrs.get("padding_algorithm") == "SAME":
        options.pop("dilations", None)
    expected = by_loops(X, W, pads=pads, **options)
    np.testing.assert_allclose(f.conv2d(X, W, **attrs), expected)
    last = f.conv2d(X.transpose(0, 2, 3, 1), W, data_format="NHWC", **attrs)
    np.testing.assert_allclose(last, expected.transpose(0, 2, 3, 1))


def test_groups_do_not_mix():
    w = W[:, :2]
    np.testing.assert_allclose(f.conv2d(X, w, groups=2), by_loops(X, w, groups=2))
    w = rng.normal(size=[8, 1, 2, 3])
    np.testing.assert_allclose(f.depthwise_conv2d(X, w, groups=4), by_loops(X, w, groups=4))


def test_bias_is_added_to_each_filter():
    bias = rng.normal(size=6)
    np.testing.assert_allclose(f.conv2d(X, W, bias), by_loops(X, W) + bias[:, None, None])


def test_many_patches_are_made_in_parts(monkeypatch):
    expected = by_loops(X, W, pads=((1, 1), (0, 0)))
    monkeypatch.setattr(conv, "PATCH_BYTES", 5000)
    np.testing.assert_allclose(f.conv2d(X, W, paddings=[1, 0]), expected)
    convolve = lambda f, x, w: f.conv2d(x, w, paddings=[1, 0], strides=[2, 1])
    check_gradients(convolve, [X, W], order=2)


def test_no_samples_give_no_outputs():
    assert f.conv2d(X[:0], W).shape == (0, 6, 4, 6)


@pytest.mark.parametrize(
    "attrs, size, pads",
    [
        (dict(), (8, 8), ((0, 0), (0, 0))),
        (dict(strides=[2, 3], paddings=[1, 0]), (11, 20), ((1, 1), (0, 0))),
        (dict(strides=[2, 3], output_size=[14, 20]), (14, 20), ((0, 1), (0, 0))),
        (dict(dilations=[2, 1], paddings=[0, 1, 1, 0]), (9, 7), ((0, 1), (1, 0))),
        (dict(dilations=[2, 3], padding_algorithm="SAME"), (6, 7), ((1, 1), (0, 1))),
    ],
)
def test_transposed_convolution_spreads_every_number_over_a_window(attrs, size, pads):
    w = rng.normal(size=[4, 3, 3, 2])
    options = {name: attrs[name] for name in ("strides", "dilations") if name in attrs}
    if attrs.get("padding_algorithm") == "SAME":
        del options["dilations"]
    expected = transposed_by_loops(X, w, size, pads=pads, **options)
    np.testing.assert_allclose(f.conv2d_transpose(X, w, **attrs), expected)
    last = f.conv2d_transpose(X.transpose(0, 2, 3, 1), w, data_format="NHWC", **attrs)
    np.testing.assert_allclose(last, expected.transpose(0, 2, 3, 1))


def test_transposed_convolution_by_channel():
    w = rng.normal(size=[4, 1, 3, 2])
    parts = [transposed_by_loops(X[:, [c]], w[[c]], (8, 8)) for c in range(4)]
    found = f.depthwise_conv2d_transpose(X, w, groups=4)
    np.testing.assert_allclose(found, np.concatenate(parts, axis=1))


def test_adjoints_satisfy_the_identity_of_inner_products():
    geometry = dict(strides=[2, 1], paddings=[1, 2], dilations=[1, 2], groups=2)
    w = W[:, :2]
    y = f.conv2d(X, w, **geometry)
    g = rng.normal(size=y.shape)
    by_input = f.conv2d_adjoint_input(g, w, size=X.shape, **geometry)
    by_filter = f.conv2d_adjoint_filter(X, g, size=w.shape, **geometry)
    assert np.sum(y * g) == pytest.approx(np.sum(X * by_input))
    assert np.sum(y * g) == pytest.approx(np.sum(w * by_filter))


def conv_spec(image=(-1, 3, 8, 8), filter=(4, 3, 3, 3), type="conv2d", dtype="float32", **attrs):
    return infer(type, attrs, Input=(image, "float32"), Filter=(filter, dtype))["Output"].shape


def test_unknown_sizes_stay_unknown():
    assert conv_spec() == (-1, 4, 6, 6)
    assert conv_spec((-1, 3, -1, 8), strides=[2, 2], padding_algorithm="SAME") == (-1, 4, -1, 4)
    assert conv_spec((-1, 8, 8, 3), data_format="NHWC") == (-1, 6, 6, 4)
    transposed = conv_spec((-1, 3, -1, 8), (3, 2, 3, 3), "conv2d_transpose", strides=[2, 2])
    assert transposed == (-1, 2, -1, 17)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ShapeError, "expected Input to have 4 dimensions, got shape [-1, 8]", dict(image=(-1, 8))),
        (
            ShapeError,
            "an input of 6 channels, 3 for each filter in 2 groups, got 3",
            dict(groups=2),
        ),
        (
            ShapeError,
            "filters that 2 groups divide, got 3",
            dict(image=(1, 4, 8, 8), filter=(3, 2, 3, 3), groups=2),
        ),
        (ShapeError, "a window of 9 does not fit into 8", dict(filter=(4, 3, 9, 3))),
        (ShapeError, "expected 2 or 4 paddings, got [1, 1, 1]", dict(paddings=[1, 1, 1])),
        (DTypeError, "expected one element type, got Input float32, Filter", dict(dtype="float64")),
        (DTypeError, "expected Filter to be float16, float32 or", dict(dtype="int64")),
        (AttributeValueError, "strides of 2 numbers from 1, got [0, 1]", dict(strides=[0, 1])),
        (
            ShapeError,
            "a window of 3 does not fit into 8 elements padded by -3 and -3",
            dict(paddings=[-3, 0]),
        ),
        (AttributeValueError, "groups of at least 1, got 0", dict(groups=0)),
        (AttributeValueError, "NCHW or NHWC, got 'HWCN'", dict(data_format="HWCN")),
        (
            ShapeError,
            "an input of 4 channels, the filter's first size, got 3",
            dict(type="conv2d_transpose"),
        ),
        (
            ShapeError,
            "expected output_size in [17, 19) x [17, 19), got [19, 17]",
            dict(
                type="conv2d_transpose", filter=(3, 2, 3, 3), strides=[2, 2], output_size=[19, 17]
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, given):
    with pytest.raises(error) as raised:
        conv_spec(**given)
    assert message in str(raised.value)


#: paddings as an attribute, before and after each dimension, and what of a 6 x 7 image that leaves
BORDERS = [
    ([-1, 0], ((-1, -1), (0, 0)), np.s_[..., 1:5, :]),
    ([-1, 0, 0, -3], ((-1, 0), (0, -3)), np.s_[..., 1:, :4]),
    ([0, -2, -1, 0], ((0, -2), (-1, 0)), np.s_[..., :4, 1:]),
]


@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("paddings, _, part", BORDERS)
def test_a_padding_below_zero_takes_rows_of_the_image_away(paddings, _, part, strides):
    whole = f.conv2d(X, W, paddings=paddings, strides=list(strides))
    np.testing.assert_allclose(whole, by_loops(X[part], W, strides), 1e-12)


def test_a_padding_may_take_away_what_another_adds():
    """All of an image of 2 rows is gone, and what remains is of the zeros below it."""
    x, w = np.ones([1, 1, 2, 3]), np.ones([1, 1, 1, 1])
    found = f.conv2d(x, w, paddings=[-3, 2, 0, -1])
    np.testing.assert_array_equal(found, np.zeros([1, 1, 1, 2]))


@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("paddings, pads, part", BORDERS)
def test_a_padding_below_zero_adds_rows_to_a_transposed_convolution(paddings, pads, part, strides):
    x, w = rng.normal(size=[2, 4, 3, 4]), rng.normal(size=[4, 2, 3, 2])
    found = f.conv2d_transpose(x, w, paddings=paddings, strides=list(strides))
    size = [n + sum(pad) for n, pad in zip(found.shape[2:], pads)]
    middle = transposed_by_loops(x, w, size, strides)
    around = [(-min(a, 0), -min(b, 0)) for a, b in pads]
    np.testing.assert_allclose(found, np.pad(middle, [(0, 0), (0, 0), *around]), 1e-12)


@pytest.mark.parametrize("library", ["numpy", "auto"])
@pytest.mark.parametrize("layer", ["conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"])
def test_plans_take_paddings_below_zero(layer, library, monkeypatch):
    """What is prepared, and oneDNN's kernels, know no such padding: it is as in the first run,
    which is interpreted.
    """
    monkeypatch.setenv("FLUIDLITE_KERNELS", library)
    rank = int(layer[4])
    size = (3, 16, 16) if rank == 2 else (3, 8, 9, 8)
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [-1, *size])
        x.stop_gradient = False
        y = getattr(fluid.layers, layer)(
            x, 16, filter_size=3, padding=[-2, 1, *[0, -1] * (rank - 1)]
        )
        loss = fluid.layers.reduce_sum(y * y)
        fetches = [loss, *fluid.gradients(loss, [x, *main.all_parameters()[:1]])]
    startup.random_seed = 1
    feed = {"x": rng.normal(size=[4, *size]).astype("float32")}
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        exe.run(startup)
        found = [exe.run(main, feed, fetches) for _ in range(3)]
    for interpreted, _, planned in zip(*found):
        np.testing.assert_allclose(planned, interpreted, 1e-4, 1e-4)


def test_an_adjoint_refuses_a_cotangent_of_another_shape():
    with pytest.raises(ShapeError, match=r"expected G of shape \[2, 6, 4, 6\], got \[2, 6, 4, 5\]"):
        infer(
            "conv2d_adjoint_input",
            dict(size=[2, 4, 6, 7]),
            G=([2, 6, 4, 5], "float32"),
            Filter=([6, 4, 3, 2], "float32"),
        )


@pytest.mark.parametrize(
    "type, message",
    [
        ("conv2d", "expected Bias of shape [6], a number for each filter, got [4]"),
        ("conv2d_transpose", "expected Bias of shape [8], a number for each filter, got [4]"),
    ],
)
def test_a_bias_of_another_size_is_refused(type, message):
    inputs = dict(Input=([1, 6, 5, 5], "float32"), Bias=([4], "float32"))
    depth = 3 if type == "conv2d" else 4
    with pytest.raises(ShapeError) as raised:
        infer(type, dict(groups=2), Filter=([6, depth, 2, 2], "float32"), **inputs)
    assert message in str(raised.value)
