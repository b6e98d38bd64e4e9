"""Which of overlapping boxes are kept, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..graph import OnnxGraph
from ..rearranging import numbers
from ..writing import maps
from .rows import counted

NEWER = ("multiclass_nms", "multiclass_nms2", "multiclass_nms3")  #: each with one output more


@maps(*NEWER)
def multiclass_nms(graph: OnnxGraph, op: Any, BBoxes: Any, Scores: Any) -> Any:
    _check(op, BBoxes, Scores)
    graph.checks.append(f"{op.type} gives no row, and not -1, where no box is kept")
    if BBoxes.sizes[0] == -1:
        graph.checks.append(f"{op.type} holds for one image")
    edge = np.array([0, 0, 0 if op.normalized else 1, 0 if op.normalized else 1], BBoxes.dtype)
    scores = _candidates(graph, op, Scores)
    most = np.array(np.iinfo(np.int32).max, np.int64)
    limits = [np.float32(op.nms_threshold), np.float32(op.score_threshold)]
    chosen = graph.NonMaxSuppression(graph.Add(BBoxes, edge), scores, most, *limits)
    of_image = graph.GatherND(Scores, chosen)
    if op.keep_top_k >= 0:
        chosen, of_image = _best(graph, op.keep_top_k, chosen, of_image)
    image, label, place = graph.node("Split", [chosen], 3, axis=1, num_outputs=3)
    places = graph.Concat(image, place, axis=1)
    boxes = graph.GatherND(BBoxes, places)
    labels = graph.like(label, BBoxes.dtype)
    out = graph.Concat(labels, graph.Unsqueeze(of_image, numbers([1])), boxes, axis=1)
    count = graph.Cast(graph.Shape(place, end=1), to=6)
    outs = dict(Out=out, Index=graph.Cast(place, to=6), NmsRoisNum=count)
    return {slot: outs[slot] for slot in op.output_slots}


@maps("nms")
def nms(graph: OnnxGraph, op: Any, Boxes: Any) -> Any:
    """By scores that fall from box to box; upside-down boxes get no size, and so meet none."""
    if not 0 <= op.iou_threshold <= 1:
        raise UnsupportedError("NonMaxSuppression takes a threshold from 0 to 1")
    count = graph.Shape(Boxes, end=1)
    scores = graph.Neg(graph.Cast(counted(graph, count), to=1))
    begin, end = graph.node("Split", [graph.like(Boxes, np.float32)], 2, axis=1, num_outputs=2)
    boxes = graph.Concat(begin, graph.Max(begin, end), axis=1)
    chosen = graph.NonMaxSuppression(
        graph.Unsqueeze(boxes, numbers([0])),
        graph.Unsqueeze(scores, numbers([0, 1])),
        np.array(np.iinfo(np.int32).max, np.int64),
        np.float32(op.iou_threshold),
    )
    return graph.Gather(chosen, np.array(2), axis=1)


def _check(op: Any, boxes: Any, scores: Any) -> None:
    """Refuse what NonMaxSuppression does not know."""
    if scores.ndim != 3 or boxes.sizes[2] != 4:
        raise UnsupportedError(
            "NonMaxSuppression takes the same boxes of 4 numbers for all classes"
        )
    if boxes.sizes[0] not in (1, -1):
        raise UnsupportedError("the rows of several images form sequences, which ONNX has not")
    if op.nms_eta != 1:
        raise UnsupportedError("NonMaxSuppression has one threshold; nms_eta must be 1")
    if op.type not in NEWER:
        raise UnsupportedError("it merges boxes, which NonMaxSuppression does not")


def _candidates(graph: OnnxGraph, op: Any, scores: Any) -> Any:
    """Scores with all that is not looked at far below: the background, and what is not best."""
    none = np.array(np.finfo(scores.dtype).min, scores.dtype)
    if op.background_label >= 0:
        classes = np.arange(scores.shape[1] if scores.sizes[1] != -1 else 1)
        is_other = (classes != op.background_label).reshape(1, -1, 1)
        scores = graph.Where(is_other, scores, none)
    if op.nms_top_k < 0:
        return scores
    size = graph.Shape(scores, start=2, end=3)
    values, places = graph.node("TopK", [scores, graph.Min(size, numbers([op.nms_top_k]))], 2)
    nothing = graph.Expand(none, graph.Shape(scores))
    return graph.ScatterElements(nothing, places, values, axis=2)


def _best(graph: OnnxGraph, count: int, chosen: Any, scores: Any) -> tuple[Any, Any]:
    """The best of what was chosen, in the order it was chosen in: by class, then by score."""
    least = graph.Min(graph.Shape(scores), numbers([count]))
    _, best = graph.node("TopK", [scores, least], 2)
    in_order, _ = graph.node("TopK", [best, least], 2, largest=0)
    return graph.Gather(chosen, in_order, axis=0), graph.Gather(scores, in_order, axis=0)
