"""Irises: 150 flowers of three kinds, by four lengths; 120 train, 30 test.

    >>> from fluidlite.dataset import iris
    >>> features, label = next(iris.train()())
    >>> features.shape, features.dtype, label
    ((4,), dtype('float32'), 2)

A sample is four lengths in cm, float32, and the number of the kind.  The samples stand in an order
shuffled once; the first 120 are for training, the others for testing.  ``FEATURES`` and ``CLASSES``
have the names.  Where the data is from, and its licence, is told in ``LICENSE-tables.txt`` beside
this file.
"""

from __future__ import annotations

from ..ground.public_names import list_public_names
from .tables import Array, Reader, Table

__all__ = ["CLASSES", "FEATURES", "arrays", "test", "train"]

FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
CLASSES = ["setosa", "versicolor", "virginica"]

_table = Table("iris", 120)


def train() -> Reader:
    """A reader creator over the 120 training samples."""
    return _table.reader("train")


def test() -> Reader:
    """A reader creator over the 30 test samples."""
    return _table.reader("test")


def arrays(split: str) -> tuple[Array, Array]:
    """All features, float32 [n, 4], and labels, int64 [n, 1], of ``"train"`` or ``"test"``."""
    return _table.arrays(split)


test.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test, whoever imports it

list_public_names(globals())
