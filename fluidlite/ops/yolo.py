"""The detector YOLO: boxes and scores from its output, and its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import REQUIRED, attr, need_least
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    need_float,
    need_integer,
    need_ndim,
    need_shape,
    same_dtype,
)
from .boxes import overlap


class Yolo(Op, abstract=True):
    """What the output of the detector is.

    X: for each anchor (across, down, width, height, objectness, classes...) of each place:
        [N, anchors * (5 + class_num), H, W].
    class_num: how many classes there are.
    anchors: widths and heights, in pixels.
    downsample_ratio: how many pixels of the network's input a place has in each direction.
    scale_x_y: stretches how far centres may be from the middle of their place.
    """

    class_num: int = REQUIRED
    anchors: list[int] = ()
    downsample_ratio: int = 32
    scale_x_y: float = 1.0

    @property
    def per_anchor(self) -> int:
        """How many numbers an anchor has beside those of classes."""
        return 5

    def check(self, X: Spec, anchors: int) -> None:
        """Check the attributes, and that X is of ``anchors`` anchors."""
        need_float(X=X)
        need_ndim(4, X=X)
        if len(self.anchors) < 2 or len(self.anchors) % 2 or min(self.anchors) < 1:
            raise AttributeValueError(
                f"expected anchors of a width and a height each, got {list(self.anchors)}"
            )
        need_least(self, 1, "class_num", "downsample_ratio")
        channels = anchors * (self.per_anchor + self.class_num)
        if not agree(X.shape[1], channels):
            raise ShapeError(
                f"expected X of {channels} channels, {self.per_anchor} + class_num="
                f"{self.class_num} for each of {anchors} anchors; got {X.shape[1]}"
            )

    def centres(self, xp: Any, x: Array) -> Arrays:
        """Centres of boxes in places, from [N, anchors, 5 + class_num, H, W]."""
        height, width = x.shape[3:]
        stretched = 0.5 + (sigmoid(xp, x[:, :, :2]) - 0.5) * self.scale_x_y
        across = stretched[:, :, 0] + xp.arange(width)
        down = stretched[:, :, 1] + xp.arange(height)[:, None]
        return across, down

    def extents(self, xp: Any, x: Array, anchors: Sequence[int]) -> Arrays:
        """Widths and heights of boxes in parts of the network's input."""
        sides = xp.reshape(xp.asarray(anchors), (-1, 2, 1, 1)) / (
            self.downsample_ratio * x.shape[3]
        )
        extents = xp.exp(x[:, :, 2:4]) * sides
        return extents[:, :, 0], extents[:, :, 1]


def sigmoid(xp: Any, x: Array) -> Array:
    """1 / (1 + e^-x), computed without overflow."""
    return (xp.tanh(x / 2) + 1) / 2


class yolo_box(Yolo):
    """What the detector YOLO found at each place, and how sure it is of each class.

    (Redmon and Farhadi, YOLOv3, arXiv 1804.02767.)

    ImgSize: height and width of each image, [N, 2].
    Boxes: left, top, right, bottom, in pixels: [N, anchors * H * W, 4].
    Scores: [N, anchors * H * W, class_num].
    conf_thresh: boxes whose objectness is lower are zeros.
    clip_bbox: keep boxes within their image.
    by_side: places across are parts of the width; if not, both sides are divided by the number of
        rows of places, as in fluid: where there are more columns, boxes may lie beyond the image.
    iou_aware: X begins with a number for each anchor that says how far the box is to be trusted.
    iou_aware_factor: the power of that in the objectness, which has the rest.
    """

    signature = "X, ImgSize -> Boxes, Scores"
    lod: ClassVar[str | None] = None
    conf_thresh: float = 0.01
    clip_bbox: bool = True
    by_side: bool = attr(False, local=True)
    iou_aware: bool = attr(False, local=True)
    iou_aware_factor: float = attr(0.5, local=True)
    grad = None

    @property
    def per_anchor(self) -> int:
        return 6 if self.iou_aware else 5

    def infer(self, X: Spec, ImgSize: Spec) -> Specs:
        anchors = len(self.anchors) // 2
        self.check(X, anchors)
        need_integer(ImgSize=ImgSize)
        need_shape("ImgSize", ImgSize, (X.shape[0], 2))
        n, _, height, width = X.shape
        count = -1 if -1 in (height, width) else anchors * height * width
        return X.with_shape([n, count, 4]), X.with_shape([n, count, self.class_num])

    def run(self, xp: Any, X: Array, ImgSize: Array) -> Arrays:
        n, _, height, width = X.shape
        anchors = len(self.anchors) // 2
        x = X[:, anchors * (self.per_anchor - 5) :]
        x = xp.reshape(x, (n, anchors, 5 + self.class_num, height, width))
        sizes = xp.reshape(ImgSize.astype(X.dtype), (n, 2, 1, 1, 1))
        high, wide = sizes[:, 0], sizes[:, 1]
        columns = width if self.by_side else height
        across, down = self.centres(xp, x)
        across, down = across / columns, down / height
        sides = self.extents(xp, x, self.anchors)
        sides = sides[0] * (height / columns), sides[1]
        halves = sides[0] * wide / 2, sides[1] * high / 2
        across, down = across * wide, down * high
        box = [across - halves[0], down - halves[1], across + halves[0], down + halves[1]]
        if self.clip_bbox:
            box = [xp.maximum(v, 0) for v in box[:2]] + [
                xp.minimum(v, most - 1) for v, most in zip(box[2:], (wide, high))
            ]
        sure = sigmoid(xp, x[:, :, 4])
        if self.iou_aware:
            factor = X.dtype.type(self.iou_aware_factor)
            sure = sure ** (1 - factor) * sigmoid(xp, X[:, :anchors]) ** factor
        kept = (sure >= self.conf_thresh)[..., None]
        boxes = xp.stack(box, axis=-1) * kept
        scores = xp.moveaxis(sigmoid(xp, x[:, :, 5:]), 2, -1) * sure[..., None] * kept
        count = anchors * height * width
        return (
            xp.reshape(boxes, (n, count, 4)).astype(X.dtype),
            xp.reshape(scores, (n, count, self.class_num)).astype(X.dtype),
        )


class YoloLoss(Yolo, abstract=True):
    """What boxes the detector was to find.

    GTBox: centre, width and height of true boxes, in parts of the image: [N, boxes, 4]; those
        without a width or a height do not count.
    GTLabel: their classes, [N, boxes].
    GTScore: how much they count, [N, boxes]; 1 where it is absent.
    ObjectnessMask: for each anchor and place the score of the true box there, 0 where nothing is,
        -1 where a box that is none of them overlaps a true one anyway.
    GTMatchMask: the number of the anchor of each true box; -1 where another output has it.
    anchor_mask: the numbers of those anchors that this output has.
    ignore_thresh: boxes that overlap a true one more are not told that nothing is there.
    use_label_smooth: classes are to be a little unsure.
    """

    anchor_mask: list[int] = ()
    ignore_thresh: float = 0.7
    use_label_smooth: bool = True

    @property
    def layout(self) -> dict[str, Any]:
        """The attributes that the parts of this composition take over."""
        return {name: getattr(self, name) for name in YoloLoss.attributes}

    def infer(self, X: Spec, GTBox: Spec, GTLabel: Spec, GTScore: Spec) -> Specs:
        if not self.anchor_mask or any(
            not 0 <= k < len(self.anchors) // 2 for k in self.anchor_mask
        ):
            raise AttributeValueError(
                f"expected anchor_mask of numbers in [0, {len(self.anchors) // 2}), got "
                f"{list(self.anchor_mask)}"
            )
        self.check(X, len(self.anchor_mask))
        if 0 in X.shape[2:]:
            raise ShapeError(f"expected maps with places, got X of shape {list(X.shape)}")
        same_dtype(X=X, GTBox=GTBox, GTScore=GTScore)
        need_integer(GTLabel=GTLabel)
        boxes = [X.shape[0], GTBox.shape[1] if GTBox.ndim == 3 else -1]
        for name, s, wanted in (
            ("GTBox", GTBox, [*boxes, 4]),
            ("GTLabel", GTLabel, boxes),
            ("GTScore", GTScore, boxes),
        ):
            fits = s is None or (s.ndim == len(wanted) and all(map(agree, s.shape, wanted)))
            if not fits:
                raise ShapeError(f"expected {name} of shape {wanted}, got {list(s.shape)}")
        maps = X.with_shape([X.shape[0], len(self.anchor_mask), *X.shape[2:]])
        return maps, X.with_shape(boxes).with_dtype(DType.INT32)


class yolov3_loss(YoloLoss):
    """How far the detector YOLO is from true boxes, for each sample.

    Of centres, objectness and classes it is the logistic loss, of logarithms of sizes the absolute
    difference.  (Redmon and Farhadi, YOLOv3, arXiv 1804.02767.)

    Loss: of shape [N].
    """

    signature = "X, GTBox!, GTLabel!, GTScore?! -> Loss, ObjectnessMask!~, GTMatchMask!~"
    lod: ClassVar[str | None] = None
    fluid: ClassVar[FluidForm] = FluidForm(
        carried=("ObjectnessMask", "GTMatchMask"),
        unmade=("GTBox@GRAD", "GTLabel@GRAD", "GTScore@GRAD"),
    )

    def infer(self, X: Spec, GTBox: Spec, GTLabel: Spec, GTScore: Spec) -> Specs:
        return X.with_shape(X.shape[:1]), *YoloLoss.infer(self, X, GTBox, GTLabel, GTScore)

    def expand(self, f: Any, X: Value, GTBox: Value, GTLabel: Value, GTScore: Value) -> Values:
        n, _, height, width = X.shape
        targets_by_name = f.yolov3_targets.all(X, GTBox, GTLabel, GTScore, **self.layout)
        logistic = lambda x, target: f.softplus(x) - x * target
        at = f.take_elements(X, targets_by_name["Places"])
        target = targets_by_name["Targets"]
        losses = (
            logistic(at, target) * targets_by_name["Logistic"]
            + f.abs(at - target) * targets_by_name["Absolute"]
        )
        x = f.reshape(X, shape=[n, len(self.anchor_mask), 5 + self.class_num, height, width])
        sure = f.reshape(
            f.slice(x, axes=[2], starts=[4], ends=[5]),
            shape=[n, len(self.anchor_mask), height, width],
        )
        sums = [
            f.reduce_sum(
                logistic(sure, targets_by_name["There"]) * targets_by_name["Counts"], dim=[1, 2, 3]
            ),
            f.reduce_sum(losses, dim=[1, 2]),
        ]
        masks = {name: targets_by_name[name] for name in ("ObjectnessMask", "GTMatchMask")}
        return dict(Loss=f.sum(sums), **masks)


class yolov3_targets(YoloLoss):
    """ObjectnessMask, GTMatchMask = where true boxes are; the others are the terms of the loss.

    Places: the positions in X, flattened, of (across, down, width, height, classes...) of the
        anchor of each true box.
    Targets: what is to be there.
    Logistic, Absolute: how much the losses there count.
    There: what the objectness of each anchor at each place is to be.
    Counts: how much its loss counts.
    """

    signature = (
        "X, GTBox, GTLabel, GTScore? -> ObjectnessMask, GTMatchMask, Places, Targets, Logistic, "
        "Absolute, There, Counts"
    )
    grad = None

    def infer(self, X: Spec, GTBox: Spec, GTLabel: Spec, GTScore: Spec) -> Specs:
        maps, boxes = super().infer(X, GTBox, GTLabel, GTScore)
        terms = X.with_shape([*boxes.shape, 4 + self.class_num])
        return maps, boxes, terms.with_dtype(DType.INT64), terms, terms, terms, maps, maps

    def run(self, xp: Any, X: Array, GTBox: Array, GTLabel: Array, GTScore: Array) -> Arrays:
        n, _, height, width = X.shape
        x = xp.reshape(X, (n, len(self.anchor_mask), 5 + self.class_num, height, width))
        real = (GTBox[..., 2] > 1e-6) & (GTBox[..., 3] > 1e-6)
        score = xp.ones(real.shape, X.dtype) if GTScore is None else GTScore
        match, best = self.matched(xp, GTBox, real, height)
        columns, rows = (
            xp.where(real, xp.clip(GTBox[..., k] * size, 0, size - 1), 0).astype("int64")
            for k, size in ((0, width), (1, height))
        )
        mask = self.ignored(xp, x, GTBox, real)
        for i, b in xp.argwhere(match >= 0).tolist():  # of several at one place the last one stays
            place = (i, int(match[i, b]), int(rows[i, b]), int(columns[i, b]))
            mask = xp.add_at(mask, place, score[i, b] - mask[place])
        targets = self.targets(xp, GTBox, GTLabel, best, rows, columns, (height, width))
        places = self.places(xp, match, rows, columns, X.shape)
        counted = xp.where(match >= 0, score, 0)[..., None]
        size = counted * (2 - GTBox[..., 2:3] * GTBox[..., 3:4])
        kinds = xp.arange(4 + self.class_num)
        weight = xp.where(kinds < 4, size, counted).astype(X.dtype)
        sides = (kinds == 2) | (kinds == 3)
        there = mask > 1e-5
        counts = xp.where(there, mask, mask > -0.5)
        return (
            mask,
            match.astype("int32"),
            places,
            targets.astype(X.dtype),
            weight * ~sides,
            weight * sides,
            there.astype(X.dtype),
            counts.astype(X.dtype),
        )

    def matched(self, xp: Any, GTBox: Array, real: Array, height: int) -> Arrays:
        """The anchor of each true box: its place in ``anchor_mask`` or -1, and its number."""
        sides = xp.reshape(xp.asarray(self.anchors), (-1, 2)) / (self.downsample_ratio * height)
        corner = xp.zeros_like(GTBox[..., None, :2])
        box = xp.concatenate([corner, GTBox[..., None, 2:]], axis=-1)
        anchors = xp.concatenate([xp.zeros_like(sides), sides], axis=-1)
        best = xp.argmax(overlap(xp, box, anchors, 0), axis=-1)
        number = xp.full(len(sides), -1)
        for k, anchor in reversed(list(enumerate(self.anchor_mask))):
            number[anchor] = k
        return xp.where(real, number[best], -1), best

    def ignored(self, xp: Any, x: Array, GTBox: Array, real: Array) -> Array:
        """-1 where a box overlaps a true one enough not to count, else 0."""
        anchors = [n for k in self.anchor_mask for n in self.anchors[2 * k : 2 * k + 2]]
        across, down = self.centres(xp, x)
        centre = across / x.shape[4], down / x.shape[3]
        boxes = corners(xp, *centre, *self.extents(xp, x, anchors))
        most = xp.zeros(boxes.shape[:-1])
        for b in range(GTBox.shape[1]):
            one = corners(xp, *xp.moveaxis(GTBox[:, b], -1, 0))[:, None, None, None]
            there = xp.reshape(real[:, b], (-1, 1, 1, 1))
            most = xp.maximum(most, xp.where(there, overlap(xp, boxes, one, 0), 0))
        return xp.where(most > self.ignore_thresh, -1, 0).astype(x.dtype)

    def targets(self, xp, GTBox, GTLabel, best, rows, columns, sizes):
        """What is to be at the places of each true box."""
        height, width = sizes
        sides = xp.reshape(xp.asarray(self.anchors, dtype="float64"), (-1, 2))[best]
        extent = xp.maximum(GTBox[..., 2:], 1e-6) * (self.downsample_ratio * height) / sides
        unsure = min(1 / self.class_num, 1 / 40) if self.use_label_smooth else 0.0
        labels = xp.where(GTLabel[..., None] == xp.arange(self.class_num), 1 - unsure, unsure)
        centres = [GTBox[..., 0] * width - columns, GTBox[..., 1] * height - rows]
        return xp.concatenate([xp.stack(centres, axis=-1), xp.log(extent), labels], axis=-1)

    def places(self, xp: Any, match: Array, rows: Array, columns: Array, shape: Shape) -> Array:
        """The positions in X of what each true box is compared with."""
        n, channels, height, width = shape
        kinds = xp.asarray([0, 1, 2, 3, *range(5, 5 + self.class_num)])
        first = xp.arange(n)[:, None] * channels + xp.maximum(match, 0) * (5 + self.class_num)
        return ((first[..., None] + kinds) * height + rows[..., None]) * width + columns[..., None]


def corners(xp: Any, across: Array, down: Array, width: Array, height: Array) -> Array:
    """Boxes by their corners, from their centres and sizes."""
    box = [across - width / 2, down - height / 2, across + width / 2, down + height / 2]
    return xp.stack(box, axis=-1)
