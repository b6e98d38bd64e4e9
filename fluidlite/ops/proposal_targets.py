"""What proposed regions are to become: a class, and where its true box is."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, OutOfRangeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import REQUIRED, need_least, need_range
from ..opdef.definition import DetachedValues
from ..opdef.spec import Spec, need_count, need_integer, same_float
from .anchor_targets import TrueBoxes, need_same_rows, relative, sample
from .boxes import need_boxes, overlap
from .proposals import by_image, image_sizes, need_images


class generate_proposal_labels(TrueBoxes, DetachedValues):
    """Rois, LabelsInt32, BboxTargets = regions to learn from, with their classes and true boxes.

    Regions are objects that overlap a true box by ``fg_thresh``, and background those that overlap
    it by less than ``bg_thresh_hi``.  (Girshick, Fast R-CNN, ICCV 2015.)

    RpnRois: proposed regions [n, 4], those of an image being a sequence; in pixels after scaling.
    GtClasses: the classes of true boxes, [boxes, 1]; sequences as GtBoxes.
    IsCrowd: 1 for boxes of many objects, which are no regions, [boxes, 1]; sequences as GtBoxes.
    GtBoxes: the true boxes, [boxes, 4], those of an image being a sequence; before scaling.
    ImInfo: height, width and scale of each image, [images, 3].
    BboxTargets: the true boxes relative to Rois, at the place of the class: [n, 4 * class_nums].
    BboxInsideWeights, BboxOutsideWeights: 1 where there is a target, 0 elsewhere.
    batch_size_per_im: how many regions of an image are chosen.
    fg_fraction: how many of them are objects, at most.
    bg_thresh_lo: how much background overlaps at least.
    bbox_reg_weights: what the numbers of targets are divided by.
    class_nums: how many classes there are, with the background.
    use_random: regions are drawn; if not, the first ones are taken.
    is_cascade_rcnn: RpnRois are those of a stage before, which begin with as many rows as there are
        true boxes, before scaling; all of them count.
    is_cls_agnostic: there are two classes of boxes: background and objects.
    Rois: [n, 4].
    LabelsInt32: their classes, [n, 1].
    fg_thresh: regions that overlap a true box so much are objects.
    bg_thresh_hi: what background overlaps by less than.
    """

    signature = (
        "RpnRois[], GtClasses[], IsCrowd[], GtBoxes[], ImInfo -> Rois[], LabelsInt32[], "
        "BboxTargets[], BboxInsideWeights[], BboxOutsideWeights[]"
    )
    batch_size_per_im: int = REQUIRED
    fg_fraction: float = REQUIRED
    fg_thresh: float = REQUIRED
    bg_thresh_hi: float = REQUIRED
    bg_thresh_lo: float = REQUIRED
    bbox_reg_weights: list[float] = REQUIRED
    class_nums: int = REQUIRED
    use_random: bool = True
    is_cascade_rcnn: bool = False
    is_cls_agnostic: bool = False
    random: ClassVar[bool] = True

    def infer(
        self, RpnRois: Spec, GtClasses: Spec, IsCrowd: Spec, GtBoxes: Spec, ImInfo: Spec
    ) -> Specs:
        same_float(RpnRois=RpnRois, GtBoxes=GtBoxes, ImInfo=ImInfo)
        need_integer(GtClasses=GtClasses, IsCrowd=IsCrowd)
        need_boxes("RpnRois", RpnRois)
        need_boxes("GtBoxes", GtBoxes)
        need_images(ImInfo)
        rows = GtBoxes.shape[0]
        need_count("GtClasses", GtClasses, rows, "one for each of GtBoxes", GtBoxes)
        need_count("IsCrowd", IsCrowd, rows, "one for each of GtBoxes", GtBoxes)
        need_least(self, 1, "batch_size_per_im", "class_nums")
        need_range(self, 0, 1, "fg_fraction")
        if len(self.bbox_reg_weights) != 4 or 0 in self.bbox_reg_weights:
            raise AttributeValueError(
                f"expected bbox_reg_weights of 4 numbers other than 0, got "
                f"{list(self.bbox_reg_weights)}"
            )
        rois = RpnRois.with_shape([-1, 4])._replace(lod_level=0)
        targets = rois.with_shape([-1, 4 * self.class_nums])
        return rois, rois.with_dim(1, 1).with_dtype(DType.INT32), targets, targets, targets

    def run(self, xp, rng, RpnRois, GtClasses, IsCrowd, GtBoxes, ImInfo):
        generator = rng(0) if self.use_random else None
        proposed, parts = by_image("RpnRois", RpnRois, len(ImInfo))
        boxes, of_boxes = by_image("GtBoxes", GtBoxes, len(ImInfo))
        classes, of_classes = by_image("GtClasses", GtClasses)
        crowd, of_crowd = by_image("IsCrowd", IsCrowd)
        need_same_rows("GtClasses", of_classes, of_boxes)
        need_same_rows("IsCrowd", of_crowd, of_boxes)
        self.need_classes(classes)
        targets, offsets = [], [0]
        for (begin, end), (first, last), info in zip(parts, of_boxes, image_sizes(ImInfo)):
            targets.append(
                self.of_image(
                    xp,
                    proposed[begin:end],
                    boxes[first:last],
                    xp.reshape(classes[first:last], -1),
                    xp.reshape(crowd[first:last], -1),
                    info[2],
                    generator,
                )
            )
            offsets.append(offsets[-1] + len(targets[-1][0]))
        lod = (tuple(offsets),)
        return tuple(LoDTensor(xp.concatenate(part), lod) for part in zip(*targets))

    def need_classes(self, classes: Array) -> None:
        """Check that classes are there; where boxes have no classes, each of objects counts."""
        expected, wrong = "GtClasses of at least 0", classes < 0
        if not self.is_cls_agnostic:
            expected = f"GtClasses in [0, {self.class_nums}), as class_nums says"
            wrong = wrong | (classes >= self.class_nums)
        if wrong.any():
            raise OutOfRangeError(f"expected {expected}, got {classes[wrong][0]}")

    def of_image(self, xp, proposed, boxes, classes, crowd, scale, generator):
        """The outputs for one image."""
        regions = proposed.copy() if self.is_cascade_rcnn else xp.concatenate([boxes, proposed])
        regions[len(boxes) :] /= scale
        crowded = xp.zeros(len(regions), bool)
        crowded[: len(boxes)] = crowd[: len(regions)] != 0
        if self.is_cascade_rcnn:
            there = (regions[:, 2:] - regions[:, :2] + 1 > 0).all(axis=1)
            regions, crowded = regions[there], crowded[there]
        chosen, matched, objects = self.chosen(xp, regions, boxes, crowded, generator)
        regions = regions[chosen]
        labels = xp.zeros(len(chosen), "int32")
        labels[:objects] = classes[matched]
        targets = xp.zeros((len(chosen), self.class_nums, 4), boxes.dtype)
        inside = xp.zeros_like(targets)
        if objects:
            weights = xp.asarray(self.bbox_reg_weights, dtype=boxes.dtype)
            moves = relative(xp, boxes[matched], regions[:objects]) / weights
            places = xp.flatnonzero(labels > 0)
            column = xp.ones_like(labels) if self.is_cls_agnostic else labels
            targets[places, column[places]] = moves[places]
            inside[places, column[places]] = 1
        flat = (len(chosen), 4 * self.class_nums)
        inside = xp.reshape(inside, flat)
        rois = (regions * scale).astype(boxes.dtype)
        return rois, labels[:, None], xp.reshape(targets, flat), inside, inside

    def chosen(
        self, xp: Any, regions: Array, boxes: Array, crowded: Array, generator: Any
    ) -> tuple[Any, ...]:
        """Which regions, first the objects; the true boxes of those; how many they are."""
        alike = overlap(xp, regions[:, None], boxes[None], 1).astype(boxes.dtype)
        best = alike.max(axis=1, initial=0)
        best[crowded] = -1
        near = (best >= self.fg_thresh) & bool(len(boxes))
        far = ~near & (best >= self.bg_thresh_lo) & (best < self.bg_thresh_hi)
        objects, background = xp.flatnonzero(near), xp.flatnonzero(far)
        if not self.is_cascade_rcnn:
            most = int(np.floor(self.batch_size_per_im * np.float32(self.fg_fraction)))
            objects = sample(objects, most, generator)
            background = sample(background, self.batch_size_per_im - len(objects), generator)
        matched = xp.argmax(alike[objects], axis=1) if len(objects) else objects
        return xp.concatenate([objects, background]), matched, len(objects)
