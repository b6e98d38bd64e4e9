"""Small coloured pictures: float32 [3072] from 0 to 1, red, green, blue; and the class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ground.files import Source
from ...proto.pickled import read_pickle
from .homes import archive, fetch, file_of, is_synthetic
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
            with archive(filename) as tar:
                for member in tar:
                    file = tar.extractfile(member) if sub_name in member.name else None
                    if file is not None:
                        yield from _samples(read_pickle(Source.of(file.read(), filename)))
            if not cycle:
                return

    return read


def _samples(batch: Any) -> Iterator[Any]:
    held = {key.decode() if isinstance(key, bytes) else key: batch[key] for key in batch}
    labels = held["labels"] if "labels" in held else held["fine_labels"]
    for row, label in zip(held["data"], labels):
        yield (row / 255.0).astype(np.float32), int(label)


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
