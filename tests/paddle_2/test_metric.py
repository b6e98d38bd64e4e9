"""``paddle.metric``: numbers are those of paddle 2.6.2."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.paddle.metric import Accuracy, Auc, Metric, Precision, Recall, accuracy

DRAWN = np.random.RandomState(1)
SCORES = DRAWN.rand(6, 4).astype("float32")
LABELS = np.array([[0], [1], [2], [3], [0], [1]])
FOUND, TRUE = np.array([0.1, 0.5, 0.6, 0.7, 0.51]), np.array([0, 1, 1, 0, 1])
POSITIVE = DRAWN.rand(50)
PAIRS = np.stack([1 - POSITIVE, POSITIVE], 1)
CLASSES = (POSITIVE + DRAWN.rand(50) > 1).astype("int64")[:, None]


def tensors(*arrays):
    return [paddle.to_tensor(each) for each in arrays]


@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS[:, 0], LABELS.astype("int32"), np.eye(4, dtype="float32")[LABELS[:, 0]]],
)
def test_accuracy_knows_labels_as_numbers_and_as_rows(labels):
    metric = Accuracy((1, 2), name="q")
    assert metric.name() == ["q_top1", "q_top2"]
    right = metric.compute(*tensors(SCORES, labels))
    expected = [[0, 1], [0, 0], [0, 0], [0, 1], [0, 1], [1, 0]]
    assert (right.dtype, right.tolist()) == (paddle.float32, expected)
    assert metric.update(right) == [1 / 6, 4 / 6]
    metric.update(right[:2])
    assert metric.accumulate() == [1 / 8, 5 / 8]
    metric.reset()
    assert metric.accumulate() == [0.0, 0.0]


def test_accuracy_is_counted_in_programs():
    paddle.enable_static()
    scores = paddle.static.data("x", [None, 4], "float32")
    label = paddle.static.data("y", [None, 1], "int64")
    metric = Accuracy()
    outputs = [metric.compute(scores, label), accuracy(scores, label)]
    feed = {"x": SCORES, "y": LABELS}
    right, share = paddle.static.Executor().run(feed=feed, fetch_list=outputs)
    assert metric.update(right) == 1 / 6
    np.testing.assert_allclose(share, 1 / 6, rtol=1e-6)


def test_precision_and_recall_round():
    precision, recall = Precision(), Recall()
    assert (precision.name(), recall.name()) == ("precision", "recall")
    assert precision.accumulate() == recall.accumulate() == 0.0
    for each in (precision, recall):
        each.update(FOUND, TRUE)
        each.update(*tensors(FOUND[:, None].astype("float32"), TRUE[:, None]))
    assert (precision.accumulate(), precision.tp, precision.fp) == (0.75, 6, 2)
    assert (recall.accumulate(), recall.tp, recall.fn) == (2 / 3, 4, 2)
    precision.reset()
    precision.update(np.array([0.9, 0.2]), np.array([2, 1]))
    assert (precision.tp, precision.fp) == (0, 1)


@pytest.mark.parametrize(
    "metric, area",
    [
        (Auc(), 0.8518518518518519),
        (Auc(num_thresholds=10), 0.8454106280193237),
        (Auc("PR"), 0.8518518518518519),
    ],
)
def test_the_area_is_that_of_the_real_one(metric, area):
    assert metric.accumulate() == 0.0
    metric.update(PAIRS, CLASSES)
    assert metric.accumulate() == area
    metric.update(*tensors(PAIRS.astype("float32"), CLASSES))
    np.testing.assert_allclose(metric.accumulate(), area, rtol=1e-3)
    metric.reset()
    metric.update(PAIRS, np.ones_like(CLASSES))
    assert metric.accumulate() == 0.0


def test_accuracy_is_a_function_too():
    share = accuracy(*tensors(SCORES, LABELS), k=2)
    assert (share.shape, float(share)) == ([], pytest.approx(4 / 6))


def test_a_metric_says_everything_itself():
    class Half(Metric):
        def name(self):
            return "half"

    with pytest.raises(TypeError):
        Half()
    Half.reset = Half.update = Half.accumulate = lambda self, *args: None
    Half.__abstractmethods__ = frozenset()
    assert Half().compute(1, 2) == (1, 2)


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: Accuracy(topk=2), TypeError),
        (lambda: Precision().update([0.1], TRUE), ValueError),
        (lambda: Recall().update(FOUND, [1]), ValueError),
        (lambda: Auc().update(3, CLASSES), ValueError),
        (lambda: Auc().update(np.array([[0, 1.5]]), np.array([[1]])), AssertionError),
        (lambda: accuracy(*tensors(SCORES, LABELS[:, 0])), ValueError),
    ],
)
def test_a_wrong_argument_has_the_class_of_the_real_error(call, kind):
    with pytest.raises(kind):
        call()
