"""fluidlite: static programs with automatic differentiation, on NumPy.

``import fluidlite as fluid`` gives the names of paddle.fluid 1.8.
"""

from __future__ import annotations

from . import (
    backward,
    clip,
    core,
    data_feeder,
    framework,
    initializer,
    input,
    layers,
    metrics,
    nets,
    ops,
    optimizer,
    reader,
    regularizer,
    unique_name,
)
from .backward import append_backward, calc_gradient, gradients
from .data_feeder import DataFeeder
from .errors import FluidError
from .input import data, embedding, one_hot
from .inspect import explain_gradient, gradcheck
from .ir.name_scope import name_scope
from .ir.program import Program, default_main_program, default_startup_program, program_guard
from .param_attr import ParamAttr
from .runtime.executor import Executor
from .runtime.place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    cpu_places,
    cuda_places,
    is_compiled_with_cuda,
)
from .runtime.scope import Scope, global_scope, scope_guard
from .state import get_flags, set_flags
from .values import LoDTensor, LoDTensorArray, create_lod_tensor, create_random_int_lodtensor

__version__ = "0.1.0"
