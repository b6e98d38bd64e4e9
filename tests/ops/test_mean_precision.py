"""The mean average precision, worked by hand."""

import numpy as np
import pytest

from fluidlite.errors import LoDError, OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
BOX, ELSEWHERE = [0.1, 0.1, 0.5, 0.5], [0.6, 0.6, 0.9, 0.9]
ONE = ((0, 1),)
MAP = dict(class_num=3)


def found(*rows):
    return LoDTensor(np.array(rows), ((0, len(rows)),))


def mean(detected, true, **attrs):
    return f.detection_map(detected, true, **{**MAP, **attrs})[3].item()


def test_precision_is_summed_over_recall():
    true = found([1, *BOX], [1, *ELSEWHERE])
    hit, miss, late = [1, 0.9, *BOX], [1, 0.8, 0, 0, 0.1, 0.1], [1, 0.7, *ELSEWHERE]
    assert mean(found(hit, miss, late), true) == pytest.approx((1 + 2 / 3) / 2)
    eleven = (6 * 1 + 5 * 2 / 3) / 11
    assert mean(found(hit, miss, late), true, ap_type="11point") == pytest.approx(eleven)
    assert mean(found(hit, hit), true) == pytest.approx(0.5)  # the second finds nothing new


def test_the_background_does_not_count():
    """The real system compares the number of true boxes with the label."""
    true = found([0, *BOX], [1, *ELSEWHERE])
    detected = found([0, 0.9, *BOX])
    assert mean(detected, true) == 0
    assert mean(detected, true, background_label=1) == 1
    assert mean(detected, true, background_label=-1) == 0.5


def test_difficult_boxes_may_be_left_out():
    true = found([1, 1, *BOX], [1, 0, *ELSEWHERE])
    detected = found([1, 0.9, *BOX], [1, 0.8, *ELSEWHERE])
    assert mean(detected, true, evaluate_difficult=False) == 1
    assert mean(found([1, 0.8, *ELSEWHERE]), true) == 0.5


def test_batches_are_counted_on():
    true, hit = found([1, *BOX]), found([1, 0.9, *BOX])
    counts, right, wrong, first = f.detection_map(hit, true, **MAP)
    assert (first.item(), counts.ravel().tolist()) == (1, [0, 1, 0])
    assert right.offsets == wrong.offsets == ((0, 0, 1, 1),)
    state = np.array([1]), counts, right, wrong
    miss = found([1, 0.95, *ELSEWHERE])
    counts, right, _, both = f.detection_map(miss, true, *state, **MAP)
    assert counts[1] == 2 and both.item() == pytest.approx(0.25)
    np.testing.assert_allclose(right.data, [[0.9, 1], [0.95, 0]])
    off = np.array([0]), *state[1:]
    assert f.detection_map(miss, true, *off, **MAP)[3].item() == 0
    assert first == f.detection_map(hit, true, *off, **MAP)[3]


def test_a_batch_in_which_nothing_was_found_counts():
    nothing = LoDTensor(np.array([[-1.0]]), ONE)  # as multiclass_nms says it
    assert mean(nothing, found([1, *BOX])) == 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(LoDError, match="expected DetectRes with sequences, got no LoD"):
        mean(np.zeros([1, 6]), found([1, *BOX]))
    with pytest.raises(OutOfRangeError, match=r"classes of Label in \[0, 3\).* got 3"):
        mean(found([1, 0.9, *BOX]), found([3, *BOX]))
    with pytest.raises(ShapeError, match=r"Label of shape \[n, 6\]"):
        infer("detection_map", MAP, DetectRes=((5, 6), "float32"), Label=((5, 4), "float32"))
