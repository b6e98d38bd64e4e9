"""Boxes at each place of a feature map, against loops over places and sizes."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
MAPS, IMAGE = np.zeros([1, 2, 3, 4]), np.zeros([1, 3, 9, 16])
VARIANCES = [0.1, 0.2, 0.3, 0.4]


def around(x, y, width, height):
    """A box by its centre and size, in parts of the image."""
    box = np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2])
    return box / [16, 9, 16, 9]


@pytest.mark.parametrize("ordered", [False, True])
def test_prior_boxes_have_sizes_and_ratios(ordered):
    boxes, variances = f.prior_box(
        MAPS,
        IMAGE,
        min_sizes=[2.0, 4.0],
        max_sizes=[3.0, 5.0],
        aspect_ratios=[1.0, 4.0],
        variances=VARIANCES,
        clip=False,
        offset=0.25,
        min_max_aspect_ratios_order=ordered,
    )
    assert boxes.shape == (3, 4, 8, 4)
    for i, j in np.ndindex(3, 4):
        expected, x, y = [], (j + 0.25) * 4, (i + 0.25) * 3
        for low, high in ((2, 3), (4, 5)):
            square = [around(x, y, low, low)]
            mean = [around(x, y, np.sqrt(low * high), np.sqrt(low * high))]
            other = [around(x, y, low * 2, low / 2), around(x, y, low / 2, low * 2)]
            expected += square + mean + other if ordered else square + other + mean
        np.testing.assert_allclose(boxes[i, j], expected)
    np.testing.assert_allclose(variances, np.broadcast_to(VARIANCES, boxes.shape), 1e-6)


def test_prior_boxes_may_be_clipped_and_spaced():
    attrs = dict(min_sizes=[8.0], aspect_ratios=[1.0], variances=VARIANCES)
    boxes, _ = f.prior_box(MAPS, IMAGE, step_w=2.0, step_h=1.0, clip=False, **attrs)
    np.testing.assert_allclose(boxes[2, 1, 0], around(3, 2.5, 8, 8))
    clipped, _ = f.prior_box(MAPS, IMAGE, step_w=2.0, step_h=1.0, **attrs)
    np.testing.assert_allclose(clipped, np.clip(boxes, 0, 1))


@pytest.mark.parametrize("flat, clip", [(False, True), (True, False)])
def test_density_boxes_stand_around_close_points(flat, clip):
    boxes, _ = f.density_prior_box(
        MAPS,
        IMAGE,
        fixed_sizes=[2.0, 1.0],
        fixed_ratios=[1.0, 4.0],
        densities=[2, 1],
        variances=VARIANCES,
        step_w=4.0,
        step_h=4.0,
        flatten_to_2d=flat,
        clip=clip,
    )
    boxes = boxes.reshape(3, 4, 10, 4)
    for i, j in np.ndindex(3, 4):
        expected, x, y = [], (j + 0.5) * 4, (i + 0.5) * 4
        for size, density in ((2, 2), (1, 1)):
            apart = 4 // density
            for root in (1, 2):
                for k, m in np.ndindex(density, density):
                    at = [v - 2 + apart / 2 + n * apart for v, n in ((x, m), (y, k))]
                    expected.append(around(*at, size * root, size / root))
        expected = np.array(expected)
        expected[:, :2] = np.maximum(expected[:, :2], 0)
        expected[:, 2:] = np.minimum(expected[:, 2:], 1)
        np.testing.assert_allclose(boxes[i, j], np.clip(expected, 0, 1) if clip else expected)


def test_density_boxes_beside_the_image_have_an_end_before_their_begin_as_in_fluid():
    image = np.zeros((1, 1, 4, 4))
    attrs = dict(fixed_sizes=[2.0], fixed_ratios=[1.0], densities=[1], variances=VARIANCES)
    found, _ = f.density_prior_box(
        np.zeros((1, 1, 2, 2)), image, step_w=8.0, step_h=8.0, clip=False, **attrs
    )
    np.testing.assert_allclose(found[1, 1, 0], [2.75, 2.75, 1, 1])


def test_anchors_are_in_pixels():
    anchors, variances = f.anchor_generator(
        MAPS,
        anchor_sizes=[32.0, 64.0],
        aspect_ratios=[0.5],
        variances=VARIANCES,
        stride=[16.0, 8.0],
    )
    # a place of 16 x 8 pixels and ratio 0.5 gives 16 x 8, which is scaled by 2 and 4
    np.testing.assert_allclose(anchors[0, 0], [[-8, -12, 23, 19], [-24, -28, 39, 35]])
    np.testing.assert_allclose(anchors[2, 3], anchors[0, 0] + [48, 16, 48, 16])
    assert variances.shape == anchors.shape == (3, 4, 2, 4)


@pytest.mark.parametrize(
    "message, type, attrs",
    [
        ("expected min_sizes above 0", "prior_box", dict(min_sizes=[])),
        ("as many max_sizes as min_sizes", "prior_box", dict(max_sizes=[3.0, 4.0])),
        ("max_sizes above min_sizes", "prior_box", dict(max_sizes=[1.0])),
        ("aspect_ratios above 0", "prior_box", dict(aspect_ratios=[0.0])),
        ("4 variances above 0", "prior_box", dict(variances=[0.1])),
        ("a density for each of fixed_sizes", "density_prior_box", dict(densities=[])),
        ("expected fixed_ratios, got none", "density_prior_box", dict(fixed_ratios=[])),
        ("densities above 0", "density_prior_box", dict(densities=[0])),
    ],
)
def test_attributes_that_make_no_boxes_are_refused(message, type, attrs):
    given = dict(
        prior_box=dict(min_sizes=[2.0], aspect_ratios=[1.0]),
        density_prior_box=dict(fixed_sizes=[2.0], fixed_ratios=[1.0], densities=[1]),
    )[type]
    inputs = dict(Input=((-1, 2, 3, 4), "float32"), Image=((-1, 3, 9, 16), "float32"))
    with pytest.raises(AttributeValueError) as raised:
        infer(type, {"variances": VARIANCES, **given, **attrs}, **inputs)
    assert message in str(raised.value)


def test_places_may_be_unknown():
    attrs = dict(min_sizes=[2.0], aspect_ratios=[1.0], variances=VARIANCES)
    inputs = dict(Input=((-1, 2, -1, 4), "float32"), Image=((-1, 3, 9, 16), "float32"))
    assert infer("prior_box", attrs, **inputs)["Boxes"].shape == (-1, 4, 1, 4)
    with pytest.raises(ShapeError, match="expected Image to have 4 dimensions"):
        infer("prior_box", attrs, **{**inputs, "Image": ((3, 9, 16), "float32")})
