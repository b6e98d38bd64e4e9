"""How good a detector is: the mean average precision of the boxes that it found."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array
from ..opdef.attribute import REQUIRED, need_choice, need_least
from ..opdef.definition import DetachedValues
from ..opdef.spec import need_count, need_integer, need_ndim, same_float, spec
from .overlaps import box_overlaps
from .proposals import by_image


class detection_map(DetachedValues):
    """MAP = the mean over classes of average precisions.

    The best box that overlaps a true box of its class enough is right; all others are wrong.
    (Everingham, Van Gool, Williams, Winn and Zisserman, The PASCAL visual object classes challenge,
    IJCV 2010.)

    DetectRes: boxes that were found: class, score, box; those of an image are a sequence.
    Label: the true ones: class, whether it is difficult, box, or class and box; sequences as above.
    HasState: whether what is counted so far is given and not 0.
    PosCount, TruePos, FalsePos: what was counted so far.
    AccumPosCount: how many true boxes each class has, [class_num, 1].
    AccumTruePos, AccumFalsePos: scores of boxes, and whether they are right, or wrong: [n, 2],
        those of a class being a sequence.
    class_num: how many classes there are.
    background_label: the class that does not count.
    overlap_threshold: how much a box has to overlap.
    evaluate_difficult: whether difficult boxes count.
    ap_type: integral, or 11point: the mean of the best precisions from recalls 0, 0.1, ..., 1 on.
    """

    signature = (
        "DetectRes[], Label[], HasState?, PosCount?, TruePos?[], FalsePos?[] -> "
        "AccumPosCount, AccumTruePos[], AccumFalsePos[], MAP"
    )
    class_num: int = REQUIRED
    background_label: int = 0
    overlap_threshold: float = 0.5
    evaluate_difficult: bool = True
    ap_type: str = "integral"

    def infer(self, DetectRes, Label, HasState, PosCount, TruePos, FalsePos):
        same_float(DetectRes=DetectRes, Label=Label, TruePos=TruePos, FalsePos=FalsePos)
        need_integer(HasState=HasState, PosCount=PosCount)
        need_ndim(2, DetectRes=DetectRes, Label=Label)
        if DetectRes.shape[1] not in (6, 1, -1):  # multiclass_nms gives one number for nothing
            raise ShapeError(
                f"expected DetectRes of shape [n, 6]: class, score and box, got "
                f"{list(DetectRes.shape)}"
            )
        if Label.shape[1] not in (5, 6, -1):
            raise ShapeError(
                f"expected Label of shape [n, 6]: class, difficult and box, or [n, 5] without "
                f"difficult, got {list(Label.shape)}"
            )
        if PosCount is not None and (TruePos is None or FalsePos is None):
            raise ShapeError("expected TruePos and FalsePos beside PosCount")
        need_count("PosCount", PosCount, self.class_num)
        need_least(self, 1, "class_num")
        need_choice(self, "ap_type", "integral", "11point")
        counts = spec([self.class_num, 1], DType.INT32)
        pairs = DetectRes.with_shape([-1, 2])._replace(lod_level=0)
        return counts, pairs, pairs, pairs.with_shape([1])

    def run(self, xp, DetectRes, Label, HasState, PosCount, TruePos, FalsePos):
        dtype = bare(DetectRes).dtype
        positives = xp.zeros(self.class_num, "int32")
        right, wrong = ([xp.zeros((0, 2), dtype)] * self.class_num for _ in range(2))
        if HasState is not None and xp.any(HasState != 0) and PosCount is not None:
            positives = xp.reshape(PosCount, -1).astype("int32")
            right = self.by_class(xp, "TruePos", TruePos)
            wrong = self.by_class(xp, "FalsePos", FalsePos)
        detections, parts = by_image("DetectRes", DetectRes)
        true, of_true = by_image("Label", Label, len(parts))
        if detections.shape[1] == 1:
            detections, parts = xp.zeros((0, 6), dtype), [(0, 0)] * len(parts)
        if true.shape[1] == 5:
            true = xp.concatenate([true[:, :1], xp.zeros_like(true[:, :1]), true[:, 1:]], axis=1)
        self.need_classes("Label", true)
        self.need_classes("DetectRes", detections)
        counted = true if self.evaluate_difficult else true[true[:, 1] == 0]
        positives = positives + xp.bincount(
            counted[:, 0].astype("int64"), minlength=self.class_num
        ).astype("int32")
        pairs = [([], []) for _ in range(self.class_num)]
        for (begin, end), (first, last) in zip(parts, of_true):
            self.judge(xp, detections[begin:end], true[first:last], pairs)
        right, wrong = (
            [xp.concatenate([old[c], *pairs[c][k]]) for c in range(self.class_num)]
            for k, old in enumerate((right, wrong))
        )
        score = self.mean(xp, positives, right, wrong)
        return (
            positives[:, None],
            sequences(xp, right),
            sequences(xp, wrong),
            xp.asarray([score], dtype=dtype),
        )

    def need_classes(self, name: str, rows: Array) -> None:
        """Check that the classes of boxes are there."""
        wrong = (rows[:, 0] < 0) | (rows[:, 0] >= self.class_num)
        if wrong.any():
            raise OutOfRangeError(
                f"expected classes of {name} in [0, {self.class_num}), as class_num says, got "
                f"{rows[wrong][0, 0]:g}"
            )

    def by_class(self, xp: Any, name: str, x: Any) -> list[Array]:
        """The pairs of each class."""
        if not len(bare(x)):
            return [xp.reshape(bare(x), (0, 2))] * self.class_num
        data, parts = by_image(name, x, self.class_num)
        return [data[begin:end] for begin, end in parts]

    def judge(self, xp: Any, found: Array, true: Array, pairs: list[Any]) -> None:
        """Put the scores of the boxes of an image among the right and the wrong ones."""
        for c in xp.unique(found[:, 0]).astype("int64").tolist():
            mine = found[found[:, 0] == c]
            wanted = true[true[:, 0] == c]
            right = xp.zeros(len(mine), bool)
            counts = xp.ones(len(mine), bool)
            if len(wanted):
                mine = mine[xp.argsort(-mine[:, 1], kind="stable")]
                boxes = xp.clip(mine[:, 2:], 0, 1)
                alike = box_overlaps(xp, boxes[:, None], wanted[None, :, 2:], 0)
                best, place = xp.max(alike, axis=1), xp.argmax(alike, axis=1)
                near = best > found.dtype.type(self.overlap_threshold)
                if not self.evaluate_difficult:
                    counts = ~(near & (wanted[place, 1] != 0))
                may = xp.flatnonzero(near & counts)
                _, first = np.unique(place[may], return_index=True)
                right[may[first]] = True
            scores = mine[:, 1]
            for k, flags in enumerate((right, ~right)):
                flagged = xp.stack([scores, flags.astype(found.dtype)], axis=1)
                pairs[c][k].append(flagged[counts])

    def mean(self, xp: Any, positives: Array, right: list[Array], wrong: list[Array]) -> float:
        """The mean over the classes that have true boxes."""
        precisions = []
        for c, count in enumerate(positives.tolist()):
            if c == self.background_label or not count:
                continue
            precisions.append(
                0.0 if not len(right[c]) else self.average(xp, count, right[c], wrong[c])
            )
        return sum(precisions) / len(precisions) if precisions else 0.0

    def average(self, xp: Any, count: int, right: Array, wrong: Array) -> float:
        """The average precision of a class with ``count`` true boxes."""
        true, false = (
            xp.cumsum(pairs[xp.argsort(-pairs[:, 0], kind="stable"), 1]) for pairs in (right, wrong)
        )
        precision, recall = true / (true + false), (true / count).astype("float64")
        if self.ap_type == "11point":
            levels = [precision[recall >= step].max(initial=0) for step in xp.arange(11) / 10]
            return float(sum(levels)) / 11
        steps = xp.diff(recall, prepend=0)
        return float(xp.sum(precision * steps))


def sequences(xp: Any, parts: list[Array]) -> Any:
    """Rows whose parts are sequences."""
    return LoDTensor(xp.concatenate(parts), (offsets_from([len(part) for part in parts]),))
