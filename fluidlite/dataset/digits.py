"""Handwritten digits: 1,797 images of 8 by 8 pixels, in ten classes; 1,500 train, 297 test.

    >>> from fluidlite.dataset import digits
    >>> image, label = next(digits.train()())
    >>> image.shape, image.dtype, label
    ((64,), dtype('float32'), 2)

A sample is an image and its label: 64 float32 from -1 (paper) to 1 (ink), row by row, and an int.
The samples lie in the file in an order shuffled once; the first 1,500 are for training, the others
for testing.  So the split is the same everywhere, and both parts hold every class.

The data is from E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine
Learning Repository, 1998, DOI 10.24432/C50P49, licensed under CC BY 4.0.  What was changed stands
in ``LICENSE-digits.txt`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ground.public_names import list_public_names

__all__ = ["arrays", "test", "train"]

Array = np.ndarray[Any, Any]
Reader = Callable[[], Iterator[tuple[Array, int]]]

FILE = Path(__file__).with_name("digits.npz")
SPLITS = {"train": slice(0, 1500), "test": slice(1500, 1797)}


def train() -> Reader:
    """A reader creator over the 1,500 training samples."""
    return _reader("train")


def test() -> Reader:
    """A reader creator over the 297 test samples."""
    return _reader("test")


def arrays(split: str) -> tuple[Array, Array]:
    """All images, float32 [n, 64], and labels, int64 [n, 1], of ``"train"`` or ``"test"``.

    The arrays are new ones at every call.  ``images.reshape(-1, 1, 8, 8)`` is what a convolution
    takes.

    >>> from fluidlite.dataset import digits
    >>> images, labels = digits.arrays("test")
    >>> images.shape, labels.shape
    ((297, 64), (297, 1))
    """
    if split not in list(SPLITS):  # a list, since anything may be passed here
        raise ArgumentError(f'expected a split, "train" or "test", got {split!r} in digits.arrays')
    with np.load(FILE) as file:
        images, labels = file["images"][SPLITS[split]], file["labels"][SPLITS[split]]
    # Pixels are counts from 0 to 16, so that the division is exact.
    return (
        images.reshape(-1, 64).astype(np.float32) / np.float32(8) - np.float32(1),
        labels.reshape(-1, 1).astype(np.int64),
    )


def _reader(split: str) -> Reader:
    def read() -> Iterator[tuple[Array, int]]:
        images, labels = arrays(split)
        for image, label in zip(images, labels[:, 0]):
            yield image, int(label)

    return read


test.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test, whoever imports it

list_public_names(globals())
