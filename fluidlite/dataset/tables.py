"""Tables of samples with a class in the last column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError

__all__ = ["Array", "Reader", "Table", "numbers"]

Array = np.ndarray[Any, Any]
Reader = Callable[[], Iterator[tuple[Array, int]]]


def numbers(name: str) -> Array:
    """The rows of a table beside this file."""
    return np.loadtxt(Path(__file__).with_name(f"{name}.csv"), delimiter=",", ndmin=2)


class Table:
    """A table in a file beside this one, in an order shuffled once.

    Args:
        name: of the file.
        training: how many rows are for training.
    """

    def __init__(self, name: str, training: int) -> None:
        self._name = name
        self._splits = {"train": slice(None, training), "test": slice(training, None)}

    def arrays(self, split: str) -> tuple[Array, Array]:
        """Features, float32, and labels, int64 [n, 1].

        Args:
            split: "train" or "test".

        Raises:
            ArgumentError: it is neither.
        """
        if split not in list(self._splits):  # a list, since anything may be passed here
            raise ArgumentError(
                f'expected a split, "train" or "test", got {split!r} in {self._name}.arrays'
            )
        rows = numbers(self._name)
        rows = rows[np.random.RandomState(0).permutation(len(rows))][self._splits[split]]
        return rows[:, :-1].astype(np.float32), rows[:, -1:].astype(np.int64)

    def reader(self, split: str) -> Reader:
        """A reader creator over the samples of a split."""

        def read() -> Iterator[tuple[Array, int]]:
            features, labels = self.arrays(split)
            for row, label in zip(features, labels[:, 0]):
                yield row, int(label)

        return read
