"""Made samples, in place of missing data sets.

They have the shapes, the element types and the value ranges of the real ones, always the same ones,
and labels that depend on them: a model that learns, learns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Reader = Callable[[], Iterator[Any]]

TRAIN, TEST = 2000, 400


def generator(what: str) -> np.random.Generator:
    """Random numbers that depend on a text alone."""
    return np.random.default_rng(list(what.encode()))


def reader(what: str, count: int, sample: Callable[[np.random.Generator], Any]) -> Reader:
    """A reader of made samples.

    Args:
        what: of a set; the same text, the same samples.
        count: how many.
        sample: makes one of random numbers.
    """

    def read() -> Iterator[Any]:
        random = generator(what)
        for _ in range(count):
            yield sample(random)

    return read


def images(what: str, part: str, size: int, classes: int, least: float, count: int) -> Reader:
    """A reader of pictures in rows, each near that of its class, and their labels.

    Args:
        what, part: the set, and which part of it.
        size: of a picture.
        classes: how many there are.
        least: the least value; 1 is the greatest.
        count: how many samples.
    """

    def read() -> Iterator[Any]:
        typical = generator(what).random((min(classes, 100), size), np.float32)
        random = generator(what + part)
        for _ in range(count):
            label = int(random.integers(classes))
            mixed = (typical[label % 100] + random.random(size, np.float32)) / 2
            yield (mixed * (1 - least) + least).astype(np.float32), label

    return read


def sentence(random: np.random.Generator, words: int, label: int = 0, labels: int = 1) -> list[int]:
    """Numbers of words; half of them are of a kind that goes with a label.

    Args:
        random: gives the numbers.
        words: how many words there are.
        label: the label.
        labels: how many there are.
    """
    length = int(random.integers(8, 40))
    numbers = random.integers(0, words, length)
    own = random.random(length) < 0.5
    numbers[own] = (numbers[own] // labels) * labels + label
    return [int(min(number, words - 1)) for number in numbers]
