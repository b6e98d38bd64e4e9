"""Houses in Boston: 13 figures, made comparable, and the price."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FileFormatError
from ...ground.files import read_bytes
from ...ground.public_names import list_public_names


def houses(path: str, figures: int = 14, ratio: float = 0.8) -> tuple[Any, Any]:
    """The rows for training and for testing; every figure less its mean, by its range.

    Args:
        path: of a text with so many numbers for each house, the price last.
        figures: how many.
        ratio: which part is for training.

    Raises:
        FileError: the file cannot be read.
        FileFormatError: it holds something else.
    """
    text = read_bytes(path)
    try:
        data = np.array(text.split(), np.float64).reshape(-1, figures)
    except ValueError as error:
        raise FileFormatError(f"{path}: expected {figures} numbers a house: {error}") from error
    return prepared(data, ratio)


def prepared(rows: Any, ratio: float = 0.8) -> tuple[Any, Any]:
    """The first rows and the others; every figure less its mean, by its range.

    Args:
        rows: figures, the price last.
        ratio: which part is the first.
    """
    high, low = rows.max(axis=0), rows.min(axis=0)
    rows = rows.copy()
    rows[:, :-1] = (rows[:, :-1] - rows[:, :-1].mean(axis=0)) / (high - low)[:-1]
    cut = int(len(rows) * ratio)
    return rows[:cut], rows[cut:]


list_public_names(globals())
