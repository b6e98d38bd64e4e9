"""Regions that a network proposes, and what they are to become."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, stopped, variables_of
from .operator_layers import Layer, LayerCall, Layers, OperatorLayers

_REGIONS = LAYERS.extended(
    {
        "im_info": "height, width and scale of each image, [N, 3].",
        "min_level": "the finest level.",
        "max_level": "the coarsest level.",
    }
)
_regions = OperatorLayers(_REGIONS)


@_regions.signature("""
    generate_proposals(scores, bbox_deltas, im_info, anchors, variances, pre_nms_top_n=6000,
        post_nms_top_n=1000, nms_thresh=0.5, min_size=0.1, eta=1.0, name,
        return_rois_num: bool = False)
""")
def generate_proposals(f: LayerBuilder, call: LayerCall) -> tuple[Variable, ...]:
    """The regions with the best scores, of which none overlap too much.

    Ren et al., Faster R-CNN, NIPS 2015.

    Args:
        scores: of an object in each anchor, [N, anchors, H, W].
        bbox_deltas: boxes relative to anchors, [N, 4 * anchors, H, W].
        anchors, variances: [H, W, anchors, 4].
        pre_nms_top_n: how many anchors of an image are looked at, the best; 0 for all.
        post_nms_top_n: how many regions of an image are kept; 0 for all.
        nms_thresh: overlaps above it suppress; with 0 all regions are kept.
        min_size: of a region before scaling, in pixels.
        eta: what ``nms_thresh`` is multiplied with at each region kept, while it is above 0.5.
        return_rois_num: whether to give where the regions of each image end, too, [N].

    Returns:
        the regions, [n, 4], those of an image being a sequence; and their scores, [n, 1].

    >>> scores, deltas = fluid.data("s", [None, 3, 4, 5]), fluid.data("d", [None, 12, 4, 5])
    >>> anchors, info = fluid.data("anchors", [4, 5, 3, 4]), fluid.data("info", [None, 3])
    >>> rois, probs = fluid.layers.generate_proposals(scores, deltas, info, anchors, anchors)
    >>> rois.shape, probs.shape
    ((-1, 4), (-1, 1))
    """
    slots = ["RpnRois", "RpnRoiProbs", "RpnRoisLod"]
    outs = stopped([f.new_variable() for _ in slots])
    f.into("generate_proposals", call.ins, dict(zip(slots, outs)), **call.attrs)
    return tuple(outs if call.return_rois_num else outs[:2])


def _classes(class_nums: int | None = None) -> dict[str, int]:
    if class_nums is None:
        raise ArgumentError("expected class_nums, how many classes there are, got None")
    return {"class_nums": class_nums}


generate_proposal_labels: Layers = OperatorLayers(_REGIONS, _classes).several(
    """
    generate_proposal_labels(rpn_rois, gt_classes, is_crowd, gt_boxes, im_info,
        batch_size_per_im=256, fg_fraction=0.25, fg_thresh=0.25, bg_thresh_hi=0.5,
        bg_thresh_lo=0.0, bbox_reg_weights=[0.1, 0.1, 0.2, 0.2], class_nums, use_random,
        is_cls_agnostic, is_cascade_rcnn)

    Raises:
        ArgumentError: there is no ``class_nums``.

    >>> rois, true = (fluid.data(n, [None, 4], lod_level=1) for n in ("rois", "true"))
    >>> classes, crowd = (fluid.data(n, [None, 1], "int32", lod_level=1) for n in ("c", "crowd"))
    >>> info = fluid.data("info", [None, 3])
    >>> found = fluid.layers.generate_proposal_labels(
    ...     rois, classes, crowd, true, info, class_nums=3
    ... )
    >>> [v.shape for v in found]
    [(-1, 4), (-1, 1), (-1, 12), (-1, 12), (-1, 12)]
    """,
    is_stopped=True,
)
generate_mask_labels: Layers = _regions.several(
    """
    generate_mask_labels(im_info, gt_classes, is_crowd, gt_segms, rois, labels_int32,
        num_classes, resolution)

    >>> info, rois = fluid.data("info", [None, 3]), fluid.data("rois", [None, 4], lod_level=1)
    >>> classes, crowd, labels = (
    ...     fluid.data(n, [None, 1], "int32", lod_level=1) for n in ("classes", "crowd", "labels")
    ... )
    >>> corners = fluid.data("corners", [None, 2], lod_level=3)
    >>> found = fluid.layers.generate_mask_labels(
    ...     info, classes, crowd, corners, rois, labels, num_classes=3, resolution=7
    ... )
    >>> [v.shape for v in found]
    [(-1, 4), (-1, 1), (-1, 147)]
    """,
    is_stopped=True,
)


def _levels(min_level: int, max_level: int) -> dict[str, int]:
    if max_level <= min_level:
        raise ArgumentError(
            f"expected max_level above min_level, got levels {min_level} to {max_level}"
        )
    return {"min_level": min_level, "max_level": max_level}


def _as_list(found: tuple[Sequence[Variable], Variable]) -> tuple[list[Variable], Variable]:
    return list(found[0]), found[1]


distribute_fpn_proposals: Layers = OperatorLayers(_REGIONS, _levels, _as_list).several("""
    distribute_fpn_proposals(fpn_rois, min_level, max_level, refer_level, refer_scale, name)

    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> levels, places = fluid.layers.distribute_fpn_proposals(rois, 2, 5, 4, 224)
    >>> len(levels), levels[0].shape, places.shape
    (4, (-1, 4), (-1, 1))
""")


def _collected(
    multi_rois: Sequence[Variable], multi_scores: Sequence[Variable], min_level: int, max_level: int
) -> dict[str, list[Variable]]:
    levels = max_level - min_level + 1
    inputs = variables_of(multi_rois, "multi_rois"), variables_of(multi_scores, "multi_scores")
    if any(len(each) < levels for each in inputs):
        raise ArgumentError(
            f"expected multi_rois and multi_scores of {levels} levels, {min_level} to {max_level}, "
            f"got {len(inputs[0])} and {len(inputs[1])}"
        )
    return {"MultiLevelRois": inputs[0][:levels], "MultiLevelScores": inputs[1][:levels]}


collect_fpn_proposals: Layer = OperatorLayers(_REGIONS, _collected)(
    """
    collect_fpn_proposals(multi_rois, multi_scores, min_level, max_level, post_nms_top_n, name)

    Args:
        multi_rois: of each level, [n, 4], those of an image being a sequence.
        multi_scores: of each level, [n, 1].

    Returns:
        A variable of shape [m, 4].

    Raises:
        ArgumentError: there are not as many regions and scores as levels.

    >>> rois = [fluid.data(f"rois{k}", [None, 4], lod_level=1) for k in range(2)]
    >>> scores = [fluid.data(f"scores{k}", [None, 1], lod_level=1) for k in range(2)]
    >>> fluid.layers.collect_fpn_proposals(rois, scores, 2, 3, 100).shape
    (-1, 4)
    """,
    is_stopped=True,
)
