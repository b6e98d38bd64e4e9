"""Convolutions and poolings of images."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, started, written


def images(channels=4, size=6):
    return data(shape=[None, channels, size, size])


def shapes():
    return [p.shape for p in fluid.default_main_program().global_block().all_parameters()]


def test_a_convolution_has_filters_and_a_bias():
    out = layers.conv2d(images(), 3, 3, act="relu")
    assert [line.split(" = ")[1].split("(")[0] for line in written()] == [
        "conv2d",
        "elementwise_add",
        "relu",
    ]
    assert shapes() == [(3, 4, 3, 3), (3,)]
    assert (out.name, out.shape) == ("conv2d_0.tmp_2", (-1, 3, 4, 4))


def test_filters_start_normal():
    layers.conv2d(images(), 3, 3, bias_attr=False)
    (line,) = started()
    assert "gaussian_random(" in line
    assert f"std={np.float32(np.sqrt(2 / 36)).item():.5f}"[:11] in line


@pytest.mark.parametrize(
    "options, shape",
    [
        (dict(stride=2, padding=1), (-1, 3, 3, 3)),
        (dict(padding="SAME"), (-1, 3, 6, 6)),
        (dict(padding="VALID"), (-1, 3, 4, 4)),
        (dict(padding=[1, 0, 2, 0]), (-1, 3, 5, 6)),
        (dict(dilation=2), (-1, 3, 2, 2)),
        (dict(filter_size=[3, 1]), (-1, 3, 4, 6)),
    ],
)
def test_options_change_the_size(options, shape):
    out = layers.conv2d(images(), 3, **{"filter_size": 3, **options})
    assert out.shape == shape
    value = np.ones([2, 4, 6, 6], "float32")
    assert run(out, x=value).shape == (2, *shape[1:])


def test_groups_see_their_channels_only():
    layers.conv2d(images(), 6, 3, groups=2, bias_attr=False)
    assert shapes() == [(6, 2, 3, 3)]


@pytest.mark.parametrize("groups, kind", [(None, "conv2d"), (1, "depthwise_conv2d")])
def test_one_channel_is_a_group_of_its_own_only_where_groups_says_so(groups, kind):
    # The name of the parameter follows from it, and so what a saved model can be loaded into.
    layers.conv2d(images(1), 2, 3, groups=groups, use_cudnn=False, bias_attr=False)
    layers.conv2d_transpose(images(1), 1, None, 3, groups=groups, use_cudnn=False, bias_attr=False)
    assert [p.name for p in fluid.default_main_program().all_parameters()] == [
        f"{kind}_0.w_0",
        f"{kind}_transpose_0.w_0",
    ]


@pytest.mark.parametrize("use_cudnn, kind", [(True, "conv2d"), (False, "depthwise_conv2d")])
def test_a_group_for_each_channel_may_be_another_operator(use_cudnn, kind):
    out = layers.conv2d(images(), 4, 3, groups=4, use_cudnn=use_cudnn, bias_attr=False)
    assert out.name == f"{kind}_0.tmp_0"
    assert f" = {kind}(" in written()[0]


def test_channels_may_come_last():
    x = data(shape=[None, 6, 5, 4])
    out = layers.conv2d(x, 3, 3, data_format="NHWC")
    assert out.shape == (-1, 4, 3, 3)
    assert "axis=3" in written()[1]


@pytest.mark.parametrize("groups", [3, 0])
def test_groups_divide_the_channels(groups):
    x = images()
    with refused(ArgumentError, f"got groups={groups} for 4 channels of 'x'"):
        layers.conv2d(x, 6, 3, groups=groups)


def test_images_have_four_dimensions_and_known_channels():
    flat, unknown = data(shape=[None, 8]), data("y", [None, None, 6, 6])
    with refused(ShapeError, r"expected images of 4 dimensions, got 'x' of shape \[-1, 8\]"):
        layers.conv2d(flat, 3, 3)
    with refused(ShapeError, "expected the number of channels of 'y' to be known"):
        layers.conv2d(unknown, 3, 3)


def test_a_transposed_convolution_enlarges():
    out = layers.conv2d_transpose(images(2, 4), 3, filter_size=3, stride=2, padding=1)
    assert shapes() == [(2, 3, 3, 3), (3,)]
    assert out.shape == (-1, 3, 7, 7)


def test_the_size_of_a_filter_follows_from_that_of_the_output():
    out = layers.conv2d_transpose(images(2, 4), 3, output_size=9, stride=2)
    assert shapes()[0] == (2, 3, 3, 3)
    assert out.shape == (-1, 3, 9, 9)


def test_one_of_the_two_sizes_is_given():
    x = images(2, 4)
    with refused(ArgumentError, "expected output_size or filter_size, got neither"):
        layers.conv2d_transpose(x, 3)


@pytest.mark.parametrize(
    "kind, wanted", [("max", [[6, 8], [14, 16]]), ("avg", [[3.5, 5.5], [11.5, 13.5]])]
)
def test_pooling_takes_the_maximum_or_the_mean(kind, wanted):
    out = layers.pool2d(images(1, 4), 2, kind, 2)
    value = np.arange(1, 17, dtype="float32").reshape(1, 1, 4, 4)
    assert run(out, x=value)[0, 0].tolist() == wanted


def test_global_pooling_has_one_window():
    out = layers.pool2d(images(), pool_type="avg", global_pooling=True)
    assert out.shape == (-1, 4, 1, 1)


def test_pooling_refuses_another_type():
    x = images()
    with refused(ArgumentError, "expected pool_type 'max' or 'avg', got 'median'"):
        layers.pool2d(x, 2, "median")


def test_pooling_needs_a_window():
    x = images()
    with refused(ArgumentError, "expected a positive pool_size, or global_pooling=True"):
        layers.pool2d(x)


def test_adaptive_pooling_has_an_output_of_given_size():
    out = layers.adaptive_pool2d(images(1, 5), 2)
    value = np.arange(25, dtype="float32").reshape(1, 1, 5, 5)
    assert run(out, x=value)[0, 0].tolist() == [[12, 14], [22, 24]]


@pytest.mark.parametrize("name, shape", [("2d", [None, 2, 5, 5]), ("3d", [None, 2, 5, 5, 5])])
def test_an_adaptive_maximum_is_the_operator_that_finds_places_whether_asked_for_them_or_not(
    name, shape
):
    pool = getattr(layers, f"adaptive_pool{name}")
    out = pool(data("x", shape), 2)
    mean = pool(data("y", shape), 2, "avg")
    ops = fluid.default_main_program().global_block().ops
    assert [op.type for op in ops] == [f"max_pool{name}_with_index", f"pool{name}"]
    assert out.name == f"max_pool{name}_with_index_0.tmp_0"
    assert ops[0].output("Mask") == [f"max_pool{name}_with_index_0.tmp_1"]
    assert mean.name == f"pool{name}_0.tmp_0"


def test_a_mean_has_no_place():
    x = images()
    with refused(ArgumentError, "require_index=True takes pool_type='max'"):
        layers.adaptive_pool2d(x, 2, "avg", require_index=True)


@pytest.mark.parametrize(
    "layer, more", [(layers.conv2d_transpose, []), (layers.conv3d_transpose, [1])]
)
def test_a_transposed_convolution_leaves_out_what_groups_do_not_divide(layer, more):
    x = data(shape=[None, 5, *more, 4, 4])
    used = layers.slice(x, axes=[1], starts=[0], ends=[4])
    ones = fluid.initializer.Constant(0.5)
    given = dict(filter_size=3, groups=2)
    with pytest.warns(UserWarning, match="4 channels are read and 4 are made"):
        out = layer(x, 5, param_attr=fluid.ParamAttr("w", ones), **given)
    same = layer(used, 4, param_attr=fluid.ParamAttr("v", ones), **given)
    assert shapes()[:2] == [(5, 2, *[3 for _ in more], 3, 3), (4,)]
    value = np.random.default_rng(0).normal(size=[2, 5, *more, 4, 4]).astype("float32")
    found, wanted = run(out, same, x=value)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_group_of_a_transposed_convolution_has_a_channel():
    x = images()
    with refused(ArgumentError, "groups to be at most 4 channels of 'x' and num_filters=3"):
        layers.conv2d_transpose(x, 3, filter_size=3, groups=4)
