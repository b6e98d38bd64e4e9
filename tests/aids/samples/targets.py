"""Samples of what anchors and regions are to become."""

import numpy as np

from .form import Sample, samples
from .suppression import boxes

ANCHORS, TRUE = np.array([0, 3, 5]), ((0, 1, 3),)
INFO = np.array([[40.0, 50, 1], [44, 48, 2]])


def true(rng):
    """True boxes of two images, and which of them are crowds."""
    found = boxes(rng, 3) * 20
    return found, np.array([[0], [0], [1]])


@samples("rpn_target_assign", "retinanet_target_assign")
def anchor_targets(rng, type):
    found, crowd = true(rng)
    inputs = dict(Anchor=boxes(rng, 9) * 30, GtBoxes=found, IsCrowd=crowd, ImInfo=INFO)
    lods = dict(GtBoxes=TRUE, IsCrowd=TRUE)
    if type == "retinanet_target_assign":
        inputs["GtLabels"] = np.array([[2], [1], [3]])
        yield Sample(inputs, lods=dict(lods, GtLabels=TRUE))
        return
    attrs = dict(rpn_batch_size_per_im=5, rpn_straddle_thresh=-1.0)
    yield Sample(inputs, dict(attrs, use_random=False), lods=lods)
    yield Sample(
        inputs, dict(attrs, rpn_batch_size_per_im=3), "random", lods=lods, values_matter=False
    )


@samples("generate_proposal_labels")
def generate_proposal_labels(rng):
    found, crowd = true(rng)
    rois = np.concatenate([found[[0, 1, 1, 2]] + 0.5, boxes(rng, 5) * 20])
    inputs = dict(
        RpnRois=rois, GtClasses=np.array([[1], [2], [1]]), IsCrowd=crowd, GtBoxes=found, ImInfo=INFO
    )
    lods = dict(RpnRois=((0, 5, 9),), GtClasses=TRUE, IsCrowd=TRUE, GtBoxes=TRUE)
    attrs = dict(
        batch_size_per_im=4,
        fg_fraction=0.5,
        fg_thresh=0.5,
        bg_thresh_hi=0.5,
        bg_thresh_lo=0.0,
        bbox_reg_weights=[0.1, 0.1, 0.2, 0.2],
        class_nums=3,
        use_random=False,
    )
    yield Sample(inputs, attrs, lods=lods)
    yield Sample(inputs, dict(attrs, is_cascade_rcnn=True), "cascade", lods=lods)
    yield Sample(inputs, dict(attrs, is_cls_agnostic=True), "agnostic", lods=lods)


@samples("generate_mask_labels")
def generate_mask_labels(rng):
    corners = np.array([[1.0, 1], [9, 2], [5, 8], [20, 20], [30, 21], [31, 33], [19, 30]])
    levels = ((0, 1, 2), (0, 1, 2), (0, 3, 7))
    inputs = dict(
        ImInfo=INFO,
        GtClasses=np.array([[1], [2]]),
        IsCrowd=np.array([[0], [0]]),
        GtSegms=corners,
        Rois=np.array([[0.0, 0, 10, 9], [4, 4, 8, 8], [36, 40, 64, 66]]),
        LabelsInt32=np.array([[1], [0], [2]]),
    )
    rois, each = ((0, 2, 3),), ((0, 1, 2),)
    lods = dict(GtClasses=each, IsCrowd=each, GtSegms=levels, Rois=rois, LabelsInt32=rois)
    yield Sample(inputs, dict(num_classes=3, resolution=5), lods=lods)


@samples("generate_proposals")
def generate_proposals(rng):
    inputs = dict(
        Scores=rng.uniform(size=[2, 3, 4, 5]),
        BboxDeltas=rng.normal(0, 0.3, size=[2, 12, 4, 5]),
        ImInfo=INFO,
        Anchors=boxes(rng, 4, 5, 3) * 40,
        Variances=rng.uniform(0.5, 1, size=[4, 5, 3, 4]),
    )
    attrs = dict(pre_nms_topN=20, post_nms_topN=7, nms_thresh=0.5, min_size=2.0, eta=1.0)
    yield Sample(inputs, attrs)


@samples("generate_proposals_v2")
def generate_proposals_v2(rng):
    (plain,) = generate_proposals(rng)
    inputs = {slot: value for slot, value in plain.inputs.items() if slot != "ImInfo"}
    inputs["ImShape"] = INFO[:, :2]
    yield Sample(inputs, dict(plain.attrs, pixel_offset=False))


@samples("distribute_fpn_proposals")
def distribute_fpn_proposals(rng):
    rois = boxes(rng, 7) * np.array([[8.0], [16], [32], [64], [8], [90], [0.5]])
    attrs = dict(min_level=2, max_level=4, refer_level=3, refer_scale=10)
    yield Sample(dict(FpnRois=rois), attrs, lods=dict(FpnRois=((0, 3, 7),)))
    inputs = dict(FpnRois=rois, RoisNum=np.array([3, 0, 4]))
    yield Sample(inputs, dict(attrs, pixel_offset=False), "counts")


@samples("collect_fpn_proposals")
def collect_fpn_proposals(rng):
    lods = [((0, 3, 5),), ((0, 0, 3),)]
    inputs = dict(
        MultiLevelRois=[boxes(rng, n) * 20 for n in (5, 3)],
        MultiLevelScores=[rng.uniform(size=[n, 1]) for n in (5, 3)],
    )
    yield Sample(
        inputs, dict(post_nms_topN=6), lods=dict(MultiLevelRois=lods, MultiLevelScores=lods)
    )


@samples("mine_hard_examples")
def mine_hard_examples(rng):
    inputs = dict(
        ClsLoss=rng.uniform(size=[2, 6]),
        MatchIndices=np.array([[0, -1, -1, 2, -1, -1], [-1, -1, 1, -1, -1, -1]]),
        MatchDist=rng.uniform(0, 0.4, size=[2, 6]),
    )
    yield Sample(inputs)
    inputs = dict(inputs, LocLoss=rng.uniform(size=[2, 6]))
    yield Sample(inputs, dict(mining_type="hard_example", sample_size=3), "hard_example")


@samples("detection_map")
def detection_map(rng):
    places = boxes(rng, 4)
    label = np.concatenate([np.array([[1.0], [2], [1], [2]]), places], axis=1)
    heads = np.array([[1, 0.9], [2, 0.8], [1, 0.7], [2, 0.6], [1, 0.5]])
    found = np.concatenate([heads, np.concatenate([places, boxes(rng, 1)]) + 0.01], axis=1)
    lods = dict(DetectRes=((0, 3, 5),), Label=((0, 2, 4),))
    inputs = dict(DetectRes=found, Label=label)
    yield Sample(inputs, dict(class_num=3), lods=lods)
    pairs = np.array([[0.4, 1], [0.3, 0]])
    state = dict(
        HasState=np.array([1]),
        PosCount=np.array([[0], [2], [1]]),
        TruePos=pairs,
        FalsePos=np.array([[0.4, 0], [0.3, 1]]),
    )
    more = dict(TruePos=((0, 0, 1, 2),), FalsePos=((0, 0, 1, 2),))
    attrs = dict(class_num=3, ap_type="11point")
    yield Sample({**inputs, **state}, attrs, "counted", lods={**lods, **more})
