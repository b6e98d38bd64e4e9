"""Images in another size."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, written

VALUE = np.arange(12, dtype="float32").reshape(1, 1, 3, 4)


def images():
    return data(shape=[None, 1, 3, 4])


@pytest.mark.parametrize(
    "options, shape",
    [
        (dict(out_shape=[6, 2]), (-1, 1, 6, 2)),
        (dict(scale=2), (-1, 1, 6, 8)),
        (dict(scale=1.5, resample="NEAREST", align_corners=False), (-1, 1, 4, 6)),
        (dict(out_shape=[2, 3], resample="BICUBIC"), (-1, 1, 2, 3)),
    ],
)
def test_sizes_follow_from_the_options(options, shape):
    out = layers.image_resize(images(), **options)
    assert out.shape == shape
    assert run(out, x=VALUE).shape == (1, *shape[1:])


def test_images_are_linear_between_corners():
    out = layers.resize_bilinear(images(), [5, 7])
    expected = np.arange(0, 9, 2)[:, None] + np.arange(7) / 2
    assert np.allclose(run(out, x=VALUE)[0, 0], expected)
    assert out.name == "bilinear_interp_0.tmp_0"


def test_sizes_may_be_variables():
    size, factor, one = data("size", [2], "int32"), data("factor", [1]), data("one", [1], "int32")
    outs = [
        layers.resize_nearest(images(), size),
        layers.resize_nearest(data("y", [None, 1, 3, 4]), [one, 5]),
        layers.resize_nearest(data("z", [None, 1, 3, 4]), scale=factor),
        layers.resize_nearest(data("a", [None, 1, 3, 4]), [9, 9], actual_shape=size),
    ]
    assert [out.shape for out in outs] == [
        (-1, 1, -1, -1),
        (-1, 1, -1, 5),
        (-1, 1, -1, -1),
        (-1, 1, 9, 9),
    ]
    feed = dict(size=np.int32([6, 2]), one=np.int32([2]), factor=np.float32([2]))
    values = run(*outs, x=VALUE, y=VALUE, z=VALUE, a=VALUE, **feed)
    assert [v.shape[2:] for v in values] == [(6, 2), (2, 5), (6, 8), (6, 2)]


def test_a_size_that_is_a_tensor_goes_before_another_one_at_once():
    with fluid.dygraph.guard():
        x, size = map(fluid.dygraph.to_variable, (VALUE, np.int32([6, 2])))
        assert list(layers.resize_nearest(x, [9, 9], actual_shape=size).shape)[2:] == [6, 2]


def test_volumes_have_three_sizes():
    out = layers.resize_trilinear(data(shape=[None, 2, 3, 4, 5]), [2, 6, 1])
    assert out.shape == (-1, 2, 2, 6, 1)
    assert "out_d=2" in written()[0]


def test_the_shorter_side_gets_a_length():
    assert layers.image_resize_short(images(), 6).shape == (-1, 1, 6, 8)
    y = data("y", [None, 1, -1, 4])
    with refused(ShapeError, "known height and width"):
        layers.image_resize_short(y, 6)


@pytest.mark.parametrize(
    "error, message, options",
    [
        (ArgumentError, "expected out_shape or scale, got neither", dict()),
        (ArgumentError, "expected resample among BILINEAR", dict(scale=2, resample="LINEAR")),
        (ArgumentError, "expected scale to be a number above 0", dict(scale=0)),
        (ArgumentError, "expected out_shape of 2 sizes", dict(out_shape=[2])),
        (ArgumentError, "expected align_mode 0 or 1, got 2", dict(scale=2, align_mode=2)),
        (ArgumentError, "expected data_format NCHW or NHWC", dict(scale=2, data_format="HWC")),
        (
            ShapeError,
            "expected images of 5 dimensions",
            dict(scale=2, resample="TRILINEAR", data_format="NCDHW"),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, options):
    x = images()
    with refused(error, message):
        layers.image_resize(x, **options)
