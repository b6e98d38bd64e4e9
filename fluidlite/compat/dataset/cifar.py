"""Small coloured pictures: float32 [3072] from 0 to 1, red, green, blue; and the class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...dataset.formats.cifar import pictures
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader, images

__all__ = ["fetch", "reader_creator", "test10", "test100", "train10", "train100"]


def reader_creator(filename: str, sub_name: str, cycle: bool = False) -> Reader:
    """A reader of the batches in an archive.

    Args:
        filename: the archive.
        sub_name: what the names of the batches contain.
        cycle: whether to begin again at the end, for ever.
    """

    def read() -> Iterator[Any]:
        while True:
            for row, label in pictures(filename, sub_name):
                yield (row / 255.0).astype(np.float32), label
            if not cycle:
                return

    return read


def _reader(classes: int, part: str, sub_name: str, cycle: bool = False) -> Reader:
    if is_synthetic():
        count = TRAIN if part == "train" else TEST
        return images(f"cifar{classes}", part, 3072, classes, 0.0, count)
    return reader_creator(file_of("cifar", f"cifar-{classes}-python.tar.gz"), sub_name, cycle)


def train100() -> Reader:
    """A reader of the 50,000 training samples of 100 classes."""
    return _reader(100, "train", "train")


def test100() -> Reader:
    """A reader of the 10,000 test samples of 100 classes."""
    return _reader(100, "test", "test")


def train10(cycle: bool = False) -> Reader:
    """A reader of the 50,000 training samples of 10 classes."""
    return _reader(10, "train", "data_batch", cycle)


def test10(cycle: bool = False) -> Reader:
    """A reader of the 10,000 test samples of 10 classes."""
    return _reader(10, "test", "test_batch", cycle)


api_boundaries(globals())
