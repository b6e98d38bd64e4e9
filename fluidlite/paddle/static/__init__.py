"""``paddle.static`` of paddle 2.6: programs, and what builds, runs and saves them."""

from __future__ import annotations

from ...backward import append_backward, gradients
from ...compiler import BuildStrategy, CompiledProgram, ExecutionStrategy
from ...framework import device_guard
from ...ground.place import cpu_places, cuda_places
from ...ground.public_names import list_public_names
from ...io import load, load_program_state, save, set_program_state
from ...ir.name_scope import name_scope
from ...ir.program import (
    Program,
    default_main_program,
    default_startup_program,
    program_guard,
)
from ...ir.variable import Variable
from ...layers import Print, accuracy, auc, create_global_var, create_parameter, py_func
from ...model import InputSpec
from ...optimizer import ExponentialMovingAverage
from ...runtime.executor import Executor
from ...scope import global_scope, scope_guard
from ..param_attr import WeightNormParamAttr
from . import nn
from .data import data
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
    "BuildStrategy", "CompiledProgram", "ExecutionStrategy", "Executor",
    "ExponentialMovingAverage", "InputSpec", "Print", "Program", "Variable",
    "WeightNormParamAttr", "accuracy", "append_backward", "auc", "cpu_places",
    "create_global_var", "create_parameter", "cuda_places", "data", "default_main_program",
    "default_startup_program", "deserialize_persistables", "deserialize_program",
    "device_guard", "global_scope", "gradients", "load", "load_from_file",
    "load_inference_model", "load_program_state", "name_scope", "nn", "normalize_program",
    "program_guard", "py_func", "save", "save_inference_model", "save_to_file", "scope_guard",
    "serialize_persistables", "serialize_program", "set_program_state",
]  # fmt: skip

list_public_names(globals())
