"""What RetinaNet found: boxes of all levels of a pyramid, decoded and suppressed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError
from ..ground.values import LoDTensor
from ..opdef.annotations import Array
from ..opdef.attribute import REQUIRED
from ..opdef.definition import DetachedValues
from ..opdef.spec import need_float, need_ndim, need_shape, same_dtype
from .boxes import need_boxes
from .overlaps import BoxOverlaps, survivors
from .proposals import image_sizes, need_images
from .suppression import ranked


class retinanet_detection_output(DetachedValues):
    """The boxes of BBoxes that no better one of their class overlaps too much, with class and
    score.

    (Lin, Goyal, Girshick, He and Dollar, Focal loss for dense object detection, ICCV 2017.)

    BBoxes: of each level, boxes relative to Anchors, [N, M, 4].
    Scores: of each level, without a background, [N, M, classes].  The first class is called 1.
    Anchors: of each level, [M, 4].
    ImInfo: height, width and scale of each image, [N, 3]; Out is in pixels before scaling.
    score_threshold: what a score must be above; on the last level, 0.
    nms_top_k: how many boxes of a level are looked at, the best; all where it is
        negative.
    nms_threshold: overlaps above it suppress.
    nms_eta: what ``nms_threshold`` is multiplied with at each box that is kept, while it is above
        0.5.
    keep_top_k: how many boxes of an image are kept; all where it is negative.
    """

    signature = "BBoxes*, Scores*, Anchors*, ImInfo -> Out[]"
    score_threshold: float = REQUIRED
    nms_top_k: int = REQUIRED
    nms_threshold: float = REQUIRED
    nms_eta: float = REQUIRED
    keep_top_k: int = REQUIRED

    def infer(self, BBoxes, Scores, Anchors, ImInfo):
        if not len(BBoxes) == len(Scores) == len(Anchors):
            raise ShapeError(
                f"expected boxes, scores and anchors of as many levels, got {len(BBoxes)}, "
                f"{len(Scores)} and {len(Anchors)}"
            )
        images = classes = -1
        for k, (boxes, scores, anchors) in enumerate(zip(BBoxes, Scores, Anchors)):
            names = f"BBoxes[{k}]", f"Scores[{k}]", f"Anchors[{k}]"
            need_float(**{names[0]: boxes})
            same_dtype(**dict(zip(names, (boxes, scores, anchors))))
            need_boxes(names[0], boxes, 3)
            need_ndim(3, **{names[1]: scores})
            need_boxes(names[2], anchors)
            images = boxes.shape[0] if images == -1 else images
            classes = scores.shape[2] if classes == -1 else classes
            wanted = [images, boxes.shape[1], classes]
            need_shape(names[1], scores, wanted, "a score for each box and class")
            need_shape(names[2], anchors, (boxes.shape[1], 4))
        need_images(ImInfo, images)
        return BBoxes[0].with_shape([-1, 6])

    def run(
        self, xp: Any, BBoxes: list[Array], Scores: list[Array], Anchors: list[Array], ImInfo: Array
    ) -> Array:
        rows, offsets = [], [0]
        for i, info in enumerate(image_sizes(ImInfo)):
            found = self.of_image(xp, [b[i] for b in BBoxes], [s[i] for s in Scores], Anchors, info)
            rows.append(found)
            offsets.append(offsets[-1] + len(found))
        if not offsets[-1]:
            return LoDTensor(xp.zeros((0, 6), BBoxes[0].dtype), (tuple(offsets),))
        return LoDTensor(xp.concatenate(rows), (tuple(offsets),))

    def of_image(
        self, xp: Any, moves: list[Array], scores: list[Array], anchors: list[Array], info: Array
    ) -> Array:
        """The rows of one image."""
        boxes, values, labels = [], [], []
        for level, (moved, values_of, anchors_of) in enumerate(zip(moves, scores, anchors)):
            last = level == len(moves) - 1
            threshold = 0.0 if last else self.score_threshold
            chosen = ranked(xp, xp.reshape(values_of, -1), threshold, self.nms_top_k)
            place, label = chosen // values_of.shape[1], chosen % values_of.shape[1]
            boxes.append(self.placed(xp, moved[place], anchors_of[place], info))
            values.append(xp.reshape(values_of, -1)[chosen])
            labels.append(label)
        boxes, values, labels = (xp.concatenate(each) for each in (boxes, values, labels))
        surviving = [xp.zeros(0, "int64")]
        threshold = boxes.dtype.type(self.nms_threshold)
        for c in xp.unique(labels).tolist():
            mine = xp.flatnonzero(labels == c)
            order = mine[xp.argsort(-values[mine], kind="stable")]
            overlaps = BoxOverlaps(xp, boxes[order], 1)
            most = self.keep_top_k
            surviving.append(
                order[survivors(xp, len(order), threshold, self.nms_eta, overlaps, most)]
            )
        surviving = xp.concatenate(surviving)
        surviving = surviving[xp.argsort(-values[surviving], kind="stable")]
        surviving = surviving[: self.keep_top_k] if self.keep_top_k >= 0 else surviving
        heads = xp.stack([labels[surviving] + 1, values[surviving]], axis=1)
        return xp.concatenate([heads.astype(boxes.dtype), boxes[surviving]], axis=1)

    def placed(self, xp: Any, moves: Array, anchors: Array, info: Array) -> Array:
        """Boxes in the image before scaling."""
        height, width, scale = info
        sizes = anchors[:, 2:] - anchors[:, :2] + 1
        centres = moves[:, :2] * sizes + anchors[:, :2] + sizes / 2
        sizes = xp.exp(moves[:, 2:]) * sizes
        boxes = xp.concatenate([centres - sizes / 2, centres + sizes / 2 - 1], axis=1) / scale
        most = np.round(np.stack([width, height, width, height]) / scale) - 1
        return xp.maximum(xp.minimum(boxes, most), 0).astype(moves.dtype)
