"""Files: variables, parameters and whole models, with the names of fluid 1.8's ``fluid.io``."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..reader import (
    ComposeNotAligned,
    batch,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    shuffle,
    xmap_readers,
)
from ..readers.collation import default_collate_fn
from ..readers.datasets import (
    BatchSampler,
    ConcatDataset,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequenceSampler,
    Subset,
    TensorDataset,
    random_split,
)
from ..readers.generator import PyReader
from ..readers.loader import DataLoader
from ..readers.merging import multiprocess_reader
from .contents import Contents, read
from .conversion import convert
from .inference import (
    append_fetch_ops,
    load_inference_model,
    prepend_feed_ops,
    save_inference_model,
)
from .training import load, load_program_state, save, set_program_state
from .variables import (
    get_parameter_value,
    get_parameter_value_by_name,
    get_program_parameter,
    get_program_persistable_vars,
    is_belong_to_optimizer,
    is_parameter,
    is_persistable,
    load_params,
    load_persistables,
    load_vars,
    save_params,
    save_persistables,
    save_vars,
)

__all__ = [
    # whole models
    "save", "load", "save_inference_model", "load_inference_model", "load_program_state",
    "set_program_state",
    # variables
    "save_vars", "save_params", "save_persistables", "load_vars", "load_params",
    "load_persistables", "is_parameter", "is_persistable", "is_belong_to_optimizer",
    "get_program_parameter", "get_program_persistable_vars", "get_parameter_value",
    "get_parameter_value_by_name",
    # any file
    "read", "convert", "Contents",
    # parts
    "prepend_feed_ops", "append_fetch_ops",
    # loaders of data
    "BatchSampler", "DataLoader", "Dataset", "IterableDataset", "PyReader", "ConcatDataset",
    "RandomSampler", "Subset", "TensorDataset", "random_split", "Sampler", "SequenceSampler",
    "default_collate_fn", "multiprocess_reader",
    # readers of data
    "ComposeNotAligned", "batch", "buffered", "cache", "chain", "compose", "firstn", "map_readers",
    "shuffle", "xmap_readers",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
