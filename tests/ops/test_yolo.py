"""The detector YOLO against loops over places, anchors and boxes."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
ANCHORS = [10, 13, 16, 30, 33, 23]
SIZES = np.array(ANCHORS).reshape(3, 2)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("scale", [1.0, 1.25])
@pytest.mark.parametrize("clip", [True, False])
def test_boxes_are_found_at_places(scale, clip):
    x, sizes = rng.normal(size=[2, 21, 3, 4]), np.array([[90, 120], [70, 80]])
    boxes, scores = f.yolo_box(
        x, sizes, anchors=ANCHORS, class_num=2, conf_thresh=0.5, clip_bbox=clip, scale_x_y=scale
    )
    boxes, scores = boxes.reshape(2, 3, 3, 4, 4), scores.reshape(2, 3, 3, 4, 2)
    for n, a, i, j in np.ndindex(2, 3, 3, 4):
        tx, ty, tw, th, sure, *classes = x[n, 7 * a : 7 * a + 7, i, j]
        if sigmoid(sure) < 0.5:
            assert not boxes[n, a, i, j].any()
            assert not scores[n, a, i, j].any()
            continue
        height, width = sizes[n]
        bx = (j + 0.5 + (sigmoid(tx) - 0.5) * scale) / 3 * width  # the rows count for both
        by = (i + 0.5 + (sigmoid(ty) - 0.5) * scale) / 3 * height
        half = np.exp([tw, th]) * SIZES[a] / (32 * 3) * [width, height] / 2
        box = np.array([bx - half[0], by - half[1], bx + half[0], by + half[1]])
        if clip:
            box = np.array(
                [max(box[0], 0), max(box[1], 0), min(box[2], width - 1), min(box[3], height - 1)]
            )
        np.testing.assert_allclose(boxes[n, a, i, j], box)
        np.testing.assert_allclose(scores[n, a, i, j], sigmoid(sure) * sigmoid(np.array(classes)))


def overlap(a, b):
    """The intersection over the union of boxes by centre and size."""
    sides = [
        min(a[k] + a[k + 2] / 2, b[k] + b[k + 2] / 2)
        - max(a[k] - a[k + 2] / 2, b[k] - b[k + 2] / 2)
        for k in (0, 1)
    ]
    common = max(sides[0], 0) * max(sides[1], 0)
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def logistic(x, target):
    return np.log1p(np.exp(x)) - x * target


@pytest.mark.parametrize("smooth", [True, False])
def test_loss_compares_with_true_boxes(smooth):
    mask, thresh = [1, 2], 0.3
    x, truth = rng.normal(size=[2, 14, 3, 4]), rng.uniform(0.15, 0.6, size=[2, 5, 4])
    truth[1, 3] = 0
    label, score = rng.integers(0, 2, size=[2, 5]), rng.uniform(0.5, 1, size=[2, 5])
    outs = f.yolov3_loss.all(
        x,
        truth,
        label,
        score,
        anchors=ANCHORS,
        anchor_mask=mask,
        class_num=2,
        ignore_thresh=thresh,
        use_label_smooth=smooth,
    )
    low = 1 / 40 if smooth else 0
    for n in range(2):
        loss, there = 0.0, np.zeros([2, 3, 4])
        real = [b for b in range(5) if truth[n, b, 2] > 0]
        for a, i, j in np.ndindex(2, 3, 4):
            tx, ty, tw, th = x[n, 7 * a : 7 * a + 4, i, j]
            size = np.exp([tw, th]) * SIZES[mask[a]] / (32 * 3)
            box = [(j + sigmoid(tx)) / 4, (i + sigmoid(ty)) / 3, *size]
            if max(overlap(box, truth[n, b]) for b in real) > thresh:
                there[a, i, j] = -1
        for b in range(5):
            if b not in real:
                assert outs["GTMatchMask"][n, b] == -1
                continue
            cx, cy, w, h = truth[n, b]
            alike = [overlap([0, 0, w, h], [0, 0, *(s / 96)]) for s in SIZES]
            best = int(np.argmax(alike))
            a = mask.index(best) if best in mask else -1
            assert outs["GTMatchMask"][n, b] == a
            if a == -1:
                continue
            i, j = int(cy * 3), int(cx * 4)
            there[a, i, j] = score[n, b]
            at = x[n, 7 * a : 7 * a + 7, i, j]
            weight = (2 - w * h) * score[n, b]
            loss += (logistic(at[0], cx * 4 - j) + logistic(at[1], cy * 3 - i)) * weight
            loss += np.abs(at[2:4] - np.log([w, h] * np.array(96) / SIZES[best])).sum() * weight
            wanted = np.where(np.arange(2) == label[n, b], 1 - low, low)
            loss += logistic(at[5:], wanted).sum() * score[n, b]
        np.testing.assert_allclose(outs["ObjectnessMask"][n], there)
        sure = x[n].reshape(2, 7, 3, 4)[:, 4]
        loss += (logistic(sure, 1) * there)[there > 0].sum() + logistic(sure, 0)[there == 0].sum()
        assert outs["Loss"][n] == pytest.approx(loss)


@pytest.mark.parametrize(
    "error, message, type, attrs",
    [
        (ShapeError, "expected X of 21 channels", "yolo_box", dict(anchors=ANCHORS)),
        (AttributeValueError, "anchors of a width and a height", "yolo_box", dict(anchors=[10])),
        (AttributeValueError, "class_num of at least 1", "yolo_box", dict(class_num=0)),
        (
            AttributeValueError,
            "anchor_mask of numbers in [0, 3)",
            "yolov3_loss",
            dict(anchor_mask=[3]),
        ),
        (ShapeError, "GTLabel of shape [2, 5]", "yolov3_loss", dict(label=(2, 4))),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs):
    attrs = dict(attrs)
    inputs = dict(X=((2, 14, 3, 4), "float32"))
    if type == "yolo_box":
        inputs.update(ImgSize=((2, 2), "int32"))
        attrs = {"anchors": [10, 13, 16, 30], "class_num": 2, **attrs}
    else:
        label = attrs.pop("label", (2, 5))
        inputs.update(GTBox=((2, 5, 4), "float32"), GTLabel=(label, "int32"))
        attrs = {"anchors": ANCHORS, "anchor_mask": [0, 1], "class_num": 2, **attrs}
    with pytest.raises(error) as raised:
        infer(type, attrs, **inputs)
    assert message in str(raised.value)
