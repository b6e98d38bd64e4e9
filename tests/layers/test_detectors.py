"""Whole pipelines of detectors: what they write, and what comes out."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.contrib.layers import multiclass_nms2
from fluidlite.errors import ArgumentError, LoDError, ShapeError

from building import data, refused, run, written

rng = np.random.default_rng(0)
PRIORS = np.float32([[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9], [0.0, 0.6, 0.3, 0.9]])
VARIANCES = np.full([3, 4], 0.1, "float32")


def ragged(name, numbers, dtype="float32"):
    return data(name, [None, numbers], dtype, lod_level=1)


def one_image(array):
    return fluid.create_lod_tensor(np.asarray(array), [[len(array)]])


def ssd():
    return (
        data("loc", [None, 3, 4]),
        data("scores", [None, 3, 4]),
        data("priors", [3, 4]),
        data("variances", [3, 4]),
    )


def fetched(*variables, **feed):
    """Values of variables after four runs, the last of which is compiled where it can be."""
    exe = fluid.Executor()
    for _ in range(4):
        found = exe.run(feed=feed, fetch_list=list(variables), return_numpy=False)
    return found


def test_boxes_with_good_scores_are_found():
    out = layers.detection_output(*ssd(), score_threshold=0.5)
    assert (out.shape, out.lod_level, out.stop_gradient) == ((-1, 6), 1, True)
    scores = np.zeros([2, 3, 4], "float32")
    scores[1, 2, 3] = 5
    feed = dict(loc=np.zeros([2, 3, 4], "float32"), priors=PRIORS, variances=VARIANCES)
    (found,) = fetched(out, scores=scores, **feed)
    assert found.recursive_sequence_lengths() == [[0, 1]]
    np.testing.assert_allclose(np.array(found)[0, 2:], PRIORS[2], 1e-6)
    assert np.array(found)[0, 0] == 3
    (found,) = fetched(out, scores=scores * 0, **feed)
    assert (np.array(found).tolist(), found.recursive_sequence_lengths()) == ([[-1]], [[1]])


def test_the_numbers_of_boxes_may_be_asked_for():
    _, index = layers.detection_output(*ssd(), return_index=True, background_label=2)
    assert index.shape == (-1, 1) and "int32" in str(index)
    assert "background_label=2" in written()[-1]
    boxes, scores = data("b", [None, 5, 4]), data("s", [None, 2, 5])
    assert len(layers.matrix_nms(boxes, scores, 0.1, 0.1, 5, 5, return_index=True)) == 2
    assert len(multiclass_nms2(boxes, scores, 0.1, 5, 5, return_index=True)) == 2
    assert multiclass_nms2(boxes, scores, 0.1, 5, 5).shape == (-1, 6)
    assert layers.locality_aware_nms(boxes, scores, 0.1, 5, 5).shape == (-1, 6)


def test_the_loss_of_ssd_is_that_of_its_parts():
    """One true box, which is the first prior box: its offsets are right at 0."""
    loc, scores, priors, variances = ssd()
    box, label = ragged("box", 4), ragged("label", 1, "int32")
    loss = layers.ssd_loss(loc, scores, box, label, priors, variances, neg_pos_ratio=1.0)
    assert loss.shape[1] == 1
    score = np.float32([[[0, 2, 0, 0], [3, 0, 0, 1], [0, 0, 0, 2]]])
    feed = dict(
        loc=np.full([1, 3, 4], 0.5, "float32"),
        scores=score,
        box=one_image(PRIORS[:1]),
        label=one_image(np.int32([[1]])),
        priors=PRIORS,
        variances=VARIANCES,
    )
    (found,) = fetched(loss, **feed)
    chances = np.log(np.exp(score[0]).sum(axis=1)) - score[0, :, 0]
    right = np.log(np.exp(score[0, 0]).sum()) - 2
    hardest = max(chances[1:])
    np.testing.assert_allclose(np.array(found), [[right + hardest + 4 * 0.125]], 1e-5)
    with refused(ArgumentError, "expected mining_type max_negative, got 'hard_example'"):
        layers.ssd_loss(loc, scores, box, label, priors, mining_type="hard_example")


def test_gradients_reach_what_anchors_are_compared_by():
    boxes, scores = data("boxes", [None, 4, 4]), data("scores", [None, 4, 1])
    boxes.stop_gradient = scores.stop_gradient = False
    anchors, info = data("anchors", [4, 4]), data("info", [None, 3])
    true, crowd = ragged("true", 4), ragged("crowd", 1, "int32")
    score, box, label, target, weight = layers.rpn_target_assign(
        boxes, scores, anchors, anchors, true, crowd, info, use_random=False
    )
    losses = layers.sigmoid_cross_entropy_with_logits(score, layers.cast(label, "float32"))
    loss = layers.reduce_sum(losses) + layers.reduce_sum(layers.smooth_l1(box, target, weight))
    gradients = fluid.gradients(loss, [boxes, scores])
    places = np.float32([[0, 0, 9, 9], [0, 0, 9, 12], [40, 40, 49, 49], [60, 60, 70, 70]])
    found = fetched(
        *gradients,
        boxes=np.full([1, 4, 4], 0.5, "float32"),
        scores=np.zeros([1, 4, 1], "float32"),
        anchors=places,
        info=np.float32([[100, 100, 1]]),
        true=one_image(places[:1]),
        crowd=one_image(np.int32([[0]])),
    )
    np.testing.assert_allclose(np.array(found[0])[0, :, 0], [0.5, 0.5, 0, 0])
    np.testing.assert_allclose(np.array(found[1])[0, :, 0], [-0.5, -0.5, 0.5, 0.5])


def test_regions_go_from_proposals_to_the_pooling_of_each_level():
    """No declaration says that proposals are sequences, as in fluid; they are, compiled or not."""
    scores, deltas = data("scores", [None, 1, 4, 4]), data("deltas", [None, 4, 4, 4])
    anchors, info = data("anchors", [4, 4, 1, 4]), data("info", [None, 3])
    rois, probs, ends = layers.generate_proposals(
        scores, deltas, info, anchors, anchors, nms_thresh=0.9, return_rois_num=True
    )
    levels, places = layers.distribute_fpn_proposals(rois, 2, 3, 3, 12)
    collected = layers.collect_fpn_proposals([rois], [probs], 2, 2, 3)
    maps = data("maps", [None, 2, 16, 16])
    pooled = [layers.roi_align(maps, level, 2, 2) for level in levels]
    corner = rng.uniform(0, 8, size=[4, 4, 1, 2])
    fed = dict(
        scores=rng.uniform(size=[2, 1, 4, 4]).astype("float32"),
        deltas=np.zeros([2, 4, 4, 4], "float32"),
        anchors=np.concatenate([corner, corner + rng.uniform(2, 8, size=[4, 4, 1, 2])], -1),
        info=np.float32([[16, 16, 1]] * 2),
        maps=rng.normal(size=[2, 2, 16, 16]).astype("float32"),
    )
    fed["anchors"] = fed["anchors"].astype("float32")
    found = fetched(rois, ends, places, collected, *pooled, *levels, **fed)
    lengths = found[0].recursive_sequence_lengths()[0]
    assert np.cumsum(lengths).tolist() == np.array(found[1]).tolist()
    assert len(np.array(found[4])) + len(np.array(found[5])) == sum(lengths)
    assert sum(found[3].recursive_sequence_lengths()[0]) == 3
    together = np.concatenate([np.array(level) for level in found[6:]])
    np.testing.assert_array_equal(together[np.array(found[2])[:, 0]], np.array(found[0]))


def test_boxes_of_images_are_clipped_to_their_own_sizes():
    out = layers.box_clip(ragged("boxes", 4), data("info", [None, 3]))
    boxes = fluid.create_lod_tensor(np.float32([[-1, 2, 30, 90]] * 3), [[1, 2]])
    (found,) = fetched(out, boxes=boxes, info=np.float32([[50, 20, 1], [40, 80, 2]]))
    np.testing.assert_array_equal(np.array(found), [[0, 2, 19, 49]] + [[0, 2, 30, 19]] * 2)
    assert found.recursive_sequence_lengths() == [[1, 2]]
    with pytest.raises(ShapeError, match="boxes of 1 images, as ImInfo says"):
        run(out, boxes=boxes, info=np.float32([[50, 20, 1]]))


def test_what_is_missing_is_named():
    rois, true = ragged("rois", 4), ragged("true", 4)
    classes, crowd = ragged("classes", 1, "int32"), ragged("crowd", 1, "int32")
    info, scores = data("info", [None, 3]), data("s", [None, 1])
    with refused(ArgumentError, "expected class_nums, how many classes there are"):
        layers.generate_proposal_labels(rois, classes, crowd, true, info)
    with refused(ArgumentError, "multi_rois and multi_scores of 3 levels, 2 to 4, got 1 and 1"):
        layers.collect_fpn_proposals([rois], [scores], 2, 4, 10)
    with refused(ArgumentError, "expected class_num"):
        fluid.metrics.DetectionMAP(rois, classes, true)
    with pytest.raises(LoDError, match="expected FpnRois with sequences, got no LoD") as raised:
        run(layers.distribute_fpn_proposals(rois, 2, 3, 3, 12)[1], rois=PRIORS)
    assert "test_detectors.py" in str(raised.value) and "rois" in str(raised.value)


def test_precision_over_batches_until_a_reset():
    detected = ragged("detected", 6)
    label, box, hard = ragged("label", 1, "int32"), ragged("box", 4), ragged("hard", 1)
    metric = fluid.metrics.DetectionMAP(
        detected, label, box, hard, class_num=2, evaluate_difficult=False, ap_version="11point"
    )
    now, since = metric.get_map_var()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    place = np.float32([[0.1, 0.1, 0.5, 0.5]])
    feed = dict(
        label=one_image(np.int32([[1]])), box=one_image(place), hard=one_image(place[:, :1] * 0)
    )

    def scores(move):
        row = np.concatenate([np.float32([[1, 0.9]]), place + np.float32(move)], axis=1)
        values = exe.run(feed=dict(feed, detected=one_image(row)), fetch_list=[now, since])
        return [value.item() for value in values]

    assert scores(0) == [1, 1]
    assert scores(0.4) == pytest.approx([0, 0.5], abs=0.06)  # one of two, the first or the second
    metric.reset(exe)
    assert scores(0) == [1, 1]
    program = fluid.Program()
    metric.reset(exe, program)
    assert len(program.global_block().ops) == 1
