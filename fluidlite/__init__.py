"""fluidlite: static programs with automatic differentiation, on NumPy.

``import fluidlite as fluid`` gives the names of paddle.fluid 1.8.  Beside them stand the functions
of eager tensors in the spelling of paddle 2.x, where fluid has no name like theirs.
"""

from __future__ import annotations

from .ground import interrupts as _interrupts  # isort: split

from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from . import (
    backward,
    clip,
    core,
    data_feeder,
    errors,
    framework,
    initializer,
    input,
    layer_helper,
    layers,
    lod_tensor,
    nets,
    optimizer,
    param_attr,
    reader,
    regularizer,
    unique_name,
)
from .backward import append_backward, calc_gradient, gradients
from .core import PREDICTORS as _PREDICTORS
from .data_feeder import DataFeeder
from .errors import FluidError
from .framework import (
    memory_optimize,
    release_memory,
    require_version,
    reset_default_programs,
)
from .ground.fluid_paths import FLUID as _FLUID
from .ground.fluid_paths import serve as _serve_fluid_paths
from .ground.fluid_paths import with_names_of_fluid as _with_names_of_fluid
from .ground.missing_names import absent as _absent
from .ground.moved_modules import MOVED as _MOVED
from .ground.moved_modules import serve as _serve_moved_modules
from .ground.place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    cpu_places,
    cuda_pinned_places,
    cuda_places,
    is_compiled_with_cuda,
)
from .ground.process_group import JOINED as _JOINED
from .ground.public_names import public_names
from .ground.state import get_flags, in_dygraph_mode, set_flags, strict
from .ground.tracebacks import api_boundary as _api_boundary
from .ground.values import LoDTensor, LoDTensorArray
from .initializer import FILLER as _FILLER
from .input import data, embedding, one_hot
from .ir.abstract import APPENDER as _APPENDER
from .ir.device import device_guard
from .ir.display_hooks import VIEWS as _VIEWS
from .ir.encoding import ENCODING as _ENCODING
from .ir.kept_values import KEPT_VALUES as _KEPT_VALUES
from .ir.name_scope import name_scope
from .ir.program import Program, default_main_program, default_startup_program, program_guard
from .ir.variable import Variable
from .lod_tensor import create_lod_tensor, create_random_int_lodtensor
from .opdef.definition import BUILT_IN as _BUILT_IN
from .opdef.sources import FEEDER as _FEEDER
from .opdef.sources import TENSOR_FILES as _TENSOR_FILES
from .param_attr import ParamAttr, WeightNormParamAttr
from .runtime.executor import Executor
from .scope import Scope, global_scope, scope_guard

__version__ = "1.0.0"

_serve_moved_modules()
_serve_fluid_paths()

_BUILT_IN.provide(partial(import_module, f"{__name__}.ops"))
_APPENDER.provide(partial(import_module, f"{__name__}.symbolic"))
_FILLER.provide(partial(import_module, f"{__name__}.eager.parameter"))
_VIEWS.provide(partial(import_module, f"{__name__}.inspect.views"))
_ENCODING.provide(partial(import_module, f"{__name__}.proto.program"))
_KEPT_VALUES.provide(partial(import_module, f"{__name__}.io.program_states"))
_PREDICTORS.provide(partial(import_module, f"{__name__}.inference.analysis"))
_TENSOR_FILES.provide(partial(import_module, f"{__name__}.io.streams"))
_FEEDER.provide(lambda: import_module(f"{__name__}.readers.feeder").ProgramFeeder)
_FLUID.provide(partial(import_module, f"{__name__}.compat.alias"))
_JOINED.provide(lambda: import_module(f"{__name__}.distributed.joining").join())

#: modules that are imported above
_MODULES = (
    *("backward", "clip", "core", "data_feeder", "errors", "framework", "initializer"),
    *("input", "layer_helper", "layers", "lod_tensor", "nets", "optimizer", "param_attr"),
    *("reader", "regularizer", "unique_name"),
)
#: sub-packages that are loaded when they are first asked for
_PACKAGES = frozenset([
    "autograd", "checkpoint", "compat", "compiler", "contrib", "dataset", "distributed",
    "dygraph", "eager", "export", "flow", "incubate", "inspect", "io", "jax",
    "metrics", "model", "nn", "onnx", "ops", "paddle", "profiler", "proto", "readers",
    "transpiler",
])  # fmt: skip
#: of them, and of what is imported above, those that are for its own use
_INNER = frozenset(["eager", "ops", "proto", "public_names", "readers"])
_OF_DYGRAPH = (
    "NCE", "BCELoss", "BatchNorm", "BilinearTensorProduct", "Conv2D", "Conv2DTranspose",
    "Conv3D", "Conv3DTranspose", "Dropout", "Embedding", "GRUUnit", "GroupNorm",
    "InstanceNorm", "L1Loss", "Layer", "LayerNorm", "Linear", "MSELoss", "NLLLoss", "PRelu",
    "Pool2D", "SpectralNorm", "TreeConv", "disable_dygraph", "disable_imperative",
    "enable_dygraph", "enable_imperative",
)  # fmt: skip
#: names of such modules that stand at the top level, too
_NAMES = {
    "custom_op": "custom",
    **dict.fromkeys(["FitHistory", "InputSpec", "Model", "callbacks", "metric"], "model"),
    "trace": "tracing",
    **dict.fromkeys(["BuildStrategy", "CompiledProgram", "ExecutionStrategy"], "compiler"),
    "ParallelExecutor": "parallel_executor",
    **dict.fromkeys(["DistributeTranspiler", "DistributeTranspilerConfig"], "transpiler"),
    "show_config": "command_line.config",
    **dict.fromkeys(["explain_gradient", "gradcheck"], "inspect"),
    "summary": "inspect.layers",
    "DataFeedDesc": "readers.feed_desc",
    "create_parameter": "nn.parameter",
    **dict.fromkeys(["DatasetFactory", "InMemoryDataset", "QueueDataset"], "readers.files"),
    **dict.fromkeys(["load_dygraph", "save_dygraph"], "dygraph.checkpoint"),
    **dict.fromkeys(["load", "load_program_state", "save", "set_program_state"], "io"),
    **dict.fromkeys(_OF_DYGRAPH, "dygraph"),
}


@_api_boundary
@partial(_with_names_of_fluid, __name__)
def __getattr__(name: str) -> Any:
    """Load what is not needed by every script when it is first asked for."""
    if name == "__all__":  # for import *
        return __dir__()
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    home = import_module(f".{_NAMES.get(name, 'functions.exports')}", __name__)
    member = getattr(home, name, None)
    if member is None and name in _MOVED:
        return import_module(f".{_MOVED[name]}", __name__)
    if member is None:
        raise _absent(__name__, name)
    globals()[name] = member
    return member


def __dir__() -> list[str]:
    """The public names, of what is loaded and of what would be: help and completion read them."""
    functions = public_names(vars(import_module(".functions.exports", __name__)))
    given = (name for name, value in globals().items() if _is_public(name, value))
    return sorted({*given, *_NAMES, *functions, *_MODULES, *(_PACKAGES - _INNER)})


def _is_public(name: str, value: Any) -> bool:
    if isinstance(value, ModuleType):  # those that are public have lists of their own
        return False
    module = getattr(value, "__module__", None) or ""
    return not name.startswith("_") and module.startswith(f"{__name__}.") and name not in _INNER
