"""Data sets, samplers and loaders, in OneFlow's spelling."""

from __future__ import annotations

from ....ground.missing_names import answer
from ....ground.public_names import list_given_names
from ....ground.tracebacks import api_boundaries
from ....readers.datasets import ConcatDataset as ConcatDataset
from ....readers.datasets import Dataset as Dataset
from ....readers.datasets import IterableDataset as IterableDataset
from ....readers.datasets import Sampler as Sampler
from ....readers.datasets import SequenceSampler as SequentialSampler
from ....readers.datasets import Subset as Subset
from ....readers.worker_info import get_worker_info as get_worker_info
from . import dataloader as dataloader
from . import dataset as dataset
from . import distributed as distributed
from . import sampler as sampler
from .loader import DataLoader as DataLoader
from .rows import TensorDataset as TensorDataset
from .samplers import BatchSampler as BatchSampler
from .samplers import ChainDataset as ChainDataset
from .samplers import DistributedSampler as DistributedSampler
from .samplers import RandomSampler as RandomSampler
from .samplers import SubsetRandomSampler as SubsetRandomSampler
from .samplers import random_split as random_split

list_given_names(globals(), "dataloader", "dataset", "distributed", "sampler")
api_boundaries(globals())
answer(globals())
