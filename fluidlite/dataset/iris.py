"""Irises: 150 flowers of three kinds, by four lengths; 120 train, 30 test.

    >>> from fluidlite.dataset import iris
    >>> features, label = next(iris.train()())
    >>> features.shape, features.dtype, label
    ((4,), dtype('float32'), 2)

A sample is four lengths in cm, float32, and the number of the kind.  The samples stand in an order
shuffled once; the first 120 are for training, the others for testing.  ``FEATURES`` and ``CLASSES``
have the names.  Where the data is from, and its licence, stands in ``LICENSE-tables.txt`` beside
this file.
"""

from __future__ import annotations

from ..ground.public_names import list_public_names
from .tables import splits_of

__all__ = ["CLASSES", "FEATURES", "arrays", "test", "train"]

FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
CLASSES = ["setosa", "versicolor", "virginica"]

train, test, arrays = splits_of("iris", training=120, testing=30)

list_public_names(globals())
