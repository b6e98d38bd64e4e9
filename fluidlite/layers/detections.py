"""What single-shot detectors found, and what they learn from."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .activation import softmax
from .boxes import bipartite_match, box_coder, iou_similarity, target_assign
from .layer import LayerBuilder, stopped
from .loss import softmax_with_cross_entropy
from .math import cast
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .reduce import reduce_sum
from .regression_loss import smooth_l1
from .reshaping import flatten, reshape, transpose
from .reshaping import shape as shape_of
from .slicing import slice as slice_
from .suppression import SUPPRESSION

_suppression = OperatorLayers(SUPPRESSION)


@_suppression.signature(
    """
    detection_output(loc: Variable, scores: Variable, prior_box: Variable,
        prior_box_var: Variable, background_label, nms_threshold, nms_top_k=400, keep_top_k=200,
        score_threshold=0.01, nms_eta, return_index: bool = False) -> multiclass_nms
    """,
    stem="detection_output",
)
def detection_output(f: LayerBuilder, call: LayerCall) -> Variable | tuple[Variable, Variable]:
    """What SSD found: boxes that no better one of their class overlaps too much.

    Liu et al., SSD: single shot multibox detector, ECCV 2016.

    Args:
        loc: boxes relative to prior boxes, [N, M, 4].
        scores: of each class, before softmax: [N, M, classes].
        prior_box: the boxes that others are relative to, [M, 4].
        prior_box_var: what their numbers are divided by, [M, 4].

    >>> loc, scores = fluid.data("loc", [None, 10, 4]), fluid.data("scores", [None, 10, 3])
    >>> boxes, variances = fluid.data("boxes", [10, 4]), fluid.data("variances", [10, 4])
    >>> fluid.layers.detection_output(loc, scores, boxes, variances).shape
    (-1, 6)
    """
    prior, loc = (call.prior_box, call.prior_box_var), call.loc
    boxes = box_coder(*prior, loc, code_type="decode_center_size")
    found = stopped(transpose(softmax(call.scores), [0, 2, 1]))
    run = f.multiclass_nms2 if call.return_index else f.multiclass_nms
    outs = run.all(boxes, found, **call.attrs)
    out = stopped(outs["Out"])
    return (out, stopped(outs["Index"])) if call.return_index else out


retinanet_detection_output: Layer = _suppression(
    """
    retinanet_detection_output(bboxes, scores, anchors, im_info, score_threshold=0.05,
        nms_top_k=1000, keep_top_k=100, nms_threshold=0.3, nms_eta=1.0)

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 10, 3])
    >>> anchors, info = fluid.data("anchors", [10, 4]), fluid.data("info", [None, 3])
    >>> fluid.layers.retinanet_detection_output([boxes], [scores], [anchors], info).shape
    (-1, 6)
    """,
    is_stopped=True,
)


@operator_layer.signature(
    """
    ssd_loss(location: Variable, confidence: Variable, gt_box: Variable, gt_label: Variable,
        prior_box: Variable, prior_box_var: Variable | None, background_label: int = 0,
        overlap_threshold: float = 0.5, neg_pos_ratio=3.0, neg_overlap: neg_dist_threshold,
        loc_loss_weight: float = 1.0, conf_loss_weight: float = 1.0,
        match_type: str = "per_prediction", mining_type, normalize: bool = True,
        sample_size: int | None) -> mine_hard_examples
    """,
    stem="ssd_loss",
)
def ssd_loss(f: LayerBuilder, call: LayerCall) -> Variable:
    """What SSD learns from: prior boxes are matched with true ones, the hardest others are not.

    Liu et al., SSD: single shot multibox detector, ECCV 2016.

    Args:
        location: boxes relative to prior boxes, [N, M, 4].
        confidence: scores of each class, before softmax: [N, M, classes].
        gt_box: the true boxes, [n, 4], those of an image being a sequence.
        gt_label: their classes, [n, 1]; sequences as ``gt_box``.
        prior_box: the boxes that others are relative to, [M, 4].
        prior_box_var: what their numbers are divided by, [M, 4]; None for 1.
        background_label: the class of prior boxes without a true one.
        overlap_threshold: how much a prior box has to overlap a true one.
        neg_pos_ratio: how many negative boxes there are for each that is matched.
        neg_overlap: how much negative boxes overlap true ones, at most.
        loc_loss_weight, conf_loss_weight: of the losses of places and of classes.
        match_type: "per_prediction", or "bipartite": each true box is matched once.
        mining_type: "max_negative"; nothing else is supported.
        normalize: losses are divided by the number of matched boxes.
        sample_size: of another ``mining_type``.

    Returns:
        A variable of shape [N, 1]: the sum over the boxes of an image.

    Raises:
        ArgumentError: ``mining_type`` is another one.

    >>> loc, scores = fluid.data("loc", [None, 10, 4]), fluid.data("scores", [None, 10, 3])
    >>> true, label = (
    ...     fluid.data("true", [None, 4], lod_level=1),
    ...     fluid.data("label", [None, 1], "int64", lod_level=1),
    ... )
    >>> boxes, variances = fluid.data("boxes", [10, 4]), fluid.data("variances", [10, 4])
    >>> fluid.layers.ssd_loss(loc, scores, true, label, boxes, variances).shape
    (-1, 1)
    """
    if call.mining_type != "max_negative":
        raise ArgumentError(f"expected mining_type max_negative, got {call.mining_type!r}")
    sizes = shape_of(call.confidence)
    matches, alike = bipartite_match(
        iou_similarity(call.gt_box, call.prior_box), call.match_type, call.overlap_threshold
    )
    labels = stopped(reshape(call.gt_label, [0, -1, 1]))
    wanted, _ = target_assign(labels, matches, mismatch_value=call.background_label)
    scores = flatten(call.confidence, axis=2)
    wanted = stopped(flatten(cast(wanted, "int64"), axis=2))
    losses: Any = softmax_with_cross_entropy(scores, wanted)
    places = stopped(slice_(sizes, axes=[0], starts=[0], ends=[2]))
    losses = stopped(_by_image(losses, places))
    negative, matches = f.mine_hard_examples(
        losses, None, matches, alike, **call.attrs, sample_size=call.sample_size or 0
    )
    relative = box_coder(call.prior_box, call.prior_box_var, call.gt_box)
    moves, moved = target_assign(relative, matches, mismatch_value=call.background_label)
    wanted, counted = target_assign(labels, matches, negative, call.background_label)
    wanted = stopped(cast(flatten(wanted, axis=2), "int64"))
    conf_loss: Any = softmax_with_cross_entropy(scores, wanted)
    conf_loss = conf_loss * stopped(flatten(counted, axis=2))
    location = flatten(call.location, axis=2)
    moves = stopped(flatten(moves, axis=2))
    loc_loss: Any = smooth_l1(location, moves)
    moved = stopped(flatten(moved, axis=2))
    loc_loss = loc_loss * moved
    loss: Any = conf_loss * call.conf_loss_weight + loc_loss * call.loc_loss_weight
    loss = reduce_sum(_by_image(loss, places), dim=1, keep_dim=True)
    return loss / reduce_sum(moved) if call.normalize else loss


def _by_image(x: Variable, places: Variable) -> Variable:
    """What there is for each box, [boxes of all images, 1], as [images, boxes], sizes that only a
    run knows.
    """
    found = reshape(x, [-1, 0], actual_shape=places)
    found.redeclare([-1, -1])
    return found
