"""Regions, boxes and what detectors are made of."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, written

IMAGES = np.random.default_rng(0).normal(size=[2, 3, 8, 8]).astype("float32")
ROIS = np.float32([[0, 0, 4, 4], [1, 2, 7, 5], [0, 0, 7, 7]])


def regions():
    return data("rois", [None, 4], lod_level=1)


def images(channels=3):
    return data(shape=[None, channels, 8, 8])


@pytest.mark.parametrize(
    "build, channels",
    [
        (lambda x, rois: layers.roi_pool(x, rois, 2, 3, 0.5), 3),
        (lambda x, rois: layers.roi_align(x, rois, 2, 3, 0.5, 2), 3),
        (lambda x, rois: layers.prroi_pool(x, rois, 0.5, 2, 3), 3),
        (lambda x, rois: layers.psroi_pool(x, rois, 2, 0.5, 2, 3), 12),
    ],
)
def test_regions_of_images_are_pooled(build, channels):
    out = build(images(channels), regions())
    wanted = (2 if channels == 12 else 3, 2, 3)
    assert out.shape == (-1, *wanted)
    rois = fluid.create_lod_tensor(ROIS, [[1, 2]])
    value = np.tile(IMAGES, [1, channels // 3, 1, 1])
    assert run(out, x=value, rois=rois).shape == (3, *wanted)


def test_regions_may_be_moved():
    moves = data("t", [None, 2, 2, 3])
    out = layers.deformable_roi_pooling(
        images(12), regions(), moves, pooled_height=2, pooled_width=3, spatial_scale=0.5
    )
    assert out.shape == (-1, 12, 2, 3)
    own = layers.deformable_roi_pooling(
        data("y", [None, 12, 8, 8]),
        regions(),
        moves,
        group_size=[2, 3],
        pooled_height=2,
        pooled_width=3,
        position_sensitive=True,
    )
    assert own.shape == (-1, 2, 2, 3)
    assert "output_dim=2" in written()[1]


def test_priors_and_their_boxes():
    x, image = data(shape=[None, 3, 2, 4]), data("image", [None, 3, 16, 32])
    boxes, variances = layers.prior_box(x, image, 4.0, 8.0, steps=[8.0, 4.0])
    assert (boxes.shape, variances.shape) == ((2, 4, 2, 4), (2, 4, 2, 4))
    assert boxes.stop_gradient
    assert "step_h=4.0" in written()[0]
    flat, _ = layers.density_prior_box(x, image, [2], [4.0], [1.0], flatten_to_2d=True)
    assert flat.shape == (32, 4)
    anchors, _ = layers.anchor_generator(x, [32.0], [0.5, 1.0], stride=[16.0, 16.0])
    assert anchors.shape == (2, 4, 2, 4)
    with refused(ArgumentError, "expected steps across and down"):
        layers.prior_box(x, image, 4.0, steps=[1.0])
    with refused(ArgumentError, "expected stride to be a number or a list"):
        layers.anchor_generator(x, 32.0, 1.0)


def test_boxes_are_coded_by_a_list_of_variances():
    priors, boxes = np.float32([[0, 0, 2, 2]]), np.float32([[1, 1, 3, 3]])
    out = layers.box_coder(data("p", [1, 4]), [0.5, 0.5, 1, 1], data("t"))
    assert run(out, p=priors, t=boxes).tolist() == [[[1, 1, 0, 0]]]
    priors, boxes = data("q", [1, 4]), data("u")
    with refused(ArgumentError, "expected prior_box_var to be a variable or a list"):
        layers.box_coder(priors, 0.5, boxes)


def test_boxes_overlap_and_are_matched():
    alike = layers.iou_similarity(data(), data("y", [3, 4]))
    rows, numbers = layers.bipartite_match(alike)
    assert (rows.shape, numbers.shape) == ((1, 3), (1, 3))
    x = np.float32([[0, 0, 2, 2], [4, 4, 6, 6]])
    y = np.float32([[4, 4, 6, 6], [9, 9, 9, 9], [0, 0, 2, 2]])
    assert run(rows, x=x, y=y).tolist() == [[1, -1, 0]]


def test_targets_are_the_rows_that_match():
    out, weight = layers.target_assign(data(shape=[None, 1, 2]), data("m", [1, 3], "int32"))
    assert (out.shape, weight.shape) == ((1, 3, 2), (1, 3, 1))
    found = run(out, weight, x=np.float32([[[1, 2]], [[3, 4]]]), m=np.int32([[1, -1, 0]]))
    assert [v.tolist() for v in found] == [[[[3, 4], [0, 0], [1, 2]]], [[[1], [0], [1]]]]


def test_a_detector_is_trained():
    x = layers.conv2d(images(), 14, 1)
    boxes, labels = data("boxes", [None, 5, 4]), data("labels", [None, 5], "int32")
    anchors = [10, 13, 16, 30, 33, 23]
    loss = layers.mean(layers.yolov3_loss(x, boxes, labels, anchors, [0, 1], 2, 0.7, 32))
    found, scores = layers.yolo_box(x, data("size", [None, 2], "int32"), anchors[:4], 2, 0.01, 32)
    assert (found.shape, scores.shape) == ((-1, 128, 4), (-1, 128, 2))
    fluid.optimizer.SGD(0.01).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    rng = np.random.default_rng(0)
    feed = dict(
        x=IMAGES,
        boxes=rng.uniform(0.2, 0.6, size=[2, 5, 4]).astype("float32"),
        labels=rng.integers(0, 2, size=[2, 5]).astype("int32"),
        size=np.int32([[256, 256]] * 2),
    )
    losses = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(5)]
    assert losses[-1] < losses[0]


def test_boxes_are_clipped_and_decoded():
    assert layers.box_clip(data(shape=[None, 5, 4]), data("info", [None, 3])).shape == (-1, 5, 4)
    assert layers.polygon_box_transform(data("map", [None, 8, 2, 3])).shape == (-1, 8, 2, 3)
    decoded, best = layers.box_decoder_and_assign(
        data("p"), data("v", [4]), data("t", [None, 8]), data("s", [None, 2]), 4.1
    )
    assert (decoded.shape, best.shape) == ((-1, 8), (-1, 4))


def test_channels_must_be_known():
    x, rois, moves = data(shape=[None, -1, 8, 8]), data("r"), data("t", [None, 2, 2, 3])
    with refused(ShapeError, "the number of channels of .x. to be known"):
        layers.deformable_roi_pooling(x, rois, moves)
