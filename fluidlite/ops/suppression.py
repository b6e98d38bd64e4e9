"""Of boxes that overlap, those with the best scores: suppression of what is not a maximum."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..errors import LoDError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED
from ..opdef.definition import DetachedValues
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import lod_of
from ..opdef.spec import Spec, need_float, need_ndim, need_shape, same_float
from .boxes import need_boxes
from .overlaps import BoxOverlaps, box_overlaps, overlaps_of, polygon_overlaps, survivors

CORNERS = (4, 8, 16, 24, 32)  #: how many numbers a box or a polygon has


def ranked(xp: Any, scores: Array, threshold: float, most: int, least: Array = None) -> Array:
    """The places of scores above a threshold, the best first; the first ones of equal scores.

    Args:
        xp: the array namespace.
        scores: [n].
        threshold: what they are above.
        most: how many of them; all where it is negative.
        least: what they are at least.
    """
    above = scores > threshold
    above = xp.flatnonzero(above if least is None else above & (scores >= least))
    order = above[xp.argsort(-scores[above], kind="stable")]
    return order if most < 0 else order[:most]


class Suppression(DetachedValues, abstract=True):
    """What is kept of boxes that were found.

    BBoxes: of images with as many boxes each, [N, M, 4]; or a box for each class, [M, classes, 4],
        those of an image being a sequence.  Polygons have 8, 16, 24 or 32 numbers.
    Scores: [N, classes, M]; or [M, classes], those of an image being a sequence.
    background_label: the class that is left out; -1 for none.
    score_threshold: what a score must be above.
    nms_top_k: how many boxes of a class are looked at, the best; all where it is
        negative.
    keep_top_k: how many boxes of an image are kept; all where it is negative.
    normalized: boxes are in parts of the image; if not, in whole pixels, the last one included.
    """

    background_label: int = 0
    score_threshold: float = REQUIRED
    nms_top_k: int = REQUIRED
    keep_top_k: int = REQUIRED
    normalized: bool = True
    corners = CORNERS
    score_dims = (2, 3)
    by_score = False  #: whether classes are mixed, the best box first

    def check(self, BBoxes: Spec, Scores: Spec) -> Any:
        """Check everything; the spec of boxes with a class and a score."""
        same_float(BBoxes=BBoxes, Scores=Scores)
        need_ndim(3, BBoxes=BBoxes)
        need_ndim(self.score_dims, Scores=Scores)
        if BBoxes.shape[2] not in (*self.corners, -1):
            raise ShapeError(
                f"expected BBoxes to hold boxes of {' or '.join(map(str, self.corners))} numbers, "
                f"got shape {list(BBoxes.shape)}"
            )
        if Scores.ndim == 3:
            wanted = [BBoxes.shape[0], Scores.shape[1], BBoxes.shape[1]]
        else:
            wanted = [BBoxes.shape[0], BBoxes.shape[1]]
        need_shape("Scores", Scores, wanted, "a score for each class and box of BBoxes", BBoxes)
        numbers = BBoxes.shape[2]
        return BBoxes.with_shape([-1, -1 if numbers == -1 else numbers + 2])._replace(lod_level=1)

    def images(self, BBoxes: Any, Scores: Any) -> Iterator[Any]:
        """For each image the scores [classes, M], the boxes of a class, and the numbers in Index of
        classes and places.
        """
        boxes, scores = bare(BBoxes), bare(Scores)
        if scores.ndim == 3:
            for i, of_image in enumerate(scores):
                first = i * boxes.shape[1]
                yield of_image, lambda c, i=i: boxes[i], lambda c, k, first=first: first + k
            return
        if not lod_of(Scores) and not lod_of(BBoxes):
            raise LoDError(
                "expected Scores with a sequence for each image, got no LoD; feed a LoDTensor "
                "(create_lod_tensor(array, lengths)), or images of equally many boxes: BBoxes "
                "[N, M, 4] and Scores [N, classes, M]"
            )
        ends = (lod_of(Scores) or lod_of(BBoxes))[-1]
        classes = scores.shape[1]
        for begin, end in pairwise(ends):
            yield (
                scores[begin:end].T,
                lambda c, begin=begin, end=end: boxes[begin:end, c],
                lambda c, k, begin=begin: (begin + k) * classes + c,
            )

    def found(self, xp: Any, scores: Any, boxes: Any, least: Any) -> Any:
        """The places of the boxes of a class that are kept, and their scores.

        Args:
            xp: the array namespace.
            scores: of the class, [M].
            boxes: of the class, [M, numbers].
            least: a score; those below do not count.  None for all.
        """
        raise NotImplementedError

    def kept(self, xp, scores, boxes_of):
        """Classes, places, scores and boxes of what is kept of an image."""
        classes = [c for c in range(len(scores)) if c != self.background_label]
        per_class, best, least = [], scores[:0, :0].reshape(-1), None
        for c in classes:
            per_class.append(self.found(xp, scores[c], boxes_of(c), least))
            best = xp.concatenate([best, per_class[-1][1]])
            if 0 < self.keep_top_k <= len(best):  # what is worse than these will not be kept
                best = xp.partition(best, len(best) - self.keep_top_k)[-self.keep_top_k :]
                least = best[0]
        none, no_places = boxes_of(0)[:0], xp.zeros(0, "int64")
        parts = [
            [no_places, *(xp.full(len(k), c, "int64") for c, (k, _) in zip(classes, per_class))],
            [no_places, *(k for k, _ in per_class)],
            [none[:, 0], *(values for _, values in per_class)],
            [none, *(boxes_of(c)[k] for c, (k, _) in zip(classes, per_class))],
        ]
        parts = [xp.concatenate(each) for each in parts]
        if self.by_score or -1 < self.keep_top_k < len(parts[0]):
            best = xp.argsort(-parts[2], kind="stable")
            best = best[: self.keep_top_k] if self.keep_top_k >= 0 else best
            if not self.by_score:
                best = best[xp.argsort(parts[0][best], kind="stable")]
            parts = [each[best] for each in parts]
        return parts

    def collected(self, xp: Any, BBoxes: Any, Scores: Any) -> tuple[Any, ...]:
        """The rows of Out, their numbers in BBoxes, and where those of each image begin."""
        width, dtype = bare(BBoxes).shape[2] + 2, bare(BBoxes).dtype
        rows, index, offsets = [xp.zeros((0, width), dtype)], [xp.zeros((0, 1), "int64")], [0]
        for scores, boxes_of, numbering in self.images(BBoxes, Scores):
            labels, places, numbers, boxes = self.kept(xp, scores, boxes_of)
            if bare(Scores).ndim == 2:
                in_order = xp.lexsort((places, labels))
                labels, places, numbers, boxes = (
                    each[in_order] for each in (labels, places, numbers, boxes)
                )
            heads = xp.stack([labels.astype(dtype), numbers], axis=1)
            rows.append(xp.concatenate([heads, boxes], axis=1))
            index.append(numbering(labels, places)[:, None])
            offsets.append(offsets[-1] + len(places))
        return xp.concatenate(rows), xp.concatenate(index), tuple(offsets)


class multiclass_nms(Suppression):
    """The boxes of BBoxes that no better one of their class overlaps too much, with class and
    score.

    Out is (-1,) if there is none in any image.

    nms_threshold: overlaps above it suppress.
    nms_eta: what ``nms_threshold`` is multiplied with at each box that is kept, while it is above
        0.5.
    """

    signature = "BBoxes[], Scores[] -> Out[]"
    nms_threshold: float = 0.3
    nms_eta: float = 1.0

    def infer(self, BBoxes: Spec, Scores: Spec) -> Specs:
        return self.check(BBoxes, Scores)

    def found(self, xp: Any, scores: Array, boxes: Array, least: Array) -> Arrays:
        order = ranked(xp, scores, self.score_threshold, self.nms_top_k, least)
        overlaps = overlaps_of(xp, boxes[order], self.normalized)
        threshold, eta = boxes.dtype.type(self.nms_threshold), self.nms_eta
        places = order[survivors(xp, len(order), threshold, eta, overlaps, self.keep_top_k)]
        return places, scores[places]

    def run(self, xp: Any, BBoxes: Array, Scores: Array) -> Array:
        rows, _, offsets = self.collected(xp, BBoxes, Scores)
        if not len(rows):
            return LoDTensor(xp.full((1, 1), -1, rows.dtype), ((0, 1),))
        return LoDTensor(rows, (offsets,))


class Indexed(Suppression, abstract=True):
    """A choice of boxes that tells which they are, too."""

    def infer(self, BBoxes: Spec, Scores: Spec) -> Specs:
        out = self.check(BBoxes, Scores)
        return out, out.with_dim(1, 1).with_dtype(DType.INT32)

    def run(self, xp: Any, BBoxes: Array, Scores: Array) -> Arrays:
        return self.rows_and_numbers(xp, BBoxes, Scores)

    def rows_and_numbers(self, xp: Any, BBoxes: Any, Scores: Any) -> tuple[Any, Any]:
        """The rows of Out and their numbers in BBoxes, those of an image being a sequence."""
        rows, index, offsets = self.collected(xp, BBoxes, Scores)
        return LoDTensor(rows, (offsets,)), LoDTensor(index.astype("int32"), (offsets,))


def counted(out: Spec, index: Spec) -> Specs:
    """Specs of boxes, of their numbers, and of how many of them each image has."""
    return out, index, index.with_shape([-1])._replace(lod_level=0)


def with_counts(xp: Any, out: Any, index: Any) -> Arrays:
    """Boxes, their numbers, and how many each image has."""
    return out, index, xp.diff(xp.asarray(out.offsets[-1], dtype="int32"))


class multiclass_nms2(Indexed, multiclass_nms):
    """Out = what multiclass_nms gives, Index = the numbers of its boxes in BBoxes.

    Index: boxes of all images are counted on, and where each class has its own box, classes.
    """

    signature = "BBoxes[], Scores[] -> Out[], Index[]~"


class multiclass_nms3(multiclass_nms2):
    """What multiclass_nms2 gives, with the numbers of images' boxes as tensors.

    RoisNum: how many boxes each image has, where each class has its own box.
    NmsRoisNum: how many boxes are kept of each image.
    """

    signature = "BBoxes[], Scores[], RoisNum?! -> Out[], Index[]~, NmsRoisNum?~"

    def infer(self, BBoxes: Spec, Scores: Spec, RoisNum: Spec) -> Specs:
        return counted(*super().infer(BBoxes, Scores))

    def run(self, xp: Any, BBoxes: Array, Scores: Array, RoisNum: Array) -> Arrays:
        if RoisNum is not None:
            offsets = offsets_from(xp.reshape(RoisNum, -1).tolist())
            Scores = LoDTensor(bare(Scores), (offsets,))
        return with_counts(xp, *self.rows_and_numbers(xp, BBoxes, Scores))


class nms(DetachedValues):
    """KeepBoxesIdxs = the numbers of the boxes that no box before them overlaps too much.

    Boxes: [M, 4], the best first.
    iou_threshold: overlaps above it suppress.
    """

    signature = "Boxes -> KeepBoxesIdxs"
    iou_threshold: float = 1.0

    def infer(self, Boxes: Spec) -> Specs:
        need_float(Boxes=Boxes)
        need_boxes("Boxes", Boxes)
        return Boxes.with_shape([-1]).with_dtype(DType.INT64)

    def run(self, xp: Any, Boxes: Array) -> Array:
        threshold = Boxes.dtype.type(self.iou_threshold)
        overlaps = BoxOverlaps(xp, Boxes, 0, of_points=0)
        return survivors(xp, len(Boxes), threshold, 1.0, overlaps, -1)


class matrix_nms(Indexed):
    """Boxes whose scores sink by how much better ones of their class overlap them, with class and
    score.

    (Wang, Zhang, Kong, Li and Shen, SOLOv2: dynamic and fast instance segmentation, NeurIPS 2020.)

    Index: the numbers of the boxes in BBoxes, those of all images counted on.
    post_threshold: what a score must be above after that.
    use_gaussian: scores sink by exp(-sigma overlap^2); if not, by 1 - overlap.
    gaussian_sigma: the sigma.
    BBoxes: of images with as many boxes each, [N, M, 4].
    Scores: [N, classes, M].
    RoisNum: how many boxes are kept of each image.
    """

    signature = "BBoxes, Scores -> Out[], Index[], RoisNum?~"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("RoisNum",))
    post_threshold: float = 0.0
    use_gaussian: bool = False
    gaussian_sigma: float = 2.0
    score_dims = (3,)
    by_score = True

    def infer(self, BBoxes: Spec, Scores: Spec) -> Specs:
        return counted(*super().infer(BBoxes, Scores))

    def run(self, xp: Any, BBoxes: Array, Scores: Array) -> Arrays:
        return with_counts(xp, *self.rows_and_numbers(xp, BBoxes, Scores))

    def found(self, xp: Any, scores: Array, boxes: Array, least: Any) -> Arrays:
        order = ranked(xp, scores, self.score_threshold, self.nms_top_k)
        values = scores[order] * self.decay(xp, boxes[order])
        stays = values > self.post_threshold
        return order[stays], values[stays]

    def decay(self, xp: Any, boxes: Array) -> Array:
        """What the scores of boxes, the best first, are multiplied with."""
        count = len(boxes)
        if not count:
            return xp.zeros(0, boxes.dtype)
        overlaps = overlaps_of(xp, boxes, self.normalized)
        below = xp.zeros((count, count), boxes.dtype)
        for i in range(0, count, overlaps.at_once):
            block = xp.arange(i, min(i + overlaps.at_once, count))
            before = xp.arange(block[-1])
            below[block, : len(before)] = xp.nan_to_num(overlaps(block, before))
        below = xp.tril(below, -1)
        worst = xp.max(below, axis=1)
        if self.use_gaussian:
            factors = xp.exp((worst**2 - below**2) * boxes.dtype.type(self.gaussian_sigma))
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                factors = (1 - below) / (1 - worst)
        better = xp.tri(count, k=-1, dtype=bool)
        counts = better & (factors < 1)
        return xp.min(xp.where(counts, factors, 1), axis=1).astype(boxes.dtype)


class locality_aware_nms(multiclass_nms):
    """Out = what multiclass_nms gives, of neighbours in BBoxes that were merged before.

    A box that overlaps the one before it is merged with it: their means, weighted by scores, with
    the sum of the scores.  Classes are merged one after the other, each from the boxes that those
    before it left.  (Zhou et al., EAST: an efficient and accurate scene text detector, CVPR 2017.)
    """

    background_label: int = -1
    score_dims = (3,)

    def infer(self, BBoxes: Spec, Scores: Spec) -> Specs:
        return self.check(BBoxes, Scores)._replace(lod_level=0)

    def images(self, BBoxes: Array, Scores: Array) -> Iterator[Any]:
        for scores, boxes_of, numbering in super().images(BBoxes, Scores):
            boxes = boxes_of(0).copy()  # that of every class, and merged in place
            yield scores, lambda c, boxes=boxes: boxes, numbering

    def found(self, xp: Any, scores: Array, boxes: Array, least: Array) -> Arrays:
        return super().found(xp, self.merged(xp, boxes, scores), boxes, least)

    def merged(self, xp: Any, boxes: Array, scores: Array) -> Array:
        """Scores after merging boxes in place; -inf for those that are part of others."""
        overlaps = polygon_overlaps
        if boxes.shape[1] == 4:
            overlaps = functools.partial(box_overlaps, more=0 if self.normalized else 1)
        scores, last, plain = scores.copy(), 0, True
        meets = (overlaps(xp, boxes[1:], boxes[:-1]) > self.nms_threshold).tolist()
        for i in range(1, len(boxes)):
            if not plain:
                overlap = overlaps(xp, boxes[i], boxes[last : last + 1])[0]
                meets[i - 1] = overlap > self.nms_threshold
            plain = not meets[i - 1]
            if plain:
                last = i
                continue
            total = scores[i] + scores[last]
            boxes[last] = (boxes[i] * scores[i] + boxes[last] * scores[last]) / total
            scores[i], scores[last] = -xp.inf, total
        return scores
