"""Convolutions of volumes against loops over every number."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X, W = rng.normal(size=[2, 4, 4, 3, 5]), rng.normal(size=[6, 4, 2, 3, 2])


def by_loops(x, w, strides=(1, 1, 1), pads=((0, 0),) * 3, dilations=(1, 1, 1), groups=1):
    """The convolution of NCDHW volumes with filters."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    filters, depth, *kernel = w.shape
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    sizes = [(n - span) // s + 1 for n, span, s in zip(x.shape[2:], spans, strides)]
    out = np.zeros((len(x), filters, *sizes))
    for n, o, *place in np.ndindex(out.shape):
        first = o // (filters // groups) * depth
        for c, *element in np.ndindex(depth, *kernel):
            at = [p * s + e * d for p, s, e, d in zip(place, strides, element, dilations)]
            out[(n, o, *place)] += x[(n, first + c, *at)] * w[(o, c, *element)]
    return out


@pytest.mark.parametrize(
    "attrs, pads",
    [
        (dict(), ((0, 0),) * 3),
        (dict(strides=[2, 1, 3], paddings=[1, 0, 2]), ((1, 1), (0, 0), (2, 2))),
        (dict(paddings=[0, 1, 2, 1, 1, 0], dilations=[1, 2, 1]), ((0, 1), (2, 1), (1, 0))),
        # 4 by 2 are 2, which need 4; 3 need 5; 5 by 2 are 3, which need 6
        (dict(strides=[2, 1, 2], padding_algorithm="SAME"), ((0, 0), (1, 1), (0, 1))),
    ],
)
def test_convolution_is_the_sum_over_the_window(attrs, pads):
    options = {name: attrs[name] for name in ("strides", "dilations") if name in attrs}
    expected = by_loops(X, W, pads=pads, **options)
    np.testing.assert_allclose(f.conv3d(X, W, **attrs), expected)
    last = f.conv3d(X.transpose(0, 2, 3, 4, 1), W, data_format="NDHWC", **attrs)
    np.testing.assert_allclose(last, expected.transpose(0, 2, 3, 4, 1))


def test_groups_do_not_mix():
    w = W[:, :2]
    np.testing.assert_allclose(f.conv3d(X, w, groups=2), by_loops(X, w, groups=2))


def test_transposed_convolution_spreads_every_number_over_a_window():
    w = rng.normal(size=[4, 3, 2, 1, 2])
    out = np.zeros([2, 3, 8, 3, 6])
    for n, c, *place in np.ndindex(X.shape):
        for o, *element in np.ndindex(w.shape[1:]):
            z, y, x = (p * s + e for p, s, e in zip(place, (2, 1, 1), element))
            out[n, o, z, y, x] += X[(n, c, *place)] * w[(c, o, *element)]
    np.testing.assert_allclose(f.conv3d_transpose(X, w, strides=[2, 1, 1]), out)
    larger = f.conv3d_transpose(X, w, strides=[2, 1, 1], output_size=[9, 3, 6])
    np.testing.assert_allclose(larger, np.pad(out, ((0, 0), (0, 0), (0, 1), (0, 0), (0, 0))))
    cut = f.conv3d_transpose(X, w, strides=[2, 1, 1], paddings=[1, 0, 2])
    np.testing.assert_allclose(cut, out[:, :, 1:-1, :, 2:-2])


def conv_spec(image=(-1, 3, 8, 8, 8), filter=(4, 3, 3, 3, 3), type="conv3d", **attrs):
    inputs = dict(Input=(image, "float32"), Filter=(filter, "float32"))
    return infer(type, attrs, **inputs)["Output"].shape


def test_unknown_sizes_stay_unknown():
    assert conv_spec() == (-1, 4, 6, 6, 6)
    assert conv_spec((-1, 3, -1, 8, 8), strides=[2, 2, 1]) == (-1, 4, -1, 3, 6)
    transposed = conv_spec((-1, 3, -1, 8, 8), (3, 2, 3, 3, 3), "conv3d_transpose")
    assert transposed == (-1, 2, -1, 10, 10)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ShapeError, "Input to have 5 dimensions, got shape [1, 3, 8]", dict(image=(1, 3, 8))),
        (ShapeError, "expected 3 or 6 paddings, got [1, 1]", dict(paddings=[1, 1])),
        (AttributeValueError, "strides of 3 numbers from 1, got [1, 1]", dict(strides=[1, 1])),
        (AttributeValueError, "NCDHW or NDHWC, got 'HWC'", dict(data_format="HWC")),
    ],
)
def test_what_does_not_fit_is_refused(error, message, given):
    with pytest.raises(error) as raised:
        conv_spec(**given)
    assert message in str(raised.value)


@pytest.mark.parametrize("type", ["conv3d", "conv3d_transpose"])
def test_the_name_of_a_layout_of_images_stands_for_that_of_volumes(type):
    x, w = rng.normal(size=[1, 3, 2, 3, 2]), rng.normal(size=[2, 2, 2, 2, 2])
    named = [getattr(f, type)(x, w, data_format=name) for name in ("NDHWC", "NHWC")]
    np.testing.assert_array_equal(*named)
