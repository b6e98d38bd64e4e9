"""Data sets, samplers and loaders, in OneFlow's spelling."""

from __future__ import annotations

from ....ground.missing_names import answer
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....readers.datasets import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    Sampler,
    Subset,
    random_split,
)  # fmt: skip
from ....readers.datasets import SequenceSampler as SequentialSampler
from .loader import DataLoader
from .rows import TensorDataset
from .samplers import BatchSampler, DistributedSampler, RandomSampler, SubsetRandomSampler

__all__ = [
    "BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "Subset",
    "SubsetRandomSampler", "TensorDataset", "random_split",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
