"""Convolutions and poolings of volumes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, started, written


def volumes(channels=4, size=6):
    return data(shape=[None, channels, size, size, size])


def shapes():
    return [p.shape for p in fluid.default_main_program().global_block().all_parameters()]


def test_a_convolution_has_filters_and_a_bias():
    out = layers.conv3d(volumes(), 3, 3, act="relu")
    assert [line.split(" = ")[1].split("(")[0] for line in written()] == [
        "conv3d",
        "elementwise_add",
        "relu",
    ]
    assert shapes() == [(3, 4, 3, 3, 3), (3,)]
    assert (out.name, out.shape) == ("conv3d_0.tmp_2", (-1, 3, 4, 4, 4))


def test_filters_start_normal():
    layers.conv3d(volumes(), 6, 3, groups=2, bias_attr=False)
    (line,) = started()
    assert f"std={np.float32(np.sqrt(2 / 108)).item():.6f}"[:10] in line
    assert shapes() == [(6, 2, 3, 3, 3)]


@pytest.mark.parametrize(
    "options, shape",
    [
        (dict(stride=2, padding=1), (-1, 3, 3, 3, 3)),
        (dict(padding="SAME"), (-1, 3, 6, 6, 6)),
        (dict(padding=[1, 0, 2]), (-1, 3, 6, 4, 8)),
        (dict(padding=[1, 0, 2, 0, 0, 0]), (-1, 3, 5, 6, 4)),
        (dict(padding=[[0, 0], [0, 0], [1, 0], [0, 0], [2, 2]]), (-1, 3, 5, 4, 8)),
        (dict(filter_size=[3, 1, 2]), (-1, 3, 4, 6, 5)),
    ],
)
def test_options_change_the_size(options, shape):
    out = layers.conv3d(volumes(), 3, **{"filter_size": 3, **options})
    assert out.shape == shape
    assert run(out, x=np.ones([1, 4, 6, 6, 6], "float32")).shape == (1, *shape[1:])


def test_channels_may_come_last():
    out = layers.conv3d(data(shape=[None, 6, 6, 6, 4]), 3, 3, data_format="NDHWC")
    assert out.shape == (-1, 4, 4, 4, 3)


def test_a_transposed_convolution_enlarges():
    out = layers.conv3d_transpose(volumes(size=3), 6, filter_size=2, stride=2, groups=2)
    assert out.shape == (-1, 6, 6, 6, 6)
    assert shapes() == [(4, 3, 2, 2, 2), (6,)]


def test_the_filter_follows_from_the_output():
    out = layers.conv3d_transpose(volumes(size=3), 2, output_size=[7, 8, 6], stride=[2, 3, 1])
    assert out.shape == (-1, 2, 7, 8, 6)
    assert shapes()[0] == (4, 2, 3, 2, 4)


@pytest.mark.parametrize(
    "error, message, build",
    [
        (
            ShapeError,
            "volumes of 5 dimensions",
            lambda x: layers.conv3d(fluid.default_main_program().global_block().var("rows"), 3, 3),
        ),
        (
            ArgumentError,
            "groups to divide the channels",
            lambda x: layers.conv3d(x, 6, 3, groups=3),
        ),
        (ArgumentError, "a list of 3 integers", lambda x: layers.conv3d(x, 3, [3, 3])),
        (ArgumentError, "output_size or filter_size", lambda x: layers.conv3d_transpose(x, 3)),
        (ArgumentError, "NCDHW or NDHWC", lambda x: layers.pool3d(x, 2, data_format="NCHW")),
        (ArgumentError, "a positive pool_size", lambda x: layers.pool3d(x)),
        (ArgumentError, "pool_type 'max' or 'avg'", lambda x: layers.pool3d(x, 2, "min")),
    ],
)
def test_what_does_not_fit_is_refused(error, message, build):
    x, _ = volumes(), data("rows")
    with refused(error, message):
        build(x)


def test_pooling():
    x = volumes(1, 2)
    out = layers.pool3d(x, 2), layers.pool3d(x, 2, "avg"), layers.pool3d(x, global_pooling=True)
    value = np.arange(8, dtype="float32").reshape(1, 1, 2, 2, 2)
    assert [v.item() for v in run(*out, x=value)] == [7, 3.5, 7]


def test_adaptive_pooling_may_give_places():
    out, places = layers.adaptive_pool3d(volumes(), [3, 2, 1], require_index=True)
    assert out.name == "max_pool3d_with_index_0.tmp_0"
    assert out.shape == places.shape == (-1, 4, 3, 2, 1)
    assert layers.adaptive_pool3d(volumes(), 2, "avg").shape == (-1, 4, 2, 2, 2)
    x = volumes()
    with refused(ArgumentError, "a mean has no place"):
        layers.adaptive_pool3d(x, 2, "avg", require_index=True)
