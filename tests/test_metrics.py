"""Metrics against counting one sample at a time."""

import numpy as np
import pytest

from fluidlite.errors import ArgumentError
from fluidlite.metrics import (
    Accuracy,
    Auc,
    ChunkEvaluator,
    CompositeMetric,
    EditDistance,
    MetricBase,
    Precision,
    Recall,
)

RNG = np.random.default_rng(0)
P = RNG.uniform(size=[40, 1])
L = RNG.integers(0, 2, size=[40, 1])
BOTH = np.concatenate([1 - P, P], axis=1)


class Counts(MetricBase):
    """A metric as users write them."""

    def __init__(self):
        super().__init__(None)
        self.whole, self.part, self.table, self.last = 3, 2.5, np.ones(2), "x"
        self._kept = 7


# -- all metrics -----------------------------------------------------------------------------------


def test_a_reset_makes_public_numbers_and_arrays_zero():
    counts = Counts()
    counts.reset()
    assert (counts.whole, counts.part, counts.last, counts._kept) == (0, 0.0, None, 7)
    assert type(counts.whole) is int and counts.table.tolist() == [0, 0]


def test_a_configuration_is_a_copy_of_what_was_counted():
    counts = Counts()
    config = counts.get_config()
    counts.table[0] = 5
    assert config["name"] == "Counts" and set(config["states"]) == {
        "whole",
        "part",
        "table",
        "last",
    }
    assert config["states"]["table"].tolist() == [1, 1]


def test_a_metric_is_called_after_its_class_or_as_the_user_says():
    assert [str(m) for m in (Recall(), Auc("area"))] == ["Recall", "area"]


def test_a_metric_without_a_rule_says_so():
    with pytest.raises(NotImplementedError, match="Counts does not define update"):
        Counts().update(P, L)
    with pytest.raises(NotImplementedError, match="Counts does not define eval"):
        Counts().eval()


@pytest.mark.parametrize("make", [Precision, Recall, Accuracy, ChunkEvaluator, Auc])
def test_a_reset_metric_is_as_new(make):
    metric = make(name=None)
    given = {"ChunkEvaluator": (3, 4, 2), "Accuracy": (0.5, 2), "Auc": (BOTH, L)}
    metric.update(*given.get(make.__name__, (P, L)))
    metric.reset()
    fresh = make(name=None)
    for name, value in fresh.get_config()["states"].items():
        np.testing.assert_array_equal(metric.get_config()["states"][name], value)


# -- classes ---------------------------------------------------------------------------------------


def counted(found, right):
    pairs = [(round(float(p)), int(n)) for p, n in zip(P.ravel(), L.ravel())]
    return pairs.count((found, right))


def test_precision_and_recall_count_over_batches():
    precision, recall = Precision(), Recall()
    for part in (slice(0, 15), slice(15, 40)):
        precision.update(P[part], L[part])
        recall.update(P[part], L[part])
    assert precision.eval() == counted(1, 1) / (counted(1, 1) + counted(1, 0))
    assert recall.eval() == counted(1, 1) / (counted(1, 1) + counted(0, 1))


def test_without_positive_samples_precision_and_recall_are_zero():
    assert Precision().eval() == Recall().eval() == 0.0


def test_several_metrics_are_updated_together():
    both = CompositeMetric()
    both.add_metric(Precision())
    both.add_metric(Recall("mine"))
    both.update(P, L)
    one = Precision()
    one.update(P, L)
    assert both.eval()[0] == one.eval()
    assert [s["name"] for s in both.get_config()["states"]] == ["Precision", "mine"]
    both.reset()
    assert both.eval() == [0.0, 0.0]


@pytest.mark.parametrize("make", [Precision, Recall])
@pytest.mark.parametrize(
    "preds, labels, message",
    [
        ([0.5], L, "expected preds to be an array, got"),
        (P, 1, "expected labels to be an array, got 1 of type int"),
        (P, L[1:], r"got shapes \[40, 1\] and \[39, 1\]"),
    ],
)
def test_what_is_no_batch_of_two_classes_is_refused(make, preds, labels, message):
    with pytest.raises(ArgumentError, match=f"{make.__name__}: .*{message}"):
        make().update(preds, labels)


def test_what_is_no_metric_is_not_added():
    with pytest.raises(ArgumentError, match="expected a metric, such as Precision"):
        CompositeMetric().add_metric(3)


# -- means -----------------------------------------------------------------------------------------


def test_accuracies_are_weighted():
    accuracy = Accuracy()
    accuracy.update(0.5, 2)
    accuracy.update(np.array([1.0], "float32"), np.array([3]))
    assert accuracy.eval() == 0.8 and type(accuracy.eval()) is float


@pytest.mark.parametrize(
    "value, weight, message",
    [
        ("x", 1, "expected value to be a number or an array of one, got 'x'"),
        (np.ones(2), 1, "expected value to be a number or an array of one"),
        (0.5, None, "expected weight to be a number"),
        (0.5, -1, "expected a weight of at least 0, got -1"),
    ],
)
def test_what_is_no_accuracy_is_refused(value, weight, message):
    with pytest.raises(ArgumentError, match=f"Accuracy: {message}"):
        Accuracy().update(value, weight)


@pytest.mark.parametrize("make", [Accuracy, EditDistance])
def test_a_mean_of_nothing_is_refused(make):
    with pytest.raises(ArgumentError, match=f"{make.__name__}: there is nothing to evaluate"):
        make(name=None).eval()


def test_chunks_have_precision_recall_and_their_harmonic_mean():
    chunks = ChunkEvaluator()
    chunks.update(10, 9, 8)
    chunks.update(np.array([3]), np.array([3]), np.array([2]))
    precision, recall, f1 = chunks.eval()
    assert (precision, recall) == (10 / 13, 10 / 12)
    assert f1 == pytest.approx(2 / (1 / precision + 1 / recall))
    chunks.reset()
    assert chunks.eval() == (0, 0, 0)


@pytest.mark.parametrize(
    "counts, shown",
    [
        ((10, 8, 4), "(0.4, 0.5, 0.4444444444444445)"),
        ((np.int64(10), np.array(8), 4), "(0.4, 0.5, 0.4444444444444445)"),
        ((0, 8, 0), "(0, 0.0, 0)"),
        (
            (np.array([10]), np.array([8]), np.array([4])),
            "(array([0.4]), array([0.5]), array([0.44444444]))",
        ),
        ((np.array([10]), np.array([8]), np.array([0])), "(array([0.]), array([0.]), 0)"),
        ((np.array([0]), np.array([0]), np.array([0])), "(0, 0, 0)"),
    ],
)
def test_chunks_that_are_counted_in_arrays_are_scored_in_arrays(counts, shown):
    chunks = ChunkEvaluator()
    chunks.update(*counts)
    assert repr(chunks.eval()) == shown


def test_an_array_that_is_counted_stays_as_it_is():
    counts = [np.array([n]) for n in (10, 8, 4)]
    chunks = ChunkEvaluator()
    for _ in range(2):
        chunks.update(*counts)
    assert [int(n[0]) for n in counts] == [10, 8, 4]


def test_edit_distances_have_a_mean_and_a_part_that_differs():
    distance = EditDistance("distance")
    distance.update(np.array([[0.0], [2.0], [3.0]]), 3)
    distance.update(np.array([[1.0]]), np.array([1]))
    assert distance.eval() == (1.5, 0.75)
    with pytest.raises(ArgumentError, match="expected distances to be an array"):
        distance.update([1.0], 1)


# -- the area under a curve ------------------------------------------------------------------------


def test_the_area_is_the_probability_that_two_samples_are_in_order():
    auc = Auc("auc", num_thresholds=10**6)
    for part in (slice(0, 15), slice(15, 40)):
        auc.update(BOTH[part], L[part])
    positive, negative = P[L == 1], P[L == 0]
    ordered = np.mean([p > n for p in positive for n in negative])
    assert auc.eval() == pytest.approx(ordered)


def test_samples_between_the_same_thresholds_count_half():
    auc = Auc("auc", num_thresholds=1)
    auc.update(np.array([[0.5, 0.5], [0.4, 0.6]]), np.array([[1], [0]]))
    assert auc.eval() == 0.5


def test_the_area_under_precision_over_recall():
    auc = Auc("auc", curve="PR", num_thresholds=100)
    positive = np.array([0.9, 0.7, 0.5, 0.3])
    auc.update(np.stack([1 - positive, positive], 1), np.array([1, 0, 1, 0]))
    # recall 0, 1/2, 1/2, 1 with precision 1, 1, 1/2, 2/3
    assert auc.eval() == pytest.approx(0.5 * 1 + 0.5 * (1 / 2 + 2 / 3) / 2)


def test_with_one_class_alone_the_area_is_zero():
    auc = Auc("auc")
    assert auc.eval() == 0.0
    auc.update(BOTH, np.ones([40, 1], "int64"))
    assert auc.eval() == 0.0


def test_a_probability_of_one_counts():
    auc = Auc("auc")
    auc.update(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1], [0]]))
    assert auc.eval() == 1.0


@pytest.mark.parametrize(
    "given, message",
    [
        ({"curve": "x"}, "expected curve 'ROC' or 'PR', got 'x'"),
        ({"num_thresholds": 0}, "expected num_thresholds to be positive, got 0"),
        ({"num_thresholds": 1.5}, "expected num_thresholds to be an integer, got 1.5"),
    ],
)
def test_arguments_that_make_no_curve_are_refused(given, message):
    with pytest.raises(ArgumentError, match=f"Auc: {message}"):
        Auc("auc", **given)


@pytest.mark.parametrize(
    "preds, labels, message",
    [
        (BOTH.tolist(), L, "expected preds to be an array"),
        (P, L, r"expected preds of shape \[40, 2\], .*, got \[40, 1\]"),
        (BOTH, L[1:], r"expected preds of shape \[39, 2\], .*, got \[40, 2\]"),
        (BOTH * 2, L, r"expected probabilities in \[0, 1\]"),
        (np.full([40, 2], np.nan), L, r"expected probabilities in \[0, 1\]"),
    ],
)
def test_what_are_no_probabilities_is_refused(preds, labels, message):
    with pytest.raises(ArgumentError, match=f"Auc: {message}"):
        Auc("auc").update(preds, labels)
