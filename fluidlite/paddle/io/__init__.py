"""``paddle.io`` of paddle 2.6: data sets, samplers and loaders."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ...ground.tracebacks import api_boundaries
from ...readers.datasets import Dataset as Dataset
from ...readers.datasets import IterableDataset as IterableDataset
from ...readers.datasets import Sampler as Sampler
from ...readers.datasets import SequenceSampler as SequenceSampler
from ...readers.datasets import Subset as Subset
from ...readers.worker_info import get_worker_info as get_worker_info
from ..holders import hold
from .datasets import ChainDataset as ChainDataset
from .datasets import ComposeDataset as ComposeDataset
from .datasets import ConcatDataset as ConcatDataset
from .datasets import TensorDataset as TensorDataset
from .datasets import random_split as random_split
from .loader import DataLoader as DataLoader
from .samplers import BatchSampler as BatchSampler
from .samplers import DistributedBatchSampler as DistributedBatchSampler
from .samplers import RandomSampler as RandomSampler
from .samplers import SubsetRandomSampler as SubsetRandomSampler
from .samplers import WeightedRandomSampler as WeightedRandomSampler

list_given_names(globals())
api_boundaries(globals())
hold(globals())
