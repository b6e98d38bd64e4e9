"""Pictures and, pixel for pixel, what is on them: uint8 [height, width, 3] and [height, width]."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...dataset.formats.voc import DATA_FILE as DATA_FILE
from ...dataset.formats.voc import LABEL_FILE as LABEL_FILE
from ...dataset.formats.voc import SET_FILE as SET_FILE
from ...dataset.formats.voc import members_of
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .image import pillow
from .made import Reader, reader

__all__ = ["fetch", "reader_creator", "test", "train", "val"]

CACHE_DIR = "voc2012"
_MADE = 20


def reader_creator(filename: str, sub_name: str) -> Reader:
    """A reader of a part of the archive.

    Args:
        filename: the archive.
        sub_name: the part: "train", "val" or "trainval".
    """

    def read() -> Iterator[Any]:
        members, names = members_of(filename, sub_name)
        for pair in names:
            yield tuple(np.array(pillow().open(io.BytesIO(members[name]))) for name in pair)

    return read


def _made(random: Any) -> Any:
    label = np.zeros([96, 128], np.uint8)
    kind = int(random.integers(1, 21))
    top, left = random.integers(0, 48, 2)
    label[top : top + 40, left : left + 60] = kind
    picture = random.integers(0, 128, [96, 128, 3]) + (label * 6)[:, :, None]
    return picture.astype(np.uint8), label


def _reader(part: str) -> Reader:
    if is_synthetic():
        return reader(f"voc2012 {part}", _MADE, _made)
    return reader_creator(file_of(CACHE_DIR, "VOCtrainval_11-May-2012.tar"), part)


def train() -> Reader:
    """A reader of the 2,913 samples for training and validation."""
    return _reader("trainval")


def test() -> Reader:
    """A reader of the 1,464 training samples."""
    return _reader("train")


def val() -> Reader:
    """A reader of the 1,449 samples for validation."""
    return _reader("val")


api_boundaries(globals())
