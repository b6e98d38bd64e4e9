"""Boxes and polygons that suppress others, worked by hand and by loops."""

import numpy as np
import pytest

from fluidlite.errors import LoDError, ShapeError
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.ops.overlaps import BoxOverlaps, box_overlaps
from fluidlite.ops.polygons import common_areas, polygon_areas

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
#: the second overlaps the first by 2/3, the third none
BOXES = np.array([[0.0, 0, 5, 1], [1, 0, 6, 1], [8, 0, 9, 1]])
SCORES = np.array([[0.9, 0.8, 0.7]])
ALL = dict(score_threshold=0.0, nms_top_k=-1, keep_top_k=-1, background_label=-1)


def loops(boxes, scores, threshold):
    """Suppression, one pair of boxes at a time."""
    kept = []
    for k in np.argsort(-scores, kind="stable"):
        if all(box_overlaps(np, boxes[k], boxes[j : j + 1], 0)[0] <= threshold for j in kept):
            kept.append(k)
    return kept


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7])
def test_what_is_kept_is_what_loops_over_pairs_keep(threshold):
    corner = rng.uniform(size=[60, 2])
    boxes = np.concatenate([corner, corner + rng.uniform(0.05, 0.5, size=[60, 2])], axis=1)
    scores = rng.integers(1, 20, size=60) / 20  # some are equal
    out = f.multiclass_nms(boxes[None], scores[None, None], nms_threshold=threshold, **ALL)
    wanted = loops(boxes, scores, threshold)
    np.testing.assert_array_equal(out.data[:, 2:], boxes[wanted])


def test_boxes_without_area_suppress_none_of_their_kind_where_boxes_have_no_scores():
    points = np.array([[0.0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    assert f.nms(points, iou_threshold=0.3).tolist() == [0, 1, 2, 3]


def test_a_box_that_overlaps_a_better_one_is_left_out():
    out, index = f.multiclass_nms2.all(BOXES[None], SCORES[None], **ALL).values()
    np.testing.assert_array_equal(out.data, [[0, 0.9, 0, 0, 5, 1], [0, 0.7, 8, 0, 9, 1]])
    assert (index.data.ravel().tolist(), index.data.dtype) == ([0, 2], np.int32)
    assert out.offsets == index.offsets == ((0, 2),)
    above = dict(ALL, nms_threshold=0.7)
    assert len(f.multiclass_nms(BOXES[None], SCORES[None], **above).data) == 3


def test_the_threshold_sinks_with_every_box_that_is_kept():
    sinking = dict(ALL, nms_threshold=0.7, nms_eta=0.9)
    assert len(f.multiclass_nms(BOXES[None], SCORES[None], **sinking).data) == 2  # 0.63 < 2/3


def test_images_are_told_apart_and_one_may_have_nothing():
    scores = np.stack([SCORES, SCORES * 0])
    out = f.multiclass_nms(np.stack([BOXES, BOXES]), scores, **ALL)
    assert out.offsets == ((0, 2, 2),)


def test_where_nothing_is_found_there_is_one_number_or_no_row():
    attrs = dict(ALL, score_threshold=1.0)
    out = f.multiclass_nms(BOXES[None], SCORES[None], **attrs)
    np.testing.assert_array_equal(out.data, [[-1]])
    assert out.offsets == ((0, 1),)
    found = f.multiclass_nms2.all(BOXES[None], SCORES[None], **attrs)
    assert [bare(v).shape for v in found.values()] == [(0, 6), (0, 1)]
    assert found["Out"].offsets == ((0, 0),)


def test_each_class_may_have_its_own_boxes():
    boxes, scores = np.stack([BOXES, BOXES + 20], axis=1), np.repeat(SCORES.T, 2, axis=1)
    lod = ((0, 1, 3),)
    found = f.multiclass_nms2.all(LoDTensor(boxes, lod), LoDTensor(scores, lod), **ALL)
    assert found["Out"].data[:, 0].tolist() == [0, 1, 0, 0, 1, 1]
    assert found["Index"].data.ravel().tolist() == [0, 1, 2, 4, 3, 5]


def test_scores_sink_by_the_overlap_with_better_boxes():
    out, index = f.matrix_nms(BOXES[None], SCORES[None], **ALL)
    np.testing.assert_allclose(out.data[:, 1], [0.9, 0.7, 0.8 / 3])
    assert index.data.ravel().tolist() == [0, 2, 1]
    out, _ = f.matrix_nms(BOXES[None], SCORES[None], use_gaussian=True, **ALL)
    np.testing.assert_allclose(out.data[:, 1], [0.9, 0.7, 0.8 * np.exp(-8 / 9)])


def test_neighbours_are_merged_by_their_scores():
    out = f.locality_aware_nms(BOXES[None], SCORES[None], **ALL)
    np.testing.assert_allclose(out.data[:, 1], [1.7, 0.7])
    np.testing.assert_allclose(out.data[0, 2:], [8 / 17, 0, 5 + 8 / 17, 1])


def test_areas_that_polygons_have_in_common_are_those_that_points_find():
    one, others = rng.uniform(size=[6, 2]), rng.uniform(size=[4, 6, 2])
    points = (np.stack(np.meshgrid(np.arange(500), np.arange(500)), axis=-1) + 0.5) / 500

    def inside(polygon):
        met = np.zeros([500, 500], bool)
        for (x, y), (u, v) in zip(polygon, np.roll(polygon, -1, axis=0)):
            across = (y <= points[..., 1]) != (v <= points[..., 1])
            met ^= across & (points[..., 0] < x + (points[..., 1] - y) / (v - y) * (u - x))
        return met

    counted = [np.mean(inside(one) & inside(other)) for other in others]
    np.testing.assert_allclose(common_areas(np, one, others), counted, atol=2e-3)
    square = np.array([[0.0, 0], [2, 0], [2, 2], [0, 2]])
    np.testing.assert_allclose(common_areas(np, square, square[None] + 1), [1])
    assert polygon_areas(np, square) == 4


def test_detections_of_levels_are_put_together():
    anchors = np.array([[0.0, 0, 9, 9]])
    boxes, info = np.zeros([1, 1, 4]), np.array([[40.0, 40, 2]])
    scores = [np.array([[[0.6, 0.3]]]), np.array([[[0.0, 0.02]]])]
    attrs = dict(score_threshold=0.5, nms_top_k=10, keep_top_k=9, nms_threshold=0.3, nms_eta=1.0)
    out = f.retinanet_detection_output([boxes] * 2, scores, [anchors, anchors + 20], info, **attrs)
    wanted = [[1, 0.6, 0, 0, 4.5, 4.5], [2, 0.02, 10, 10, 14.5, 14.5]]
    np.testing.assert_allclose(out.data, wanted)


def test_tensors_without_sequences_are_refused_where_images_are_not_told_apart():
    with pytest.raises(LoDError, match="Scores with a sequence for each image, got no LoD"):
        f.multiclass_nms(BOXES[:, None], SCORES.T, **ALL)


@pytest.mark.parametrize(
    "error, message, attrs, shapes",
    [
        (ShapeError, "boxes of 4 or 8 or 16", {}, dict(BBoxes=[2, 7, 5])),
        (ShapeError, r"Scores of shape \[2, 3, 7\]", {}, dict(Scores=[2, 3, 6])),
    ],
)
def test_what_does_not_fit_is_refused(error, message, attrs, shapes):
    shapes = dict(dict(BBoxes=[2, 7, 4], Scores=[2, 3, 7]), **shapes)
    with pytest.raises(error, match=message):
        infer(
            "multiclass_nms",
            {**ALL, **attrs},
            **{slot: (shape, "float32") for slot, shape in shapes.items()},
        )


@pytest.mark.parametrize("eta", [1.0, 0.8])
@pytest.mark.parametrize("normalized", [True, False])
def test_looking_for_few_boxes_finds_the_best_of_all_that_are_kept(eta, normalized):
    corner = rng.uniform(size=[2, 300, 2]).round(2)
    boxes = np.concatenate([corner, corner + rng.uniform(0, 0.2, size=[2, 300, 2]).round(2)], -1)
    scores = rng.integers(1, 50, size=[2, 5, 300]) / 50  # some are equal
    attrs = {**ALL, "nms_threshold": 0.6, "nms_eta": eta, "normalized": normalized}
    whole = f.multiclass_nms(boxes, scores, **attrs)
    few = f.multiclass_nms(boxes, scores, **{**attrs, "keep_top_k": 20})
    wanted = []
    for begin, end in zip(whole.offsets[0], whole.offsets[0][1:]):
        rows = whole.data[begin:end]
        best = rows[np.argsort(-rows[:, 1], kind="stable")[:20]]
        wanted.append(best[np.argsort(best[:, 0], kind="stable")])
    np.testing.assert_array_equal(few.data, np.concatenate(wanted))


def test_blocks_of_overlaps_are_those_of_pairs():
    corner = rng.uniform(size=[40, 2]).round(1)
    boxes = np.concatenate([corner, corner + rng.uniform(-0.1, 0.5, size=[40, 2]).round(1)], 1)
    for more in (0, 1):
        found = BoxOverlaps(np, boxes, more)(slice(0, 30), np.arange(10, 40))
        wanted = box_overlaps(np, boxes[:30, None], boxes[None, 10:], more)
        np.testing.assert_array_equal(found, wanted)
