"""What anchors are to become: which of them are objects, and where those are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, need_least, need_range
from ..opdef.definition import DetachedValues
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.spec import Spec, need_count, need_integer, need_shape, same_float
from .boxes import need_boxes, overlap
from .proposals import by_image, image_sizes, need_images

NEAR = 1e-5  #: how far an overlap may be below the largest one, to count as that


def relative(xp: Any, boxes: Array, to: Array) -> Array:
    """Boxes relative to others, in whole pixels: centres by sizes, sizes by logarithms."""
    sizes, of = boxes[:, 2:] - boxes[:, :2] + 1, to[:, 2:] - to[:, :2] + 1
    moved = (boxes[:, :2] + sizes / 2) - (to[:, :2] + of / 2)
    with np.errstate(invalid="ignore", divide="ignore"):  # NaN for boxes upside down
        return xp.concatenate([moved / of, xp.log(sizes / of)], axis=1).astype(boxes.dtype)


class TrueBoxes(WarnsOfInput):
    """An operator on true boxes in GtBoxes: nothing overlaps those that are upside down."""

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        boxes = bare(ins["GtBoxes"])
        wrong = np.flatnonzero((boxes[:, 2:] < boxes[:, :2]).any(axis=1))
        if len(wrong):
            yield (
                "expected GtBoxes of (left, top, right, bottom) with left <= right and top <= "
                f"bottom, got {boxes[wrong[0]].tolist()} in row {wrong[0]}; nothing overlaps it"
            )


def sample(places: Array, count: int, generator: Any) -> Array:
    """At most ``count`` of some places: the first, or drawn ones where there is a generator."""
    if len(places) <= count:
        return places
    if generator is None:
        return places[:count]
    return places[np.sort(generator.choice(len(places), count, replace=False))]


class AnchorTargets(TrueBoxes, DetachedValues, abstract=True):
    """What anchors are compared with.

    Anchor: [anchors, 4].
    GtBoxes: the true boxes, [n, 4], those of an image being a sequence; in pixels before scaling.
    IsCrowd: 1 for boxes of many objects, which do not count, [n, 1]; sequences as GtBoxes.
    ImInfo: height, width and scale of each image, [images, 3].
    LocationIndex: which anchors are objects; those of all images are counted on.
    ScoreIndex: those, and which anchors are background.
    TargetBBox: the true boxes relative to the anchors of LocationIndex.
    TargetLabel: the classes of the anchors of ScoreIndex; 0 for background.
    BBoxInsideWeight: whether the four numbers of TargetBBox count.
    """

    def check(self, low, high, Anchor, GtBoxes, IsCrowd, ImInfo, GtLabels=None):
        """Check everything; the specs of the outputs."""
        same_float(Anchor=Anchor, GtBoxes=GtBoxes, ImInfo=ImInfo)
        need_integer(IsCrowd=IsCrowd)
        need_boxes("GtBoxes", GtBoxes)
        need_shape("Anchor", Anchor, (-1, 4))
        rows = GtBoxes.shape[0]
        need_count("IsCrowd", IsCrowd, rows, "one for each of GtBoxes", GtBoxes)
        need_count("GtLabels", GtLabels, rows, "one for each of GtBoxes", GtBoxes)
        need_images(ImInfo)
        if not 0 <= low <= high <= 1:
            raise AttributeValueError(
                f"expected 0 <= negative_overlap <= positive_overlap <= 1, got {low:g} and {high:g}"
            )
        index = Anchor.with_shape([-1]).with_dtype(DType.INT32)
        box = Anchor.with_shape([-1, 4])
        return index, index, box, index.with_shape([-1, 1]), box

    def images(
        self, xp: Any, GtBoxes: Any, IsCrowd: Any, ImInfo: Array, GtLabels: Any = None
    ) -> Iterator[Any]:
        """For each image its true boxes in pixels after scaling, their labels, and its ImInfo."""
        boxes, parts = by_image("GtBoxes", GtBoxes, len(ImInfo))
        crowd, crowds = by_image("IsCrowd", IsCrowd)
        need_same_rows("IsCrowd", crowds, parts)
        labels = None
        if GtLabels is not None:
            labels, of_labels = by_image("GtLabels", GtLabels)
            need_same_rows("GtLabels", of_labels, parts)
        for (begin, end), info in zip(parts, image_sizes(ImInfo)):
            counts = xp.flatnonzero(xp.reshape(crowd[begin:end], -1) == 0) + begin
            of_image = None if labels is None else xp.reshape(labels, -1)[counts]
            yield (boxes[counts] * info[2]).astype(boxes.dtype), of_image, info

    def assigned(self, xp, anchors, boxes, low, high, draw_objects, draw_background):
        """Of the anchors of an image: which are objects, how many that stand in for them come
        before, which are background, and the true box of each anchor.
        """
        alike = overlap(xp, anchors[:, None], boxes[None], 1).astype(anchors.dtype)
        if not len(boxes):
            best, place = xp.zeros(len(anchors), anchors.dtype), None
            candidates = xp.zeros(0, "int64")
        else:
            best, place = xp.max(alike, axis=1), xp.argmax(alike, axis=1)
            top = alike.max(axis=0, initial=0)
            candidates = xp.flatnonzero((best >= high) | (xp.abs(alike - top) < NEAR).any(axis=1))
        candidates = draw_objects(candidates)
        background = draw_background(xp.flatnonzero(best < low), len(candidates))
        objects = xp.setdiff1d(candidates, background)
        stand_ins = xp.full(len(candidates) - len(objects), candidates[0] if len(candidates) else 0)
        return objects, stand_ins, xp.sort(background), place

    def gathered(self, xp, anchors, dtype, each):
        """The outputs.

        Args:
            xp: the array namespace.
            anchors: how many there are.
            dtype: of boxes.
            each: for each image: objects, stand-ins, background, relative boxes, labels.
        """
        parts, ends = [[], [], [], [], []], [[0], [0]]
        for i, (objects, stand_ins, background, boxes, labels) in enumerate(each):
            located = xp.concatenate([stand_ins, objects]).astype("int64")
            scored = xp.concatenate([objects, background])
            weights = xp.ones((len(located), 4), dtype)
            weights[: len(stand_ins)] = 0
            labelled = xp.zeros((len(scored), 1), "int32")
            labelled[: len(objects), 0] = labels
            found = (located + i * anchors, scored + i * anchors, boxes, labelled, weights)
            for part, one in zip(parts, found):
                part.append(one)
            for end, one in zip(ends, (located, scored)):
                end.append(end[-1] + len(one))
        parts = [xp.concatenate(part) for part in parts]
        parts[:2] = [part.astype("int32") for part in parts[:2]]
        lods = [(tuple(ends[k]),) for k in (0, 1, 0, 1, 0)]
        return tuple(LoDTensor(part, lod) for part, lod in zip(parts, lods))


def need_same_rows(name: str, given: list[Any], wanted: list[Any], of: str = "GtBoxes") -> None:
    """Check that sequences are as those of another input."""
    if given != wanted:
        raise LoDError(
            f"expected {name} with the sequences of {of}, of lengths "
            f"{[end - begin for begin, end in wanted]}, got {[end - begin for begin, end in given]}"
        )


class rpn_target_assign(AnchorTargets):
    """LocationIndex, ScoreIndex, TargetBBox, TargetLabel, BBoxInsideWeight = targets of anchors.

    Anchors are objects that overlap a true box most, or by ``rpn_positive_overlap``; background are
    those that overlap all by less than ``rpn_negative_overlap``.  (Ren, He, Girshick and Sun,
    Faster R-CNN, NIPS 2015.)

    rpn_batch_size_per_im: how many anchors of an image are chosen.
    rpn_straddle_thresh: how far anchors may reach out of the image, in pixels; below 0, anyhow.
    rpn_fg_fraction: how many of them are objects, at most.
    use_random: they are drawn; if not, the first ones are taken.
    """

    signature = (
        "Anchor, GtBoxes[], IsCrowd[], ImInfo -> LocationIndex[], ScoreIndex[], TargetBBox[], "
        "TargetLabel[], BBoxInsideWeight[]"
    )
    rpn_batch_size_per_im: int = 256
    rpn_straddle_thresh: float = REQUIRED
    rpn_positive_overlap: float = 0.7
    rpn_negative_overlap: float = 0.3
    rpn_fg_fraction: float = 0.25
    use_random: bool = True
    random: ClassVar[bool] = True

    def infer(self, Anchor: Spec, GtBoxes: Spec, IsCrowd: Spec, ImInfo: Spec) -> Specs:
        need_least(self, 1, "rpn_batch_size_per_im")
        need_range(self, 0, 1, "rpn_fg_fraction")
        low, high = self.rpn_negative_overlap, self.rpn_positive_overlap
        return self.check(low, high, Anchor, GtBoxes, IsCrowd, ImInfo)

    def run(
        self, xp: Any, rng: Any, Anchor: Array, GtBoxes: Array, IsCrowd: Array, ImInfo: Array
    ) -> Arrays:
        generator = rng(0) if self.use_random else None
        objects_at_most = int(np.float32(self.rpn_fg_fraction) * self.rpn_batch_size_per_im)
        per_image = []
        for boxes, _, info in self.images(xp, GtBoxes, IsCrowd, ImInfo):
            inside = xp.flatnonzero(self.inside(Anchor, info))
            objects, stand_ins, background, place = self.assigned(
                xp,
                Anchor[inside],
                boxes,
                self.rpn_negative_overlap,
                self.rpn_positive_overlap,
                lambda found: sample(found, objects_at_most, generator),
                lambda found, taken: sample(found, self.rpn_batch_size_per_im - taken, generator),
            )
            located = xp.concatenate([stand_ins, objects]).astype("int64")
            targets = xp.zeros((0, 4), Anchor.dtype)
            if len(located):
                targets = relative(xp, boxes[place[located]], Anchor[inside[located]])
            parts = (objects, stand_ins, background)
            per_image.append((*(inside[k.astype("int64")] for k in parts), targets, 1))
        return self.gathered(xp, len(Anchor), Anchor.dtype, per_image)

    def inside(self, anchors: Array, info: Array) -> Array:
        """Which anchors do not reach out of the image too far."""
        most = self.rpn_straddle_thresh
        if most < 0:
            return anchors[:, 0] == anchors[:, 0]
        height, width = info[:2]
        upper = (anchors[:, 2] < width + most) & (anchors[:, 3] < height + most)
        return (anchors[:, :2] >= -most).all(axis=1) & upper


class retinanet_target_assign(AnchorTargets):
    """LocationIndex, ScoreIndex, TargetBBox, TargetLabel, BBoxInsideWeight = targets of anchors.

    Anchors are objects that overlap a true box most, or by ``positive_overlap``; background are
    those that overlap all by less than ``negative_overlap``.  (Lin, Goyal, Girshick, He and Dollar,
    Focal loss for dense object detection, ICCV 2017.)

    GtLabels: the classes of GtBoxes, from 1, [n, 1].
    ForegroundNumber: how many anchors of each image are objects, and 1 more.
    """

    signature = (
        "Anchor, GtBoxes[], GtLabels[], IsCrowd[], ImInfo -> LocationIndex[], ScoreIndex[], "
        "TargetBBox[], TargetLabel[], BBoxInsideWeight[], ForegroundNumber[]"
    )
    positive_overlap: float = 0.5
    negative_overlap: float = 0.4

    def infer(
        self, Anchor: Spec, GtBoxes: Spec, GtLabels: Spec, IsCrowd: Spec, ImInfo: Spec
    ) -> Specs:
        need_integer(GtLabels=GtLabels)
        low, high = self.negative_overlap, self.positive_overlap
        outs = self.check(low, high, Anchor, GtBoxes, IsCrowd, ImInfo, GtLabels)
        return *outs, outs[3]

    def run(
        self, xp: Any, Anchor: Array, GtBoxes: Array, GtLabels: Array, IsCrowd: Array, ImInfo: Array
    ) -> Arrays:
        per_image, counts = [], []
        for boxes, labels, _ in self.images(xp, GtBoxes, IsCrowd, ImInfo, GtLabels):
            objects, stand_ins, background, place = self.assigned(
                xp,
                Anchor,
                boxes,
                self.negative_overlap,
                self.positive_overlap,
                lambda found: found,
                lambda found, taken: found,
            )
            located = xp.concatenate([stand_ins, objects]).astype("int64")
            targets, classes = xp.zeros((0, 4), Anchor.dtype), xp.zeros(0, "int32")
            if len(located):
                targets = relative(xp, boxes[place[located]], Anchor[located])
                classes = labels[place[objects]]
            per_image.append((objects, stand_ins, background, targets, classes))
            counts.append([len(located) + 1])
        found = self.gathered(xp, len(Anchor), Anchor.dtype, per_image)
        numbers = xp.asarray(counts, dtype="int32")
        return *found, LoDTensor(numbers, (tuple(range(len(counts) + 1)),))
