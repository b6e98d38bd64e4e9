"""Where the files of data sets lie."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....errors import ArgumentError
from ....ground.docstrings import Family
from ....ground.files import missing_file
from ....readers.datasets import Dataset

#: what all sets take
SET = Family(
    {
        "data_file": "the file of the set; one in ``~/.cache/paddle/dataset`` when None.",
        "mode": "which part of it.",
        "download": "accepted: nothing is downloaded.",
    },
    raises="ArgumentError: there is no such part.\nFileError: the file is missing; it says where "
    "it belongs.\nFileFormatError: it is another file.",
)


class TextSet(Dataset):
    """Samples in a list, which are tuples of arrays."""

    _samples: Sequence[Any]

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        return tuple(np.array(each) for each in self._samples[number])

    def __len__(self) -> int:
        return len(self._samples)


def file_of(given: str | None, folder: str, *names: str) -> str:
    """The path of a file of a set.

    Args:
        given: the path that a user gave; None for none.
        folder: the set's folder in ``~/.cache/paddle/dataset``.
        names: what the file may be called there, the usual name first.

    Raises:
        MissingFileError: there is none.
    """
    home = os.path.join(os.path.expanduser("~"), ".cache", "paddle", "dataset", folder)
    paths = [os.path.join(home, name) for name in names] if given is None else [given]
    existing = next((path for path in paths if os.path.exists(path)), None)
    if existing is None:
        why = "there is no such file or folder; put the set there; nothing is downloaded"
        raise missing_file(paths[0], why)
    return existing


def part_of(mode: str, *parts: str) -> str:
    """Which part of a set is meant.

    Args:
        mode: its name, in any case.
        parts: those that there are.

    Raises:
        ArgumentError: it is none of these.
    """
    part = str(mode).lower()
    if part not in parts:
        raise ArgumentError(f"expected mode to be one of {', '.join(parts)}, got {mode!r:.60}")
    return part


def need_count(what: str, count: int) -> int:
    """A number of words, checked.

    Raises:
        ArgumentError: it is below 1.
    """
    if not isinstance(count, int) or count < 1:
        raise ArgumentError(f"expected {what} to be a whole number from 1, got {count!r:.60}")
    return count
