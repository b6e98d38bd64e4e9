"""Proposed regions and what they are to become, worked by hand."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, LoDError, OutOfRangeError
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.ops.mask_targets import mask_of

from gradcheck import evaluator
from infer import infer

f = evaluator()
INFO = np.array([[100.0, 100, 1]])
ONE = ((0, 1),)


def rows(values, *lengths):
    """A tensor whose sequences have these lengths."""
    return LoDTensor(np.array(values), (tuple(np.cumsum([0, *lengths]).tolist()),))


def test_the_best_anchors_that_are_large_enough_become_regions():
    anchors = np.array([[0.0, 0, 9, 9], [20, 20, 29, 29], [40, 40, 40, 40]]).reshape(1, 3, 1, 4)
    scores, deltas = np.array([0.5, 0.9, 0.7]).reshape(1, 1, 1, 3), np.zeros([1, 4, 1, 3])
    attrs = dict(pre_nms_topN=0, post_nms_topN=0, nms_thresh=0.5, min_size=3.0, eta=1.0)
    inputs = scores, deltas, INFO, anchors, np.ones_like(anchors)
    rois, probs, ends = f.generate_proposals.all(*inputs, **attrs).values()
    np.testing.assert_array_equal(rois.data, [[20, 20, 29, 29], [0, 0, 9, 9]])
    assert (probs.data.ravel().tolist(), ends.tolist()) == ([0.9, 0.5], [2])
    none = f.generate_proposals(*inputs, **dict(attrs, min_size=50.0))
    assert none[0].data.shape == (0, 4) and none[0].offsets == ((0, 0),)
    no_pixels = f.generate_proposals(scores, deltas, INFO * 0, anchors, anchors, **attrs)
    assert no_pixels[0].data.shape == (0, 4)


def test_regions_go_to_the_level_of_their_size_and_back():
    rois = rows([[0.0, 0, 9, 9], [0, 0, 39, 39], [0, 0, 19, 19]], 1, 2)
    attrs = dict(min_level=2, max_level=4, refer_level=3, refer_scale=20)
    levels, places = f.distribute_fpn_proposals(rois, **attrs)
    assert [level.offsets for level in levels] == [((0, 1, 1),), ((0, 0, 1),), ((0, 0, 1),)]
    together = np.concatenate([level.data for level in levels])
    np.testing.assert_array_equal(together[places[:, 0]], rois.data)
    with pytest.raises(LoDError, match="expected FpnRois with sequences, got no LoD"):
        f.distribute_fpn_proposals(rois.data, **attrs)
    with pytest.raises(AttributeValueError, match="max_level above min_level"):
        infer("distribute_fpn_proposals", dict(attrs, max_level=2), FpnRois=((3, 4), "float32"))


def test_the_best_regions_of_all_levels_are_collected_by_image():
    rois = [rows([[0.0, 0, 1, 1], [0, 0, 2, 2]], 1, 1), rows([[0.0, 0, 3, 3]], 1, 0)]
    scores = [rows([[0.3], [0.9]], 1, 1), rows([[0.5]], 1, 0)]
    out = f.collect_fpn_proposals(rois, scores, post_nms_topN=2)
    np.testing.assert_array_equal(out.data[:, 3], [3, 2])
    assert out.offsets == ((0, 1, 2),)


def test_an_image_without_a_region_keeps_its_empty_sequence():
    """The real system leaves out the images at the end that have none."""
    rois, scores = rows([[0.0, 0, 1, 1], [0, 0, 2, 2]], 1, 1), rows([[0.9], [0.3]], 1, 1)
    assert f.collect_fpn_proposals([rois], [scores], post_nms_topN=1).offsets == ((0, 1, 1),)


ANCHORS = np.array([[0.0, 0, 9, 9], [0, 0, 9, 14], [50, 50, 59, 59], [95, 95, 104, 104]])
TRUE, CROWD = rows([[0.0, 0, 9, 9]], 1), rows([[0]], 1)
RPN = dict(rpn_straddle_thresh=0.0, rpn_positive_overlap=0.7, rpn_negative_overlap=0.3)


def test_anchors_become_objects_or_background():
    found = f.rpn_target_assign(ANCHORS, TRUE, CROWD, INFO, use_random=False, **RPN)
    located, scored, boxes, label, weight = (each.data.tolist() for each in found)
    assert (located, scored, label) == ([0], [0, 2], [[1], [0]])  # 1 is neither, 3 reaches out
    assert (boxes, weight) == ([[0, 0, 0, 0]], [[1, 1, 1, 1]])


def test_drawn_anchors_are_valid_and_fixed_by_the_seed():
    anchors = np.concatenate([ANCHORS] * 8)
    attrs = dict(RPN, rpn_batch_size_per_im=6, rpn_fg_fraction=0.5)
    found = [
        evaluator(seed).rpn_target_assign(anchors, TRUE, CROWD, INFO, **attrs) for seed in (1, 1, 2)
    ]
    located, scored, _, label, _ = (each.data for each in found[0])
    assert len(located) == 3 and len(scored) == 6 and label.sum() == 3
    assert set(located % 4) == {0} and set(scored[3:] % 4) == {2}
    assert len(set(scored.tolist())) == 6
    for a, b in zip(found[0], found[1]):
        np.testing.assert_array_equal(a.data, b.data)
    assert any((a.data != b.data).any() for a, b in zip(found[0], found[2]))


def test_classes_of_anchors_and_how_many_are_objects():
    found = f.retinanet_target_assign(ANCHORS, TRUE, rows([[3]], 1), CROWD, INFO)
    assert found[3].data.ravel().tolist() == [3, 3, 0, 0]
    assert found[5].data.tolist() == [[3]]


def test_true_boxes_have_sequences_of_images_and_nothing_overlaps_those_upside_down():
    found = f.rpn_target_assign.all(ANCHORS, rows([[9.0, 0, 0, 9]], 1), CROWD, INFO, **RPN)
    assert not bare(found["TargetLabel"]).any()
    with pytest.raises(LoDError, match="GtBoxes of 1 sequences, one for each image, got 2"):
        f.rpn_target_assign(ANCHORS, rows([[0.0, 0, 9, 9]], 1, 0), CROWD, INFO, **RPN)
    with pytest.raises(LoDError, match=r"IsCrowd with the sequences of GtBoxes, of lengths \[1\]"):
        f.rpn_target_assign(ANCHORS, TRUE, rows([[0], [0]], 2), INFO, **RPN)


LABELS = dict(
    batch_size_per_im=4,
    fg_fraction=0.5,
    fg_thresh=0.5,
    bg_thresh_hi=0.5,
    bg_thresh_lo=0.0,
    bbox_reg_weights=[1.0] * 4,
    class_nums=3,
)


def test_regions_get_classes_and_boxes_at_their_places():
    rois = rows([[0.0, 0, 9, 9], [60, 60, 70, 70]], 2)
    found = f.generate_proposal_labels(
        rois, rows([[2]], 1), CROWD, TRUE, INFO, use_random=False, **LABELS
    )
    regions, labels, targets, inside, _ = (each.data for each in found)
    np.testing.assert_array_equal(regions, [[0, 0, 9, 9], [0, 0, 9, 9], [60, 60, 70, 70]])
    assert labels.ravel().tolist() == [2, 2, 0]
    assert not targets.any() and inside[:2, 8:].all() and inside.sum() == 8


def test_drawn_regions_are_fixed_by_the_seed():
    rois = rows(np.arange(30)[:, None] + np.array([[0.0, 0, 9, 9]]), 30)
    given = rois, rows([[2]], 1), CROWD, TRUE, INFO
    first, again, other = (
        evaluator(seed).generate_proposal_labels(*given, **LABELS)[0].data for seed in (1, 1, 5)
    )
    np.testing.assert_array_equal(first, again)
    assert first.shape == (4, 4) and (first != other).any()


def test_classes_that_are_not_there_are_refused():
    with pytest.raises(OutOfRangeError, match=r"GtClasses in \[0, 3\), as class_nums says, got 3"):
        f.generate_proposal_labels(TRUE, rows([[3]], 1), CROWD, TRUE, INFO, **LABELS)


def test_boxes_without_classes_take_every_class_of_objects():
    given = {**LABELS, "class_nums": 2, "use_random": False, "is_cls_agnostic": True}
    rois = rows([[0, 0, 9, 9]], 1)
    _, labels, targets, *_ = f.generate_proposal_labels(
        rois, rows([[5]], 1), CROWD, TRUE, INFO, **given
    )
    _, _, of_one, *_ = f.generate_proposal_labels(rois, rows([[1]], 1), CROWD, TRUE, INFO, **given)
    assert labels.data.max() == 5
    np.testing.assert_array_equal(targets.data, of_one.data)
    with pytest.raises(OutOfRangeError, match="GtClasses of at least 0, got -1"):
        f.generate_proposal_labels(rois, rows([[-1]], 1), CROWD, TRUE, INFO, **given)


def test_masks_are_those_of_points_in_polygons():
    square = np.array([[1.0, 1], [4, 1], [4, 3], [1, 3]])
    wanted = np.zeros([5, 5], bool)
    wanted[1:3, 1:4] = True
    np.testing.assert_array_equal(mask_of(square, 5), wanted)
    assert mask_of(np.array([[-9.0, -9], [20, -9], [20, 20], [-9, 20]]), 4).all()


def test_regions_of_objects_get_the_masks_of_their_classes():
    corners = LoDTensor(np.array([[0.0, 0], [4, 0], [4, 8], [0, 8]]), (ONE[0], ONE[0], (0, 4)))
    rois, labels = rows([[50.0, 50, 60, 60], [0, 0, 8, 8]], 2), rows([[0], [1]], 2)
    given = INFO, rows([[1]], 1), CROWD, corners, rois
    out, places, masks = f.generate_mask_labels(*given, labels, num_classes=2, resolution=2)
    assert (out.data.tolist(), places.data.tolist()) == ([[0, 0, 8, 8]], [[1]])
    assert masks.data.tolist() == [[-1] * 4 + [1, 0, 1, 0]]
    background = rows([[0], [0]], 2)
    out, places, masks = f.generate_mask_labels(*given, background, num_classes=2, resolution=2)
    assert out.data.tolist() == [[50, 50, 60, 60]] and (masks.data == -1).all()
    with pytest.raises(OutOfRangeError, match=r"LabelsInt32 in \[0, 1\)"):
        f.generate_mask_labels(*given, labels, num_classes=1, resolution=2)
    flat = LoDTensor(corners.data, ((0, 4),))
    with pytest.raises(LoDError, match="GtSegms with sequences of 3 levels, got 1 level"):
        f.generate_mask_labels(*given[:3], flat, rois, labels, num_classes=2, resolution=2)
