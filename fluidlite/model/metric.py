"""What is measured of a model besides its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground.public_names import list_public_names
from ..ground.reprs import Described

__all__ = ["Accuracy", "Metric"]


class Metric(Described):
    """The base of metrics: a subclass counts batches, and says what that amounts to."""

    def name(self) -> str | list[str]:
        """What it is called in logs; a list where it has several numbers."""
        return type(self).__name__.lower()

    def reset(self) -> None:
        """Begin anew."""
        raise NotImplementedError

    def update(self, outputs: Any, labels: Any) -> None:
        """Count a batch.

        Args:
            outputs: of the network, as an array.
            labels: the labels, as an array.
        """
        raise NotImplementedError

    def accumulate(self) -> Any:
        """The number; a list where there are several."""
        raise NotImplementedError


class Accuracy(Metric):
    """The share of samples whose label is among the classes with the largest outputs.

    Args:
        topk: among how many; several numbers give several accuracies.
        name: in logs; ``acc`` when None.

    >>> accuracy = Accuracy()
    >>> accuracy.update(np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([[0], [1]]))
    >>> accuracy.accumulate()
    0.5
    """

    _shown = "name=_name"

    def __init__(self, topk: Sequence[int] | int = (1,), name: str | None = None) -> None:
        self._topk = [topk] if isinstance(topk, int) else list(topk)
        self._name = name or "acc"
        self.reset()

    def name(self) -> str | list[str]:
        """``acc``; ``acc_top1`` and the like where there are several."""
        if len(self._topk) == 1:
            return self._name
        return [f"{self._name}_top{k}" for k in self._topk]

    def reset(self) -> None:
        """Begin anew."""
        self._right, self._count = [0] * len(self._topk), 0

    def update(self, outputs: Any, labels: Any) -> None:
        """Count a batch.

        Args:
            outputs: scores of the classes, [N, C].
            labels: classes, [N] or [N, 1]; or one-hot rows, [N, C].
        """
        outputs, labels = np.asarray(outputs), np.asarray(labels)
        hot = labels.ndim == outputs.ndim and labels.shape[-1] == outputs.shape[-1] > 1
        truth = (labels.argmax(-1) if hot else labels).reshape(-1, 1)
        order = np.argsort(-outputs.reshape(len(truth), -1), axis=1, kind="stable")
        self._count += len(truth)
        for k, most in enumerate(self._topk):
            self._right[k] += int((order[:, :most] == truth).any(1).sum())

    def accumulate(self) -> Any:
        """The share of right answers so far."""
        found = [right / self._count if self._count else 0.0 for right in self._right]
        return found[0] if len(found) == 1 else found


list_public_names(globals())
