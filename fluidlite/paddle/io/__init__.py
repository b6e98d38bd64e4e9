"""``paddle.io`` of paddle 2.6: data sets, samplers and loaders."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...readers.datasets import Dataset, IterableDataset, Sampler, SequenceSampler, Subset
from ...readers.worker_info import get_worker_info
from .datasets import ChainDataset, ComposeDataset, ConcatDataset, TensorDataset, random_split
from .loader import DataLoader
from .samplers import (
    BatchSampler,
    DistributedBatchSampler,
    RandomSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ComposeDataset", "ConcatDataset", "DataLoader", "Dataset",
    "DistributedBatchSampler", "IterableDataset", "RandomSampler", "Sampler", "SequenceSampler",
    "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "get_worker_info",
    "random_split",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
