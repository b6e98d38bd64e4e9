"""Handwritten digits: float32 [784] from -1 to 1, and the digit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...dataset.formats.idx import digits
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import TEST, TRAIN, Reader, images

__all__ = ["fetch", "reader_creator", "test", "train"]


def reader_creator(image_filename: str, label_filename: str, buffer_size: int = 100) -> Reader:
    """A reader of two IDX files, compressed by gzip.

    Args:
        image_filename, label_filename: the files.
        buffer_size: not read.
    """

    def read() -> Iterator[Any]:
        pictures, labels = digits(image_filename, label_filename)
        for picture, label in zip(pictures.reshape(len(pictures), -1), labels):
            yield picture.astype(np.float32) / np.float32(255) * np.float32(2) - 1, int(label)

    return read


def _reader(part: str, count: int) -> Reader:
    if is_synthetic():
        return images("mnist", part, 784, 10, -1.0, count)
    return reader_creator(
        file_of("mnist", f"{part}-images-idx3-ubyte.gz"),
        file_of("mnist", f"{part}-labels-idx1-ubyte.gz"),
    )


def train() -> Reader:
    """A reader of the 60,000 training samples."""
    return _reader("train", TRAIN)


def test() -> Reader:
    """A reader of the 10,000 test samples."""
    return _reader("t10k", TEST)


api_boundaries(globals())
