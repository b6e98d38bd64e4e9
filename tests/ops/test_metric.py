"""Ranking and scoring."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()


def test_the_largest_elements_of_each_row_come_first():
    x = np.random.default_rng(0).normal(size=[2, 3, 5])
    out, indices = f.top_k(x, k=2)
    for place in np.ndindex(2, 3):
        row = list(x[place])
        order = sorted(range(5), key=row.__getitem__, reverse=True)[:2]
        assert list(indices[place]) == order
        assert list(out[place]) == [row[i] for i in order]
    assert indices.dtype == np.int64


def test_of_equal_elements_the_first_ones_come_first():
    _, indices = f.top_k(np.array([1.0, 2.0, 2.0, 0.0, 2.0]), k=3)
    np.testing.assert_array_equal(indices, [1, 2, 4])


def test_k_may_come_in_a_tensor():
    out, indices = f.top_k(np.array([[1.0, 3.0, 2.0]]), np.array([2], np.int32), k=1)
    np.testing.assert_array_equal(out, [[3, 2]])
    np.testing.assert_array_equal(indices, [[1, 2]])


def test_the_gradient_goes_to_the_elements_selected():
    x, g = np.array([[1.0, 3.0, 2.0]]), np.array([[5.0, 7.0]])
    (found,) = pull_back(f, lambda f, x: f.top_k(x, k=2)[0], [x], [g])
    np.testing.assert_array_equal(found, [[0, 5, 7]])


def test_accuracy_counts_rows_with_the_right_class_among_the_best():
    indices = np.array([[0, 1], [1, 2], [0, 1], [2, 1]])
    label = np.array([[0], [0], [1], [2]])
    accuracy, correct, total = f.accuracy(np.zeros([4, 2]), indices, label)
    assert (accuracy, correct, total) == ([0.75], [3], [4])
    assert [v.dtype.name for v in (accuracy, correct, total)] == ["float32", "int32", "int32"]


def test_more_elements_than_there_are_are_refused():
    with pytest.raises(AttributeValueError, match="from 1 to the last size of X, 2, got 3"):
        f.top_k(np.ones([1, 2]), np.array([3]))
    with pytest.raises(AttributeValueError, match="from 1 to the last size of X, 2, got 3"):
        f.top_k(np.ones([1, 2]), k=3)
    with pytest.raises(AttributeValueError, match="from 1 to the last size of X, got 0"):
        infer("top_k", {"k": 0}, X=([-1, 2], "float32"))


def test_elements_are_counted_when_the_program_runs_for_sizes_are_only_declared_before():
    for shape in ([2, -1], [2, 2]):
        assert infer("top_k", {"k": 3}, X=(shape, "float32"))["Out"].shape == (2, 3)


def test_labels_that_do_not_fit_are_refused():
    scores = dict(Out=([4, 2], "float32"), Indices=([4, 2], "int64"))
    with pytest.raises(ShapeError, match=r"Label of shape \[4, 1\], got \[3, 1\]"):
        infer("accuracy", **scores, Label=([3, 1], "int64"))
    with pytest.raises(DTypeError, match="Label to hold integers"):
        infer("accuracy", **scores, Label=([4, 1], "float32"))


rng = np.random.default_rng(0)


def area_by_pairs(scores, labels):
    """The share of pairs of a positive and a negative example that are in order."""
    pairs = [(p, n) for p, a in zip(scores, labels) for n, b in zip(scores, labels) if a and not b]
    return sum((p > n) + 0.5 * (p == n) for p, n in pairs) / len(pairs)


def test_auc_is_the_share_of_pairs_in_order():
    scores, label = rng.uniform(size=[40, 2]), rng.integers(0, 2, [40, 1])
    start = np.zeros(11, "int64")
    for predict in (scores, scores[:, 1:]):
        found, positive, negative = f.auc(
            predict, label, start, start, num_thresholds=10, slide_steps=0
        )
        buckets = (scores[:, 1] * 10).astype(int)
        np.testing.assert_allclose(found, [area_by_pairs(buckets, label[:, 0])])
        assert positive.tolist() == [np.bincount(buckets[label[:, 0] == 1], minlength=11).tolist()]
        assert negative.sum() == 40 - label.sum()


def test_auc_counts_on_from_what_was_counted():
    predict, label = np.array([[0.9], [0.1]]), np.array([[1], [0]])
    start = np.array([3, 0, 0], "int64")  # three positive examples with a small score
    found, positive, _ = f.auc(predict, label, start, start[:0], num_thresholds=2, slide_steps=0)
    assert positive.tolist() == [[3, 1, 0]]
    assert found.tolist() == [(1 + 3 * 0.5) / 4]


def test_auc_of_one_class_is_0():
    start = np.zeros(3, "int64")
    found = f.auc(np.array([[0.9]]), np.array([[1]]), start, start, num_thresholds=2, slide_steps=0)
    assert found[0].tolist() == [0]


def test_auc_forgets_all_but_the_last_batches():
    batches = [(rng.uniform(size=[9, 1]), rng.integers(0, 2, [9, 1])) for _ in range(5)]
    positive = negative = np.zeros(3 * 5 + 1, "int64")
    for k, (predict, label) in enumerate(batches):
        found, positive, negative = f.auc(
            predict, label, positive, negative, num_thresholds=4, slide_steps=2
        )
        recent = batches[max(k - 1, 0) : k + 1]
        scores = np.concatenate([(p[:, 0] * 4).astype(int) for p, _ in recent])
        labels = np.concatenate([y[:, 0] for _, y in recent])
        np.testing.assert_allclose(found, [area_by_pairs(scores, labels)])
        assert positive[-1] == negative[-1] == k + 1


@pytest.mark.parametrize(
    "error, attrs, changed, message",
    [
        (AttributeValueError, dict(slide_steps=-1), {}, "slide_steps of at least 0"),
        (AttributeValueError, dict(curve="DET"), {}, "curve ROC or PR, got .*'DET'"),
        (ShapeError, {}, dict(Predict=([4, 3], "float32")), r"\[n, 1\] or \[n, 2\], got \[4, 3\]"),
        (ShapeError, {}, dict(Label=([3, 1], "int64")), "one for each row of Predict"),
        (ShapeError, {}, dict(StatPos=([9], "int64")), r"StatPos of 7 counts, got shape \[9\]"),
    ],
)
def test_auc_refuses_what_does_not_fit(error, attrs, changed, message):
    specs = dict(Predict=([4, 2], "float32"), Label=([4, 1], "int64"))
    specs |= dict(StatPos=([3], "int64"), StatNeg=([3], "int64")) | changed
    with pytest.raises(error, match=message):
        infer("auc", dict(num_thresholds=2) | attrs, **specs)


def test_auc_refuses_what_is_no_probability():
    start = np.zeros(3, "int64")
    with pytest.raises(OutOfRangeError, match=r"probabilities, in \[0, 1\]"):
        f.auc(np.array([[1.5]]), np.array([[1]]), start, start, num_thresholds=2, slide_steps=0)


def test_mean_iou_divides_what_is_common_by_what_is_in_either():
    found, right = rng.integers(0, 3, [2, 9]), rng.integers(0, 3, [2, 9])
    mean, wrong, correct = f.mean_iou(found, right, num_classes=5)
    shares = []
    for c in range(5):
        both, either = (found == c) & (right == c), (found == c) | (right == c)
        assert (correct[c], wrong[c]) == (both.sum(), either.sum() - both.sum())
        shares += [both.sum() / either.sum()] if either.any() else []
    np.testing.assert_allclose(mean, [sum(shares) / len(shares)], rtol=1e-6)


def test_mean_iou_of_a_single_class():
    (mean,) = f.mean_iou(np.zeros([4], "int64"), np.zeros([4], "int64"), num_classes=1)[0]
    assert mean == 1
    infer("mean_iou", dict(num_classes=1), Predictions=([4], "int64"), Labels=([4], "int64"))


def test_mean_iou_adds_to_earlier_counts():
    found, right = np.array([0, 1, 2]), np.array([0, 1, 1])
    more = dict(InWrongs=[right.astype("int32")] * 2, InCorrects=[found.astype("int32")])
    mean, wrong, correct = f.mean_iou(
        found, right, **more, InMeanIou=[np.array([10.0])], num_classes=3
    )
    assert wrong.tolist() == [0, 3, 3]
    assert correct.tolist() == [1, 2, 2]
    np.testing.assert_allclose(mean, [10 + (1 + 2 / 5 + 2 / 5) / 3])


def test_mean_iou_refuses_what_does_not_fit():
    specs = dict(Predictions=([4], "int64"), Labels=([4], "int64"))
    with pytest.raises(AttributeValueError, match="num_classes of at least 1, got 0"):
        infer("mean_iou", dict(num_classes=0), **specs)
    with pytest.raises(ShapeError, match="Predictions and Labels of the same shape"):
        infer("mean_iou", dict(num_classes=3), **specs | dict(Labels=([3], "int64")))
    with pytest.raises(ShapeError, match=r"InWrongs of 3 numbers each, got shape \[4\]"):
        infer("mean_iou", dict(num_classes=3), **specs, InWrongs=[([4], "int32")])
    with pytest.raises(OutOfRangeError, match=r"Labels in \[0, 3\), got 3"):
        f.mean_iou(np.array([1]), np.array([3]), num_classes=3)


def test_pairs_count_by_the_mean_of_their_weights():
    score, label = np.array([[0.1], [0.1], [0.5], [0.3], [0.9]]), [1.0, 0.0, 1.0, 0.0, 1.0]
    query, weight = np.array([[0], [0], [0], [0], [7]]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    inputs = (score, np.array(label)[:, None], query)
    assert [v.item() for v in f.positive_negative_pair(*inputs)] == [2, 2, 1]
    start = (np.array([10.0]), np.array([11.0]), np.array([12.0]))
    found = f.positive_negative_pair(*inputs, *start, weight[:, None])
    assert [v.item() for v in found] == [10 + 2.5 + 3.5, 11 + 1.5 + 2.5, 12 + 1.5]
    found = f.positive_negative_pair(np.hstack([score, -score]), *inputs[1:], column=-1)
    assert [v.item() for v in found] == [1, 3, 1]


def test_positive_negative_pair_refuses_what_does_not_fit():
    specs = dict(Score=([4, 2], "float32"), Label=([4, 1], "float32"), QueryID=([4, 1], "int64"))
    with pytest.raises(AttributeValueError, match=r"column in \[-2, 2\), got 2"):
        infer("positive_negative_pair", dict(column=2), **specs)
    with pytest.raises(ShapeError, match=r"QueryID of shape \[4, 1\], got \[3, 1\]"):
        infer("positive_negative_pair", **specs | dict(QueryID=([3, 1], "int64")))


def test_few_of_many_come_in_the_order_of_a_stable_sort():
    rng = np.random.default_rng(0)
    spread, tied = rng.normal(size=[7, 60]), rng.integers(0, 4, size=[7, 60]).astype("float32")
    unknown = np.where(rng.random([7, 60]) < 0.95, np.nan, spread)
    for x in (spread, tied, unknown, np.full([2, 3, 60], -np.inf), tied.astype("int64")):
        for k in (1, 3, 7):
            values, found = f.top_k(x, k=k)
            wanted = np.argsort(-x, axis=-1, kind="stable")[..., :k]
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(values, np.take_along_axis(x, wanted, -1))
