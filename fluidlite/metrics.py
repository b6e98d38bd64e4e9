"""Metrics over many batches: each is updated with what a program computed and then evaluated."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from .errors import ArgumentError
from .functions.arguments import ArrayLike
from .ground.arguments import refused
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .layers.mean_precision import DetectionMAP as DetectionMAP

N = TypeVar("N", float, np.ndarray[Any, Any])

Array = np.ndarray[Any, Any]


class MetricBase(Described):
    """The base of all metrics.

    A metric of your own counts in attributes whose names do not begin with an underscore, and
    defines ``update`` and ``eval``.

    Args:
        name: what the metric is called; its class's name when None.

    >>> isinstance(fluid.metrics.Accuracy(), fluid.metrics.MetricBase)
    True
    """

    def __init__(self, name: str | None) -> None:
        self._name = type(self).__name__ if name is None else str(name)

    def _counts(self) -> dict[str, Any]:
        return {n: value for n, value in vars(self).items() if not n.startswith("_")}

    def reset(self) -> None:
        """Forget all batches: numbers and arrays become 0, other attributes None."""
        for name, value in self._counts().items():
            if isinstance(value, (np.ndarray, np.generic)):
                setattr(self, name, np.zeros_like(value))
            else:
                is_number = isinstance(value, Real) and not isinstance(value, bool)
                setattr(self, name, type(value)(0) if is_number else None)

    def get_config(self) -> dict[str, Any]:
        """The name, and copies of what has been counted so far."""
        return {"name": self._name, "states": copy.deepcopy(self._counts())}

    def update(self, preds: ArrayLike, labels: ArrayLike) -> None:
        """Count a batch.

        Args:
            preds: predictions.
            labels: the right answers.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define update")

    def eval(self) -> Any:
        """The metric over all batches since the last reset."""
        raise NotImplementedError(f"{type(self).__name__} does not define eval")

    def __str__(self) -> str:
        return self._name


class CompositeMetric(MetricBase):
    """Several metrics of the same predictions and labels.

    >>> both = CompositeMetric()
    >>> both.add_metric(Precision())
    >>> both.add_metric(Recall())
    >>> both.update(preds=np.array([0.1, 0.7, 0.8]), labels=np.array([1, 1, 0]))
    >>> both.eval()
    [0.5, 0.5]
    """

    _shown = "metrics=_metrics"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self._metrics: list[MetricBase] = []

    def add_metric(self, metric: MetricBase) -> None:
        """Add a metric.

        Raises:
            ArgumentError: it is none.
        """
        if not isinstance(metric, MetricBase):
            raise ArgumentError(
                f"expected a metric, such as Precision(), got {metric!r:.60} of type "
                f"{type(metric).__name__}"
            )
        self._metrics.append(metric)

    def update(self, preds: ArrayLike, labels: ArrayLike) -> None:
        """Count a batch in every metric; arguments as of theirs."""
        for metric in self._metrics:
            metric.update(preds, labels)

    def eval(self) -> list[Any]:
        """What every metric gives, in order of addition."""
        return [metric.eval() for metric in self._metrics]

    def reset(self) -> None:
        """Reset every metric."""
        for metric in self._metrics:
            metric.reset()

    def get_config(self) -> dict[str, Any]:
        """The name, and the configurations of all metrics."""
        return {"name": self._name, "states": [m.get_config() for m in self._metrics]}


class OneClassMetric(MetricBase):
    """The base of metrics for one class against all others."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp: int = 0  #: true positives

    def update(self, preds: ArrayLike, labels: ArrayLike) -> None:
        """Count a batch.

        Args:
            preds: the probabilities that samples are of the class, [N] or [N, 1].
            labels: 1 for the samples that are of it, as many.

        Raises:
            ArgumentError: these are no arrays, or not of one size.
        """
        self._add(*_two_classes(type(self).__name__, preds, labels))

    def _add(self, found: Any, right: Any) -> None:
        """Count which samples are predicted to be of the class, and which are of it."""
        raise NotImplementedError


class Precision(OneClassMetric):
    """How many of the samples that are predicted to be of a class are of it.

    >>> precision = Precision()
    >>> precision.update(preds=np.array([[0.1], [0.7], [0.8]]), labels=np.array([[0], [1], [0]]))
    >>> precision.eval()
    0.5
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.fp: int = 0  #: false positives

    def _add(self, found: Any, right: Any) -> None:
        self.tp += int(np.sum(found & right))
        self.fp += int(np.sum(found & ~right))

    def eval(self) -> float:
        """The precision; 0 when no sample is predicted to be of the class."""
        return _ratio(self.tp, self.tp + self.fp)


class Recall(OneClassMetric):
    """How many of the samples of a class are predicted to be of it.

    >>> recall = Recall()
    >>> recall.update(preds=np.array([[0.1], [0.7], [0.8]]), labels=np.array([[1], [1], [0]]))
    >>> recall.eval()
    0.5
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.fn: int = 0  #: false negatives

    def _add(self, found: Any, right: Any) -> None:
        self.tp += int(np.sum(found & right))
        self.fn += int(np.sum(~found & right))

    def eval(self) -> float:
        """The recall; 0 when there is no sample of the class."""
        return _ratio(self.tp, self.tp + self.fn)


class Accuracy(MetricBase):
    """The mean of accuracies, weighted by the sizes of their batches.

    >>> accuracy = Accuracy()
    >>> accuracy.update(value=0.5, weight=2)
    >>> accuracy.update(value=1.0, weight=3)
    >>> accuracy.eval()
    0.8
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.value: float = 0.0  #: the weighted sum
        self.weight: float = 0.0

    def update(self, value: ArrayLike, weight: ArrayLike) -> None:
        """Count a batch.

        Args:
            value: its accuracy: a number, or an array of one element as ``layers.accuracy`` gives.
            weight: its size.

        Raises:
            ArgumentError: one of them is no number, or the weight is negative.
        """
        size = _one_number("Accuracy", "weight", weight)
        if size < 0:
            raise ArgumentError(f"Accuracy: expected a weight of at least 0, got {size}")
        self.value += _one_number("Accuracy", "value", value) * size
        self.weight += size

    def eval(self) -> float:
        """The mean.

        Raises:
            ArgumentError: there is no batch yet.
        """
        if self.weight == 0:
            raise ArgumentError("Accuracy: there is nothing to evaluate; call update first")
        return self.value / self.weight


class ChunkEvaluator(MetricBase):
    """Precision, recall and F1 of chunks that were found in sequences.

    >>> chunks = ChunkEvaluator()
    >>> chunks.update(num_infer_chunks=10, num_label_chunks=8, num_correct_chunks=4)
    >>> chunks.eval()
    (0.4, 0.5, 0.4444444444444445)
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.num_infer_chunks: Any = 0
        self.num_label_chunks: Any = 0
        self.num_correct_chunks: Any = 0

    def update(  # type: ignore[override]
        self,
        num_infer_chunks: ArrayLike,
        num_label_chunks: ArrayLike,
        num_correct_chunks: ArrayLike,
    ) -> None:
        """Count a batch; each argument is a number, or an array of one element.

        Args:
            num_infer_chunks: how many chunks were found.
            num_label_chunks: how many there are.
            num_correct_chunks: how many of those that were found are right.

        Raises:
            ArgumentError: one of them is no number.
        """
        counts = [
            _count("ChunkEvaluator", what, value)
            for what, value in (
                ("num_infer_chunks", num_infer_chunks),
                ("num_label_chunks", num_label_chunks),
                ("num_correct_chunks", num_correct_chunks),
            )
        ]
        # New objects: an array that was counted first stays the caller's.
        self.num_infer_chunks = self.num_infer_chunks + counts[0]
        self.num_label_chunks = self.num_label_chunks + counts[1]
        self.num_correct_chunks = self.num_correct_chunks + counts[2]

    def eval(self) -> tuple[Any, Any, Any]:
        """Precision, recall and their harmonic mean; 0 where there are no chunks.

        They are numbers, or arrays of one element where such arrays were counted.
        """
        found, there, right = self.num_infer_chunks, self.num_label_chunks, self.num_correct_chunks
        precision = right / found if found else 0
        recall = right / there if there else 0
        both = precision + recall
        return precision, recall, 2 * precision * recall / both if right and both else 0


class EditDistance(MetricBase):
    """The mean edit distance of pairs of sequences, and how many pairs differ.

    >>> distance = EditDistance("distance")
    >>> distance.update(distances=np.array([[0.0], [2.0], [1.0], [0.0]]), seq_num=4)
    >>> distance.eval()
    (0.75, 0.5)
    """

    def __init__(self, name: str | None) -> None:
        super().__init__(name)
        self.total_distance: float = 0.0
        self.seq_num: int = 0
        self.instance_error: int = 0  #: pairs that differ

    def update(self, distances: ArrayLike, seq_num: ArrayLike) -> None:
        """Count a batch.

        Args:
            distances: the distance of each pair.
            seq_num: how many pairs there are.

        Raises:
            ArgumentError: ``distances`` is no array, or ``seq_num`` no number.
        """
        array = _array("EditDistance", "distances", distances)
        count = int(_one_number("EditDistance", "seq_num", seq_num))
        self.total_distance += float(np.sum(array))
        self.seq_num += count
        self.instance_error += count - int(np.sum(array == 0))

    def eval(self) -> tuple[float, float]:
        """The mean distance, and the part of the pairs that differ.

        Raises:
            ArgumentError: there is no pair yet.
        """
        if self.seq_num == 0:
            raise ArgumentError("EditDistance: there is nothing to evaluate; call update first")
        return self.total_distance / self.seq_num, self.instance_error / self.seq_num


class Auc(MetricBase):
    """The area under the curve that a threshold between two classes draws.

    Args:
        name: what the metric is called.
        curve: "ROC": true positives over false positives; "PR": precision over recall.
        num_thresholds: how many thresholds are tried.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> auc = Auc("auc", num_thresholds=100)
    >>> positive = np.array([0.9, 0.8, 0.3, 0.1])
    >>> auc.update(preds=np.stack([1 - positive, positive], 1), labels=np.array([1, 0, 1, 0]))
    >>> auc.eval()
    0.75
    """

    def __init__(self, name: str | None, curve: str = "ROC", num_thresholds: int = 4095) -> None:
        super().__init__(name)
        if curve not in ("ROC", "PR"):
            raise ArgumentError(f"Auc: expected curve 'ROC' or 'PR', got {curve!r}")
        if isinstance(num_thresholds, bool) or not isinstance(num_thresholds, int):
            raise ArgumentError(
                f"Auc: expected num_thresholds to be an integer, got {num_thresholds!r:.60}"
            )
        if num_thresholds < 1:
            raise ArgumentError(
                f"Auc: expected num_thresholds to be positive, got {num_thresholds}"
            )
        self._curve = curve
        self._num_thresholds = num_thresholds
        self.reset()

    @property
    def _stat_pos(self) -> list[int]:
        return [int(count) for count in self.stat_pos]

    @property
    def _stat_neg(self) -> list[int]:
        return [int(count) for count in self.stat_neg]

    def reset(self) -> None:
        """Forget all batches."""
        #: how many samples of each class have a probability between two thresholds
        self.stat_pos: Array = np.zeros(self._num_thresholds + 1, "int64")
        self.stat_neg: Array = np.zeros(self._num_thresholds + 1, "int64")

    def update(self, preds: ArrayLike, labels: ArrayLike) -> None:
        """Count a batch.

        Args:
            preds: the probabilities of both classes, [N, 2]; the second one counts.
            labels: 1 for the samples of the second class, [N] or [N, 1].

        Raises:
            ArgumentError: these are no arrays, not of one size, or no probabilities.
        """
        predictions = _array("Auc", "preds", preds)
        right = _array("Auc", "labels", labels).reshape(-1).astype("bool")
        if predictions.ndim != 2 or predictions.shape[1] != 2 or predictions.shape[0] != right.size:
            raise ArgumentError(
                f"Auc: expected preds of shape [{right.size}, 2], two probabilities for each "
                f"label, got {list(predictions.shape)}"
            )
        positive = predictions[:, 1]
        if not ((positive >= 0) & (positive <= 1)).all():
            raise ArgumentError(
                f"Auc: expected probabilities in [0, 1], got {positive.min()} to {positive.max()}"
            )
        bins = (positive * self._num_thresholds).astype("int64")
        size = self._num_thresholds + 1
        self.stat_pos += np.bincount(bins[right], minlength=size)
        self.stat_neg += np.bincount(bins[~right], minlength=size)

    def eval(self) -> float:
        """The area; 0 when one of the classes has no sample."""
        true, false = np.cumsum(self.stat_pos[::-1]), np.cumsum(self.stat_neg[::-1])
        if not true[-1] or not false[-1]:
            return 0.0
        if self._curve == "ROC":
            return self._area(false / false[-1], true / true[-1], first=0.0)
        some = true + false > 0
        precision = true[some] / (true + false)[some]
        return self._area(true[some] / true[-1], precision, first=float(precision[0]))

    def _area(self, x: Array, y: Array, first: float) -> float:
        """The area under a curve that begins at x = 0 with y = ``first``."""
        x, y = np.append(0.0, x), np.append(first, y)
        return float(np.sum(self.trapezoid_area(x[1:], x[:-1], y[1:], y[:-1])))

    @staticmethod
    def trapezoid_area(x1: N, x2: N, y1: N, y2: N) -> N:
        """The area between two points of a curve and the x axis.

        Args:
            x1, x2: where the points are.
            y1, y2: how high they are.
        """
        return abs(x1 - x2) * (y1 + y2) / 2.0


def _array(metric: str, what: str, value: Any) -> Array:
    """What a user gave as an array.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(value, np.ndarray):
        raise refused(metric, what, "an array", value)
    return value


def _two_classes(metric: str, preds: Any, labels: Any) -> tuple[Array, Array]:
    """Which samples are predicted to be of the class, and which are of it."""
    predictions, right = _array(metric, "preds", preds), _array(metric, "labels", labels)
    if predictions.size != right.size:
        raise ArgumentError(
            f"{metric}: expected as many predictions as labels, got shapes "
            f"{list(predictions.shape)} and {list(right.shape)}"
        )
    return np.rint(predictions).reshape(-1) == 1, right.reshape(-1) == 1


def _one_number(metric: str, what: str, value: Any) -> float:
    """A number, or the element of an array of one.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool):
        raise refused(metric, what, "a number or an array of one", value)
    return float(value)


def _count(metric: str, what: str, value: Any) -> Any:
    """A number of things, as an array of one element where it was given as such.

    Raises:
        ArgumentError: it is neither.
    """
    number = int(_one_number(metric, what, value))
    return value if isinstance(value, np.ndarray) and value.ndim else number


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


__all__ = [
    "DetectionMAP", "Accuracy", "Auc", "ChunkEvaluator", "CompositeMetric", "EditDistance",
    "MetricBase", "Precision", "Recall",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
