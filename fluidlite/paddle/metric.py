"""``paddle.metric`` of paddle 2.6: what is measured of a network besides its loss.

Outputs and labels go through ``compute``, which runs on tensors or is a part of the program; what
it gives comes to ``update`` as arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..eager.recording import TensorRecord
from ..errors import ArgumentError
from ..functions.arithmetic import equal
from ..functions.elementary import cast
from ..functions.reduction import argmax
from ..functions.selection import argsort
from ..functions.shaping import reshape
from ..ground.docstrings import Family
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries
from ..layers import metric as layers
from ..metrics import Auc as FluidAuc
from .holders import hold

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from ..functions.arguments import ArrayLike

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


_PAIRS = Family(raises="ArgumentError: these are no arrays, not of one size, or no probabilities.")


class Metric(Described, ABC):
    """The base of metrics: a subclass counts batches, and says what that amounts to."""

    @abstractmethod
    def reset(self) -> None:
        """Begin anew."""

    @abstractmethod
    def update(self, *args: Any) -> Any:
        """Count a batch.

        Args:
            args: what :meth:`compute` gave, as arrays.
        """

    @abstractmethod
    def accumulate(self) -> Any:
        """The number so far; a list where there are several."""

    @abstractmethod
    def name(self) -> str | list[str]:
        """What it is called in logs; a list where it has several numbers."""

    def compute(self, *args: Any) -> Any:
        """What is counted of outputs and labels: they themselves.

        Args:
            args: tensors, or variables of the program; first the outputs.
        """
        return args


class Accuracy(Metric):
    """The share of samples whose label is among the classes with the largest outputs.

    Args:
        topk: among how many; several numbers give several accuracies.
        name: in logs; ``acc`` when None.
        args, kwargs: accepted.

    >>> accuracy = fluid.paddle.metric.Accuracy()
    >>> scores = fluid.paddle.to_tensor([[0.9, 0.1], [0.8, 0.2]])
    >>> float(accuracy.update(accuracy.compute(scores, fluid.paddle.to_tensor([[0], [1]]))))
    0.5
    """

    def __init__(
        self, topk: Iterable[int] = (1,), name: str | None = None, *args: object, **kwargs: object
    ) -> None:
        self.topk: tuple[int, ...] = tuple(topk)
        self.maxk: int = max(self.topk)
        stem = name or "acc"
        several = len(self.topk) > 1
        self._name = [f"{stem}_top{k}" for k in self.topk] if several else [stem]
        self.reset()

    def compute(self, pred: Tensor, label: Tensor, *args: object) -> Any:
        """Whether each of the largest outputs is that of the label: 1 or 0, the largest first.

        Args:
            pred: outputs, [..., C].
            label: classes, [N] or [..., 1]; or rows of one class each, [..., C].
            args: accepted.
        """
        best = argsort(pred, descending=True)[..., : self.maxk]
        if len(label.shape) == 1:
            label = reshape(label, [-1, 1])
        elif label.shape[-1] != 1:
            label = argmax(label, -1, keepdim=True)
        return cast(equal(best, cast(label, "int64")), "float32")

    def update(self, correct: ArrayLike, *args: object) -> Any:
        """Count a batch.

        Args:
            correct: what :meth:`compute` gave.
            args: accepted.

        Returns:
            the share of this batch; a list of them where there are several.
        """
        right = _array("Accuracy", "correct", correct)
        count = int(np.prod(right.shape[:-1]))
        hits = [float(right[..., :k].sum()) for k in self.topk]
        for place, each in enumerate(hits):
            self.total[place] += each
            self.count[place] += count
        return _one_or_all([each / count if count else 0.0 for each in hits])

    def reset(self) -> None:
        """Begin anew."""
        self.total: list[float] = [0.0] * len(self.topk)
        self.count: list[int] = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The share of right samples so far; a list where there are several numbers."""
        pairs = zip(self.total, self.count)
        return _one_or_all([total / n if n else 0.0 for total, n in pairs])

    def name(self) -> list[str]:
        """``acc``; ``acc_top1`` and the like where there are several."""
        return self._name


class _OfOneClass(Metric):
    """The base of metrics for one class against all others."""

    _missed: str  #: the counter beside that of true positives
    _of: int  #: what that is counted of: 0 for predictions, 1 for labels
    _class: Callable[[Any], Any]  #: the classes of probabilities

    def __init__(self, name: str, *args: object, **kwargs: object) -> None:
        self._name = name
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.tp: int = 0  #: true positives
        setattr(self, self._missed, 0)

    def update(self, preds: ArrayLike, labels: ArrayLike) -> None:
        """Count a batch.

        Args:
            preds: the probabilities that samples are of the class; they are rounded.
            labels: 1 for the samples that are of it.

        Raises:
            ArgumentError: these are no arrays.
        """
        what = type(self).__name__
        found = self._class(_array(what, "preds", preds).reshape(-1)).astype("int32")
        truth = _array(what, "labels", labels).reshape(-1)
        size = min(len(found), len(truth))
        pair = (found[:size] == 1, truth[:size] == 1)
        right = int((pair[0] & pair[1]).sum())
        self.tp += right
        missed = getattr(self, self._missed) + int(pair[self._of].sum()) - right
        setattr(self, self._missed, missed)

    def accumulate(self) -> float:
        """The share so far; 0 where there is no sample."""
        whole = self.tp + getattr(self, self._missed)
        return float(self.tp) / whole if whole else 0.0

    def name(self) -> str:
        """What it is called in logs."""
        return self._name


class Precision(_OfOneClass):
    """How many of the samples that are predicted to be of a class are of it.

    Args:
        name: in logs.
        args, kwargs: accepted.

    >>> precision = fluid.paddle.metric.Precision()
    >>> precision.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 0]))
    >>> round(precision.accumulate(), 4)
    0.6667
    """

    fp: int  #: false positives
    _missed, _of = "fp", 0

    def __init__(self, name: str = "precision", *args: object, **kwargs: object) -> None:
        super().__init__(name)

    @staticmethod
    def _class(preds: Any) -> Any:
        return np.floor(preds + 0.5)


class Recall(_OfOneClass):
    """How many of the samples of a class are predicted to be of it.

    Args:
        name: in logs.
        args, kwargs: accepted.

    >>> recall = fluid.paddle.metric.Recall()
    >>> recall.update(np.array([0.1, 0.6, 0.7]), np.array([1, 1, 0]))
    >>> recall.accumulate()
    0.5
    """

    fn: int  #: false negatives
    _missed, _of = "fn", 1
    _class = staticmethod(np.rint)

    def __init__(self, name: str = "recall", *args: object, **kwargs: object) -> None:
        super().__init__(name)


class Auc(Metric):
    """The area under the curve of true over false positives that a threshold between two classes
    draws.

    Args:
        curve: accepted; it is that of rates, as in paddle 2.6.
        num_thresholds: how many thresholds are tried.
        name: in logs.
        args, kwargs: accepted.

    >>> auc = fluid.paddle.metric.Auc()
    >>> positive = np.array([0.9, 0.8, 0.3, 0.1])
    >>> auc.update(np.stack([1 - positive, positive], 1), np.array([[1], [0], [1], [0]]))
    >>> auc.accumulate()
    0.75
    """

    def __init__(
        self,
        curve: str = "ROC",
        num_thresholds: int = 4095,
        name: str = "auc",
        *args: object,
        **kwargs: object,
    ) -> None:
        self._curve, self._name = curve, name
        self._area = FluidAuc(name, "ROC", num_thresholds)

    @Family(
        raises="ArgumentError: these are no arrays, not of one size, or no probabilities."
    ).like(FluidAuc.update)
    def update(self, preds: ArrayLike, labels: ArrayLike) -> None:
        """Count a batch."""
        self._area.update(_array("Auc", "preds", preds), _array("Auc", "labels", labels))

    def accumulate(self) -> float:
        """The area so far; 0 where one of the classes has no sample."""
        counts = self._area.stat_pos, self._area.stat_neg
        true, false = (np.append(0, np.cumsum(each[::-1])) for each in counts)
        if not true[-1] or not false[-1]:
            return 0.0
        area: Any = self.trapezoid_area(false[1:], false[:-1], true[1:], true[:-1])
        return float(area.sum() / true[-1] / false[-1])

    def reset(self) -> None:
        """Begin anew."""
        self._area.reset()

    def name(self) -> str:
        """What it is called in logs."""
        return self._name

    trapezoid_area: Final = staticmethod(FluidAuc.trapezoid_area)


def accuracy(
    input: Tensor,
    label: Tensor,
    k: int = 1,
    correct: Tensor | None = None,
    total: Tensor | None = None,
    name: str | None = None,
) -> Any:
    """The share of rows whose label is among the ``k`` classes with the largest scores.

    Args:
        input: scores of the classes, of shape [n, classes].
        label: indices of the right classes, int32 or int64 of shape [n, 1].
        k: how many of the largest scores count.
        correct: gets the number of rows that are right, int32.
        total: gets the number of rows, likewise.
        name: accepted.

    Returns:
        a float32 tensor or variable without dimensions.

    >>> scores = fluid.paddle.to_tensor([[0.9, 0.1], [0.8, 0.2]])
    >>> float(fluid.paddle.metric.accuracy(scores, fluid.paddle.to_tensor([[0], [1]])))
    0.5
    """
    share: Any = layers.accuracy
    return reshape(share(input, cast(label, "int64"), k, correct, total), [])


def _array(what: str, name: str, value: Any) -> Any:
    if isinstance(value, TensorRecord):
        return value.array
    if not isinstance(value, np.ndarray):
        raise ArgumentError(
            f"{what}: expected {name} to be an array or a tensor, got {value!r:.60}"
        )
    return value


def _one_or_all(numbers: list[Any]) -> Any:
    return numbers[0] if len(numbers) == 1 else numbers


list_public_names(globals())
api_boundaries(globals())
hold(globals())
