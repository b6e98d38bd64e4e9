"""``paddle.io`` of paddle 2.6: data sets, samplers and loaders."""

from __future__ import annotations

from ..ground.public_names import list_public_names
from ..io import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequenceSampler,
    Subset,
    TensorDataset,
    random_split,
)  # fmt: skip

__all__ = [
    "BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequenceSampler", "Subset", "TensorDataset", "random_split",
]  # fmt: skip

list_public_names(globals())
