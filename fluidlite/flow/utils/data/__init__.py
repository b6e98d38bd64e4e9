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
)  # fmt: skip
from ....readers.datasets import SequenceSampler as SequentialSampler
from ....readers.worker_info import get_worker_info
from . import dataloader, dataset, distributed, sampler
from .loader import DataLoader
from .rows import TensorDataset
from .samplers import (
    BatchSampler,
    ChainDataset,
    DistributedSampler,
    RandomSampler,
    SubsetRandomSampler,
    random_split,
)  # fmt: skip

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "Subset",
    "SubsetRandomSampler", "TensorDataset", "dataloader", "dataset", "distributed",
    "get_worker_info", "random_split", "sampler",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
