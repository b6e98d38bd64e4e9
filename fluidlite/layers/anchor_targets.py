"""What anchors are to become, and what a network says about those that count."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .indexing import gather
from .layer import LAYERS, LayerBuilder, stopped
from .operator_layers import LayerCall, OperatorLayers
from .reshaping import reshape

_TARGETS = LAYERS.extended(
    {
        "bbox_pred": "boxes relative to anchors, [N, M, 4].",
        "anchor_box": "the anchors, [M, 4], or of any shape that ends with 4.",
        "anchor_var": "accepted; fluid 1.8 has it, and nothing depends on it.",
        "gt_boxes": "the true boxes, [n, 4], those of an image being a sequence.",
        "is_crowd": "1 for boxes of many objects, which do not count, [n, 1]; sequences as "
        "``gt_boxes``.",
        "im_info": "height, width and scale of each image, [N, 3].",
    }
)
_targets = OperatorLayers(_TARGETS)


@_targets.signature("""
    rpn_target_assign(bbox_pred: Variable, cls_logits: Variable, anchor_box: Anchor,
        anchor_var: Variable, gt_boxes, is_crowd, im_info, rpn_batch_size_per_im,
        rpn_straddle_thresh=0.0, rpn_fg_fraction=0.5, rpn_positive_overlap,
        rpn_negative_overlap, use_random)
""")
def rpn_target_assign(
    f: LayerBuilder, call: LayerCall
) -> tuple[Variable, Variable, Variable, Variable, Variable]:
    """What anchors of a region proposal network are to become: objects that are there, or not.

    Ren et al., Faster R-CNN, NIPS 2015.

    Args:
        cls_logits: scores of an object in each anchor, [N, M, 1].
        rpn_batch_size_per_im: how many anchors of an image are chosen.
        rpn_straddle_thresh: how far anchors may reach out of the image, in pixels; below 0, anyhow.
        rpn_fg_fraction: how many of them are objects, at most.
        rpn_positive_overlap: anchors that overlap a true box so much are objects; so are those that
            overlap it most.
        rpn_negative_overlap: anchors that overlap all boxes less are background.
        use_random: anchors are drawn; if not, the first ones are taken.

    Returns:
        of the chosen anchors the scores, [n, 1]; the boxes of those that are objects, [m, 4]; 1 for
        objects and 0 for background, [n, 1]; the true boxes, [m, 4]; and which numbers of these
        count, [m, 4].

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 10, 1])
    >>> anchors, info = fluid.data("anchors", [10, 4]), fluid.data("info", [None, 3])
    >>> true = fluid.data("true", [None, 4], lod_level=1)
    >>> crowd = fluid.data("crowd", [None, 1], "int32", lod_level=1)
    >>> found = fluid.layers.rpn_target_assign(boxes, scores, anchors, anchors, true, crowd, info)
    >>> [v.shape for v in found]
    [(-1, 1), (-1, 4), (-1, 1), (-1, 4), (-1, 4)]
    """
    located, scored, label, target, weight = _assigned(
        f,
        "rpn_target_assign",
        call.ins,
        ["LocationIndex", "ScoreIndex", "TargetLabel", "TargetBBox", "BBoxInsideWeight"],
        **call.attrs,
    )
    scores, boxes = _of_all(call.cls_logits, 1, call.bbox_pred)
    return gather(scores, scored), gather(boxes, located), label, target, weight


@_targets.signature("""
    retinanet_target_assign(bbox_pred: Variable, cls_logits: Variable, anchor_box: Anchor,
        anchor_var: Variable, gt_boxes, gt_labels, is_crowd, im_info, num_classes: int = 1,
        positive_overlap, negative_overlap)
""")
def retinanet_target_assign(
    f: LayerBuilder, call: LayerCall
) -> tuple[Variable, Variable, Variable, Variable, Variable, Variable]:
    """What anchors of RetinaNet are to become: a class, or background.

    Lin et al., Focal loss for dense object detection, ICCV 2017.

    Args:
        cls_logits: scores of each class, [N, M, num_classes].
        gt_labels: the classes of ``gt_boxes``, from 1, [n, 1]; sequences as these.
        num_classes: how many there are, without the background.
        positive_overlap: anchors that overlap a true box so much are objects; so are those that
            overlap it most.
        negative_overlap: anchors that overlap all boxes less are background.

    Returns:
        of the chosen anchors the scores, [n, num_classes]; the boxes of those that are objects,
        [m, 4]; the classes, 0 for background, [n, 1]; the true boxes, [m, 4]; which numbers of
        these count, [m, 4]; and one more than the number of objects of each image, [N, 1].

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 10, 3])
    >>> anchors, info = fluid.data("anchors", [10, 4]), fluid.data("info", [None, 3])
    >>> true = fluid.data("true", [None, 4], lod_level=1)
    >>> label = fluid.data("label", [None, 1], "int32", lod_level=1)
    >>> crowd = fluid.data("crowd", [None, 1], "int32", lod_level=1)
    >>> found = fluid.layers.retinanet_target_assign(
    ...     boxes, scores, anchors, anchors, true, label, crowd, info, num_classes=3
    ... )
    >>> [v.shape for v in found]
    [(-1, 3), (-1, 4), (-1, 1), (-1, 4), (-1, 4), (-1, 1)]
    """
    located, scored, label, target, weight, count = _assigned(
        f,
        "retinanet_target_assign",
        call.ins,
        [
            *("LocationIndex", "ScoreIndex", "TargetLabel", "TargetBBox"),
            *("BBoxInsideWeight", "ForegroundNumber"),
        ],
        **call.attrs,
    )
    scores, boxes = _of_all(call.cls_logits, call.num_classes, call.bbox_pred)
    return gather(scores, scored), gather(boxes, located), label, target, weight, count


def _assigned(
    f: LayerBuilder, type: str, ins: dict[str, Any], slots: list[str], **attrs: Any
) -> list[Variable]:
    """The outputs of an operator, through which nothing flows."""
    outs = {slot: f.new_variable() for slot in slots}
    f.into(type, ins, outs, **attrs)
    return stopped(list(outs.values()))


def _of_all(scores: Variable, classes: int, boxes: Variable) -> tuple[Variable, Variable]:
    """Scores and boxes of the anchors of all images, one after the other."""
    return reshape(scores, [-1, classes]), reshape(boxes, [-1, 4])
