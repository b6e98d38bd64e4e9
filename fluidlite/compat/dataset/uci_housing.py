"""Houses in Boston: 13 figures, made comparable, and the price."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ...dataset.formats.houses import houses, prepared
from ...ground import state
from ...ground.tracebacks import api_boundaries
from ..refused import NotServedError
from .homes import fetch, file_of, is_synthetic
from .made import Reader, generator

feature_names: list[str] = [
    *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B"),
    "LSTAT",
]
#: the rows for training and for testing, once a reader was made
_rows: state.StateSlot[tuple[Any, Any]] = state.slot("houses", lambda: (None, None))


class HousesState:
    """What ``paddle.dataset.uci_housing`` kept at module level once a reader was made."""

    @property
    def UCI_TRAIN_DATA(self) -> Any:
        """The rows for training; None before."""
        return _rows.get()[0]

    @property
    def UCI_TEST_DATA(self) -> Any:
        """The rows for testing; None before."""
        return _rows.get()[1]


__all__ = ["feature_names", "fetch", "load_data", "test", "train"]


def load_data(filename: str, feature_num: int = 14, ratio: float = 0.8) -> tuple[Any, Any]:
    """The rows for training and for testing; every figure less its mean, by its range.

    Args:
        filename: a text with so many numbers for each house, the price last.
        feature_num: how many.
        ratio: which part is for training.
    """
    return houses(filename, feature_num, ratio)


@cache
def _made() -> tuple[Any, Any]:
    random = generator("uci_housing")
    figures = random.random((506, 13))
    price = 5 + figures @ random.uniform(-4, 8, 13) + random.normal(0, 1, 506)
    return prepared(np.column_stack([figures, price.clip(5, 50)]))


def _reader(part: int) -> Reader:
    path = "" if is_synthetic() else file_of("uci_housing", "housing.data")
    rows = load_data(path) if path else _made()
    _rows.switch(rows)

    def read() -> Iterator[Any]:
        for row in rows[part]:
            yield row[:-1], row[-1:]

    return read


def train() -> Reader:
    """A reader of 404 samples: float64 [13] and [1]."""
    return _reader(0)


def test() -> Reader:
    """A reader of 102 samples."""
    return _reader(1)


def predict_reader() -> Reader:
    """A reader of the first test samples, without their prices."""

    def read() -> Iterator[Any]:
        yield ([row for row, _ in _reader(1)()],)

    return read


def feature_range(maximums: Any, minimums: Any) -> None:
    """Nothing: 1.8 drew a picture of the ranges."""


def fluid_model() -> Any:
    """Refused: the trained model of 1.8 was downloaded.

    Raises:
        NotServedError: always.
    """
    raise NotServedError("fluidlite has no uci_housing.fluid_model: train a model and save it")


api_boundaries(globals())
