"""Which box is matched with which, worked by hand."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
ALIKE = np.array([[0.9, 0.8, 0.1, 0.0], [0.7, 0.6, 0.3, 0.4]])


def test_the_largest_number_is_matched_first():
    # 0.9 takes row 0 and column 0; the largest that is left is 0.6
    rows, numbers = f.bipartite_match(ALIKE)
    np.testing.assert_array_equal(rows, [[0, 1, -1, -1]])
    np.testing.assert_array_equal(numbers, [[0.9, 0.6, 0, 0]])
    assert rows.dtype == np.int32


def test_what_is_left_goes_to_the_row_that_is_most_alike():
    attrs = dict(match_type="per_prediction", dist_threshold=0.35)
    rows, numbers = f.bipartite_match(ALIKE, **attrs)
    np.testing.assert_array_equal(rows, [[0, 1, -1, 1]])
    np.testing.assert_array_equal(numbers, [[0.9, 0.6, 0, 0.4]])


def test_samples_are_matched_on_their_own():
    both = LoDTensor(np.concatenate([ALIKE, ALIKE[::-1]]), [[0, 2, 4]])
    rows, _ = f.bipartite_match(both)
    np.testing.assert_array_equal(rows, [[0, 1, -1, -1], [1, 0, -1, -1]])


def test_columns_get_the_rows_that_they_are_matched_with():
    x = LoDTensor(np.arange(12.0).reshape(3, 2, 2), [[0, 2, 3]])
    match = np.array([[1, -1], [-1, 0]])
    out, weight = f.target_assign(x, match, mismatch_value=7)
    np.testing.assert_array_equal(out, [[[4, 5], [7, 7]], [[7, 7], [10, 11]]])
    np.testing.assert_array_equal(weight[..., 0], [[1, 0], [0, 1]])
    negative = LoDTensor(np.array([[1]]), [[0, 1, 1]])
    _, weight = f.target_assign(x, match, negative)
    np.testing.assert_array_equal(weight[..., 0], [[1, 1], [0, 1]])


def test_rows_of_another_sample_are_refused():
    x = LoDTensor(np.zeros([3, 1, 2]), [[0, 2, 3]])
    with pytest.raises(OutOfRangeError, match=r"expected MatchIndices in \[0, 1\), got 1"):
        f.target_assign(x, np.array([[0], [1]]))
    with pytest.raises(ShapeError, match="expected X of 1 sequences, got 2"):
        f.target_assign(x, np.array([[0]]))


def test_what_does_not_fit_is_refused():
    with pytest.raises(AttributeValueError, match="match_type bipartite or per_prediction"):
        infer("bipartite_match", dict(match_type="best"), DistMat=((2, 3), "float32"))
    inputs = dict(X=((3, 2, 4), "float32"), MatchIndices=((2, 5), "int32"))
    with pytest.raises(ShapeError, match="expected X of 1 or 5 columns"):
        infer("target_assign", {}, **inputs)


def test_the_hardest_columns_are_negative():
    loss = np.array([[0.1, 0.9, 0.8, 0.7, 0.95]])
    match, alike = np.array([[2, -1, -1, -1, -1]]), np.array([[0.9, 0.1, 0.6, 0.2, 0.3]])
    negative, updated = f.mine_hard_examples(loss, None, match, alike, neg_pos_ratio=2.0)
    assert negative.data.ravel().tolist() == [1, 4]  # 2 overlaps too much
    assert negative.offsets == ((0, 2),)
    np.testing.assert_array_equal(updated, match)


def test_a_match_that_is_not_among_the_hardest_is_dropped():
    loss = np.array([[0.1, 0.9, 0.8]])
    match, attrs = np.array([[0, 1, -1]]), dict(mining_type="hard_example", sample_size=2)
    negative, updated = f.mine_hard_examples(loss, loss * 0, match, loss, **attrs)
    assert (updated.tolist(), negative.data.tolist()) == ([[-1, 1, -1]], [[2]])


@pytest.mark.parametrize(
    "message, attrs",
    [
        ("mining_type max_negative or hard_example, got 'none'", dict(mining_type="none")),
        ("a positive neg_pos_ratio", dict(neg_pos_ratio=0.0)),
        ("neg_dist_threshold between 0 and 1", dict(neg_dist_threshold=1.0)),
        ("sample_size of at least 1", dict(mining_type="hard_example")),
    ],
)
def test_examples_that_cannot_be_mined_are_refused(message, attrs):
    inputs = dict(ClsLoss=((2, 5), "float32"), MatchDist=((2, 5), "float32"))
    with pytest.raises(AttributeValueError, match=message):
        infer("mine_hard_examples", attrs, MatchIndices=((2, 5), "int32"), **inputs)
