"""Regions that a network proposes: made from anchors, spread over a pyramid's levels, collected."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError, OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, attr, need_least
from ..opdef.definition import DetachedValues
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import offsets_of
from ..opdef.spec import (
    Spec,
    agree,
    need_float,
    need_integer,
    need_ndim,
    need_shape,
    same_dtype,
    same_float,
)
from .boxes import need_boxes
from .overlaps import BoxOverlaps, survivors

#: the largest logarithm of a size that is used: a stride of 16 becomes 1000 pixels
LARGEST = math.log(1000.0 / 16.0)
#: of a pyramid: sizes of boxes in single precision span no more powers of two
MOST_LEVELS = 256


def need_images(ImInfo: Any, images: Any = -1) -> None:
    """Check that a spec says height, width and scale of images."""
    if ImInfo.ndim != 2 or not agree(ImInfo.shape[1], 3) or not agree(ImInfo.shape[0], images):
        wanted = "images" if images == -1 else images
        raise ShapeError(f"expected ImInfo of shape [{wanted}, 3], got {list(ImInfo.shape)}")


def by_image(name: str, x: Any, images: int | None = None) -> tuple[Any, ...]:
    """An array, and where the rows of each image begin and end.

    Raises:
        LoDError: it has no sequences, or not one for each image.
    """
    ends = offsets_of(x, name)
    if images is not None and len(ends) - 1 != images:
        raise LoDError(
            f"expected {name} of {images} sequences, one for each image, got {len(ends) - 1}"
        )
    return bare(x), list(pairwise(ends))


def not_positive(ImInfo: Array) -> Any:
    """What to say of heights, widths and scales of images that are not positive; None where all
    are.
    """
    if (ImInfo > 0).all():
        return None
    row = ImInfo[~(ImInfo > 0).all(axis=1)][0]
    return f"expected ImInfo of positive heights, widths and scales, got {row.tolist()}"


def image_sizes(ImInfo: Array) -> Array:
    """Heights, widths and scales of images; checked.

    Raises:
        OutOfRangeError: one of them is not positive.
    """
    wrong = not_positive(ImInfo)
    if wrong is not None:
        raise OutOfRangeError(wrong)
    return ImInfo


class generate_proposals(WarnsOfInput, DetachedValues):
    """RpnRois, RpnRoiProbs = the regions with the best scores, of which none overlap too much.

    (Ren, He, Girshick and Sun, Faster R-CNN, NIPS 2015.)

    Scores: of an object in each anchor, [N, anchors, H, W].
    BboxDeltas: boxes relative to anchors, [N, 4 * anchors, H, W].
    ImInfo: height, width and scale of each image, [N, 3].
    Anchors, Variances: [H, W, anchors, 4].
    RpnRois: [regions, 4], those of an image being a sequence.
    RpnRoisLod: where the regions of each image end.
    pre_nms_topN: how many anchors of an image are looked at, the best; 0 for all.
    post_nms_topN: how many regions of an image are kept; 0 for all.
    nms_thresh: overlaps above it suppress; with 0 all regions are kept.
    min_size: of a region before scaling, in pixels.
    eta: what nms_thresh is multiplied with at each region kept, while it is above 0.5.
    """

    signature = (
        "Scores, BboxDeltas, ImInfo, Anchors, Variances -> RpnRois[], RpnRoiProbs[], RpnRoisLod?~"
    )
    pre_nms_topN: int = REQUIRED
    post_nms_topN: int = REQUIRED
    nms_thresh: float = REQUIRED
    min_size: float = REQUIRED
    eta: float = REQUIRED
    never_none: ClassVar[bool] = False  #: whether an image without a region has one of zeros

    @property
    def more(self) -> int:
        """1 where right and bottom lie within a box."""
        return 1

    def infer(
        self, Scores: Spec, BboxDeltas: Spec, ImInfo: Spec, Anchors: Spec, Variances: Spec
    ) -> Specs:
        need_images(ImInfo, Scores.shape[0] if Scores.ndim else -1)
        return self.check(Scores, BboxDeltas, Anchors, Variances)

    def check(self, Scores: Spec, BboxDeltas: Spec, Anchors: Spec, Variances: Spec) -> Specs:
        """Check all but the images; the specs of outputs."""
        same_float(Scores=Scores, BboxDeltas=BboxDeltas, Anchors=Anchors, Variances=Variances)
        need_ndim(4, Scores=Scores, BboxDeltas=BboxDeltas)
        images, anchors, height, width = Scores.shape
        wanted = [images, -1 if anchors == -1 else 4 * anchors, height, width]
        need_shape("BboxDeltas", BboxDeltas, wanted, "4 numbers for each of Scores", Scores)
        for name, s in (("Anchors", Anchors), ("Variances", Variances)):
            wanted = [height, width, anchors, 4]
            need_shape(name, s, wanted)
        rois = Scores.with_shape([-1, 4])
        return rois, rois.with_dim(1, 1), rois.with_shape([images]).with_dtype(DType.INT64)

    def run(self, xp, Scores, BboxDeltas, ImInfo, Anchors, Variances):
        return self.proposed(xp, Scores, BboxDeltas, ImInfo, Anchors, Variances)

    def proposed(self, xp, Scores, BboxDeltas, ImInfo, Anchors, Variances):
        """The regions of all images, their scores, and where those of each image end."""
        images, count = len(Scores), Scores[0].size if len(Scores) else 0
        anchors, variances = (xp.reshape(v, (-1, 4)) for v in (Anchors, Variances))
        scores = xp.reshape(xp.transpose(Scores, (0, 2, 3, 1)), (images, count))
        deltas = xp.reshape(xp.transpose(BboxDeltas, (0, 2, 3, 1)), (images, count, 4))
        proposals = [
            self.of_image(xp, *each, anchors, variances) for each in zip(scores, deltas, ImInfo)
        ]
        lengths = [len(rois) for rois, _ in proposals]
        lod = (offsets_from(lengths),)
        rois, probs = (xp.concatenate(each) for each in zip(*proposals))
        return LoDTensor(rois, lod), LoDTensor(probs, lod), xp.asarray(lod[0][1:], dtype="int64")

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        wrong = not_positive(ins["ImInfo"])
        if wrong is not None:
            yield f"{wrong}: an image without pixels has no regions"

    def of_image(
        self, xp: Any, scores: Array, deltas: Array, info: Array, anchors: Array, variances: Array
    ) -> Arrays:
        """The regions of one image and their scores."""
        order = xp.argsort(-scores, kind="stable")
        if 0 < self.pre_nms_topN < len(order):
            order = order[: self.pre_nms_topN]
        more = self.more
        rois = decoded(xp, anchors[order], deltas[order] * variances[order], more)
        height, width = info[:2]
        most = xp.stack([width, height, width, height]) - more
        rois = xp.maximum(xp.minimum(rois, most), 0).astype(scores.dtype)
        large = self.large(rois, *info)
        rois, order = rois[large], order[large]
        surviving = xp.arange(len(rois))
        if self.nms_thresh > 0:
            most = self.post_nms_topN if self.post_nms_topN > 0 else -1
            threshold = rois.dtype.type(self.nms_thresh)
            surviving = survivors(
                xp, len(rois), threshold, self.eta, BoxOverlaps(xp, rois, more), most
            )
        if self.never_none and not len(surviving):
            return xp.zeros((1, 4), scores.dtype), xp.zeros((1, 1), scores.dtype)
        return rois[surviving], scores[order[surviving]][:, None]

    def large(self, rois: Array, height: Array, width: Array, scale: Any = 1) -> Array:
        """Which regions are large enough, with their centres in the image."""
        least = max(self.min_size, 1.0)
        sizes = rois[:, 2:] - rois[:, :2]
        if not self.more:
            return (sizes >= least).all(axis=1)
        centres = rois[:, :2] + (sizes + 1) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            large = (sizes / scale + 1 >= least).all(axis=1)
        return large & (centres[:, 0] <= width) & (centres[:, 1] <= height)


class generate_proposals_v2(generate_proposals):
    """The same, of images that have not been scaled; one without a region has one of zeros.

    ImShape: height and width of each image, [N, 2].
    RpnRoisNum: how many regions each image has.
    pixel_offset: the last pixel lies within a box.
    """

    signature = (
        "Scores, BboxDeltas, ImShape, Anchors, Variances -> RpnRois[], RpnRoiProbs[], RpnRoisNum?~"
    )
    pixel_offset: bool = True
    never_none: ClassVar[bool] = True

    @property
    def more(self) -> int:
        return int(self.pixel_offset)

    def infer(
        self, Scores: Spec, BboxDeltas: Spec, ImShape: Spec, Anchors: Spec, Variances: Spec
    ) -> Specs:
        need_shape("ImShape", ImShape, [Scores.shape[0] if Scores.ndim else -1, 2])
        rois, probs, counts = self.check(Scores, BboxDeltas, Anchors, Variances)
        return rois, probs, counts.with_dtype(DType.INT32)

    def run(self, xp, Scores, BboxDeltas, ImShape, Anchors, Variances):
        rois, probs, ends = self.proposed(xp, Scores, BboxDeltas, ImShape, Anchors, Variances)
        return rois, probs, xp.diff(ends, prepend=0).astype("int32")

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        return super().input_warnings({"ImInfo": ins["ImShape"]})


def decoded(xp: Any, anchors: Array, moves: Array, more: int) -> Array:
    """Boxes from how they differ from anchors; ``more`` is 1 where right and bottom lie within."""
    sizes = anchors[:, 2:] - anchors[:, :2] + more
    centres = moves[:, :2] * sizes + anchors[:, :2] + sizes / 2
    sizes = xp.exp(xp.minimum(moves[:, 2:], anchors.dtype.type(LARGEST))) * sizes
    return xp.concatenate([centres - sizes / 2, centres + sizes / 2 - more], axis=1)


class distribute_fpn_proposals(DetachedValues):
    """The regions of each level of a pyramid, by their sizes: ``refer_level + log2(size / scale)``.

    (Lin, Dollar, Girshick, He, Hariharan and Belongie, Feature pyramid networks, CVPR 2017.)

    FpnRois: regions [n, 4], those of an image being a sequence.
    RestoreIndex: where each region of FpnRois is among those of all levels.
    min_level, max_level: the finest and the coarsest.
    refer_level: the level of regions of ``refer_scale``.
    refer_scale: the square root of an area, in pixels.
    pixel_offset: the last pixel lies within a region.
    MultiFpnRois: a list of regions, [m, 4] each.
    RoisNum: how many regions each image has, in place of sequences.
    MultiLevelRoIsNum: the same of each of MultiFpnRois.
    """

    signature = "FpnRois[], RoisNum?! -> MultiFpnRois*[], RestoreIndex, MultiLevelRoIsNum*?~"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("RoisNum", "MultiLevelRoIsNum"))
    min_level: int = REQUIRED
    max_level: int = REQUIRED
    refer_level: int = REQUIRED
    refer_scale: int = REQUIRED
    pixel_offset: bool = attr(True, local=True)

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return self.max_level - self.min_level + 1

    def width(self, FpnRois: Spec, RoisNum: Spec) -> Any:
        return self.levels

    def infer(self, FpnRois: Spec, RoisNum: Spec) -> Specs:
        need_integer(RoisNum=RoisNum)
        need_float(FpnRois=FpnRois)
        need_boxes("FpnRois", FpnRois)
        if not 2 <= self.levels <= MOST_LEVELS or self.refer_scale < 1:
            raise AttributeValueError(
                f"expected max_level above min_level by less than {MOST_LEVELS} and refer_scale of "
                f"at least 1, got levels {self.min_level} to {self.max_level} and refer_scale "
                f"{self.refer_scale}"
            )
        rois = FpnRois.with_shape([-1, 4])._replace(lod_level=1)
        index = FpnRois.with_shape([-1, 1]).with_dtype(DType.INT32)
        counts = index.with_shape(RoisNum.shape if RoisNum is not None else [-1])
        counts = [counts._replace(lod_level=0)] * self.levels
        return [rois] * self.levels, index._replace(lod_level=0), counts

    def run(self, xp: Any, FpnRois: Array, RoisNum: Array) -> Arrays:
        if RoisNum is not None:
            lod = (offsets_from(xp.reshape(RoisNum, -1).tolist()),)
            FpnRois = LoDTensor(bare(FpnRois), lod)
        rois, parts = by_image("FpnRois", FpnRois)
        sizes = rois[:, 2:] - rois[:, :2]
        more = 1 if self.pixel_offset else 0
        areas = xp.where((sizes >= 0).all(axis=1), xp.prod(sizes + more, axis=1), 0)
        scales = xp.sqrt(areas.astype(rois.dtype)) / self.refer_scale + rois.dtype.type(1e-6)
        levels = xp.floor(xp.log2(scales) + self.refer_level)
        levels = xp.clip(levels, self.min_level, self.max_level).astype("int64") - self.min_level
        order = xp.argsort(levels, kind="stable")
        by_level, of_images = [], []
        for level in range(self.levels):
            here = levels == level
            counts = [int(here[begin:end].sum()) for begin, end in parts]
            by_level.append(LoDTensor(rois[here], (offsets_from(counts),)))
            of_images.append(xp.asarray(counts, "int32"))
        return by_level, xp.argsort(order, kind="stable").astype("int32")[:, None], of_images


class collect_fpn_proposals(DetachedValues):
    """FpnRois = of the regions of all levels of a pyramid those with the best scores.

    MultiLevelRois: [n, 4] each, those of an image being a sequence.
    MultiLevelScores: [n, 1] each.
    post_nms_topN: how many are kept, of all images together.
    """

    signature = "MultiLevelRois*[], MultiLevelScores*[] -> FpnRois[]"
    post_nms_topN: int = REQUIRED

    def infer(self, MultiLevelRois, MultiLevelScores):
        if len(MultiLevelRois) != len(MultiLevelScores):
            raise ShapeError(
                f"expected scores for each of {len(MultiLevelRois)} levels, got "
                f"{len(MultiLevelScores)}"
            )
        need_least(self, 1, "post_nms_topN")
        for k, (rois, scores) in enumerate(zip(MultiLevelRois, MultiLevelScores)):
            need_float(**{f"MultiLevelRois[{k}]": rois, f"MultiLevelScores[{k}]": scores})
            same_dtype(**{f"MultiLevelRois[{k}]": rois, f"MultiLevelScores[{k}]": scores})
            need_boxes(f"MultiLevelRois[{k}]", rois)
            wanted = [rois.shape[0], 1]
            if scores.ndim not in (1, 2) or not all(map(agree, scores.shape, wanted)):
                raise ShapeError(
                    f"expected MultiLevelScores[{k}] of shape {wanted}, a score for each region, "
                    f"got {list(scores.shape)}"
                )
        return MultiLevelRois[0].with_shape([-1, 4])._replace(lod_level=1)

    def run(self, xp: Any, MultiLevelRois: list[Array], MultiLevelScores: list[Array]) -> Array:
        images = None
        rois, scores, image = [], [], []
        for k, (regions, values) in enumerate(zip(MultiLevelRois, MultiLevelScores)):
            data, parts = by_image(f"MultiLevelRois[{k}]", regions, images)
            images = len(parts)
            rois.append(data)
            scores.append(xp.reshape(bare(values), -1))
            image.append(xp.repeat(xp.arange(images), [end - begin for begin, end in parts]))
            if len(scores[-1]) != len(data):
                raise ShapeError(
                    f"expected {len(data)} scores in MultiLevelScores[{k}], one for each region, "
                    f"got {len(scores[-1])}"
                )
        rois, scores, image = (xp.concatenate(each) for each in (rois, scores, image))
        best = xp.argsort(-scores, kind="stable")[: self.post_nms_topN]
        best = best[xp.argsort(image[best], kind="stable")]
        counts = xp.bincount(image[best], minlength=images)
        return LoDTensor(rois[best], (offsets_from(counts),))
