"""Names only: samplers, where OneFlow has them."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ....readers.datasets import Sampler
from ....readers.datasets import SequenceSampler as SequentialSampler
from .samplers import BatchSampler, RandomSampler, SubsetRandomSampler

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"]

list_public_names(globals())
