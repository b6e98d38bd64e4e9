"""Samples of the detector YOLO."""

import numpy as np

from .form import Sample, samples

ANCHORS = dict(anchors=[10, 13, 16, 30, 33, 23], class_num=2)


@samples("yolo_box")
def yolo_box(rng):
    inputs = dict(X=rng.normal(size=[2, 21, 3, 4]), ImgSize=np.array([[90, 120], [70, 80]]))
    yield Sample(inputs, dict(ANCHORS, conf_thresh=0.4))
    yield Sample(inputs, dict(ANCHORS, clip_bbox=False, scale_x_y=1.2), name="free")
    inputs = dict(X=rng.normal(size=[2, 24, 3, 4]), ImgSize=inputs["ImgSize"])
    attrs = dict(ANCHORS, by_side=True, iou_aware=True, iou_aware_factor=0.3)
    yield Sample(inputs, attrs, name="aware")


def truths(rng):
    """Output of a detector, true boxes, their classes and scores."""
    boxes = rng.uniform(0.15, 0.6, size=[2, 5, 4])
    boxes[1, 3] = 0  # stands for no box
    return dict(
        X=rng.normal(size=[2, 14, 3, 4]),
        GTBox=boxes,
        GTLabel=rng.integers(0, 2, size=[2, 5]),
        GTScore=rng.uniform(0.5, 1, size=[2, 5]),
    )


@samples("yolov3_loss", "yolov3_targets")
def yolov3_loss(rng, type):
    inputs = truths(rng)
    attrs = dict(ANCHORS, anchor_mask=[1, 2], ignore_thresh=0.3)
    yield Sample(inputs, attrs)
    del inputs["GTScore"]
    yield Sample(inputs, dict(attrs, use_label_smooth=False, scale_x_y=1.1), name="unscored")
