"""``paddle.static.io`` of paddle 2.6: programs and their variables in files and in bytes."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...io import (
    is_belong_to_optimizer,
    is_parameter,
    is_persistable,
    load_program_state,
    load_vars,
    save_vars,
    set_program_state,
)
from ...io.inference import append_fetch_ops, prepend_feed_ops
from ...io.variables import get_program_persistable_vars
from .building import load, save
from .models import (
    deserialize_persistables,
    deserialize_program,
    load_from_file,
    load_inference_model,
    normalize_program,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
)

__all__ = [
    "append_fetch_ops", "deserialize_persistables", "deserialize_program",
    "get_program_persistable_vars", "is_belong_to_optimizer", "is_parameter", "is_persistable",
    "load", "load_from_file", "load_inference_model", "load_program_state", "load_vars",
    "normalize_program", "prepend_feed_ops", "save", "save_inference_model", "save_to_file",
    "save_vars", "serialize_persistables", "serialize_program", "set_program_state",
]  # fmt: skip

list_public_names(globals())
