"""``paddle.static`` of paddle 2.6: programs, and what builds, runs and saves them."""

from __future__ import annotations

from ...backward import gradients
from ...compiler import BuildStrategy, CompiledProgram, ExecutionStrategy
from ...contrib.clicks import ctr_metric_bundle
from ...ground.missing_names import answer_of_paddle_2
from ...ground.place import cpu_places
from ...ground.public_names import list_given_names
from ...io import is_persistable, load_program_state, load_vars, save_vars, set_program_state
from ...ir.name_scope import name_scope
from ...ir.operator import Operator
from ...ir.program import Program, default_main_program, default_startup_program, program_guard
from ...ir.variable import Parameter, Variable
from ...layers import create_global_var, create_parameter, py_func
from ...model import InputSpec
from ...optimizer import ExponentialMovingAverage
from ...runtime.executor import Executor
from ...scope import Scope, global_scope, scope_guard
from ..holders import hold
from ..param_attr import WeightNormParamAttr
from . import amp, io, nn, quantization
from .building import Print, accuracy, append_backward, auc, load, save, setitem
from .data import data
from .machines import cuda_places, device_guard, xpu_places
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

list_given_names(globals(), "amp", "cpu_places", "io", "nn", "quantization")
answer_of_paddle_2(globals())
hold(globals())
