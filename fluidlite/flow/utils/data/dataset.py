"""Names only: data sets, where OneFlow has them."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ....readers.datasets import ConcatDataset, Dataset, IterableDataset, Subset
from .rows import TensorDataset
from .samplers import ChainDataset, random_split

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

list_public_names(globals())
