"""Wines: 178 wines of three growers, by 13 measurements; 142 train, 36 test.

    >>> from fluidlite.dataset import wine
    >>> features, label = next(wine.train()())
    >>> features.shape, features.dtype, label
    ((13,), dtype('float32'), 0)

A sample is 13 measurements, float32, of very different sizes, and the number of the grower.  The
samples stand in an order shuffled once; the first 142 are for training, the others for testing.
``FEATURES`` and ``CLASSES`` have the names.  Where the data is from, and its licence, stands in
``LICENSE-tables.txt`` beside this file.
"""

from __future__ import annotations

from ..ground.public_names import list_public_names
from .tables import splits_of

__all__ = ["CLASSES", "FEATURES", "arrays", "test", "train"]

FEATURES = [
    "alcohol",
    "malic acid",
    "ash",
    "alcalinity of ash",
    "magnesium",
    "phenols",
    "flavanoids",
    "nonflavanoid phenols",
    "proanthocyanins",
    "colour intensity",
    "hue",
    "OD280/OD315",
    "proline",
]
CLASSES = ["first", "second", "third"]

train, test, arrays = splits_of("wine", training=142, testing=36)

list_public_names(globals())
