"""Files: variables, parameters and whole models, with the names of fluid 1.8's ``fluid.io``."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries
from ..reader import ComposeNotAligned as ComposeNotAligned
from ..reader import batch as batch
from ..reader import buffered as buffered
from ..reader import cache as cache
from ..reader import chain as chain
from ..reader import compose as compose
from ..reader import firstn as firstn
from ..reader import map_readers as map_readers
from ..reader import shuffle as shuffle
from ..reader import xmap_readers as xmap_readers
from ..readers.bucketing import bucketed as bucketed
from ..readers.collation import default_collate_fn as default_collate_fn
from ..readers.datasets import BatchSampler as BatchSampler
from ..readers.datasets import ConcatDataset as ConcatDataset
from ..readers.datasets import Dataset as Dataset
from ..readers.datasets import IterableDataset as IterableDataset
from ..readers.datasets import RandomSampler as RandomSampler
from ..readers.datasets import Sampler as Sampler
from ..readers.datasets import SequenceSampler as SequenceSampler
from ..readers.datasets import Subset as Subset
from ..readers.datasets import TensorDataset as TensorDataset
from ..readers.datasets import random_split as random_split
from ..readers.generator import PyReader as PyReader
from ..readers.loader import DataLoader as DataLoader
from ..readers.merging import multiprocess_reader as multiprocess_reader
from .contents import Contents as Contents
from .contents import read as read
from .conversion import convert as convert
from .inference import append_fetch_ops as append_fetch_ops
from .inference import load_inference_model as load_inference_model
from .inference import prepend_feed_ops as prepend_feed_ops
from .inference import save_inference_model as save_inference_model
from .training import load as load
from .training import load_program_state as load_program_state
from .training import save as save
from .training import set_program_state as set_program_state
from .variables import get_parameter_value as get_parameter_value
from .variables import get_parameter_value_by_name as get_parameter_value_by_name
from .variables import get_program_parameter as get_program_parameter
from .variables import get_program_persistable_vars as get_program_persistable_vars
from .variables import is_belong_to_optimizer as is_belong_to_optimizer
from .variables import is_parameter as is_parameter
from .variables import is_persistable as is_persistable
from .variables import load_params as load_params
from .variables import load_persistables as load_persistables
from .variables import load_vars as load_vars
from .variables import save_params as save_params
from .variables import save_persistables as save_persistables
from .variables import save_vars as save_vars

list_given_names(globals())
api_boundaries(globals())
answer(globals())
