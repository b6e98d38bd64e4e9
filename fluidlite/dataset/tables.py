"""Tables of samples with a class in the last column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..errors import ArgumentError

__all__ = ["Array", "Reader", "numbers", "splits_of"]

Array = np.ndarray[Any, Any]
Reader = Callable[[], Iterator[tuple[Array, int]]]
Creator = Callable[[], Reader]
Splits = Callable[[str], tuple[Array, Array]]
F = TypeVar("F", bound=Callable[..., Any])


def numbers(name: str) -> Array:
    """The rows of a table beside this file."""
    return np.loadtxt(Path(__file__).with_name(f"{name}.csv"), delimiter=",", ndmin=2)


def splits_of(name: str, training: int, testing: int) -> tuple[Creator, Creator, Splits]:
    """The functions ``train``, ``test`` and ``arrays`` of a table in a file beside this one, in an
    order shuffled once.

    Args:
        name: of the file.
        training: how many rows are for training.
        testing: how many are for testing.
    """
    splits = {"train": slice(None, training), "test": slice(training, None)}

    def arrays(split: str) -> tuple[Array, Array]:
        """All features, float32 [n, width], and labels, int64 [n, 1], of a split.

        Args:
            split: "train" or "test".

        Raises:
            ArgumentError: it is neither.
        """
        if split not in list(splits):  # a list, since anything may be passed here
            raise ArgumentError(
                f'expected a split, "train" or "test", got {split!r} in {name}.arrays'
            )
        rows = numbers(name)
        rows = rows[np.random.RandomState(0).permutation(len(rows))][splits[split]]
        return rows[:, :-1].astype(np.float32), rows[:, -1:].astype(np.int64)

    def creator(split: str, said: str) -> Creator:
        def read() -> Iterator[tuple[Array, int]]:
            features, labels = arrays(split)
            for row, label in zip(features, labels[:, 0]):
                yield row, int(label)

        def create() -> Reader:
            return read

        made: Any = _of(name, split, create)
        made.__doc__ = f"A reader creator over the {said} samples."
        made.__test__ = False  # pytest: ``test`` is not one, whoever imports it
        return made

    train, test = creator("train", f"{training} training"), creator("test", f"{testing} test")
    return train, test, _of(name, "arrays", arrays)


def _of(module: str, name: str, function: F) -> F:
    """A function as one of the module of a table."""
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__module__ = f"{__package__}.{module}"
    return function
