"""fluidlite: static programs with automatic differentiation, on NumPy.

``import fluidlite as fluid`` gives the names of paddle.fluid 1.8.  Beside them stand the functions
of eager tensors in the spelling of paddle 2.x, where fluid has no name like theirs.
"""

from .ground import interrupts as _interrupts  # isort: split

from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from .ground.extension import provide as _provide
from .ground.fluid_paths import serve as _serve_fluid_paths
from .ground.fluid_paths import with_names_of_fluid as _with_names_of_fluid
from .ground.missing_names import absent as _absent
from .ground.moved_modules import MOVED as _MOVED
from .ground.moved_modules import serve as _serve_moved_modules
from .ground.public_names import public_names
from .ground.tracebacks import api_boundary as _api_boundary

__version__ = "1.0.0"

_serve_moved_modules()
_serve_fluid_paths()

_provide("the built-in operators", partial(import_module, f"{__name__}.ops"))
_provide("kernels of tiles", partial(import_module, f"{__name__}.backend.native.tiles"))
_provide("appending for functions of tensors", partial(import_module, f"{__name__}.symbolic"))
_provide("values of tensors", partial(import_module, f"{__name__}.eager.parameter"))
_provide("ways of showing programs", partial(import_module, f"{__name__}.inspect.views"))
_provide("the bytes of programs", partial(import_module, f"{__name__}.proto.program"))
_provide(
    "values of variables between runs", partial(import_module, f"{__name__}.io.program_states")
)
_provide("predictors of models", partial(import_module, f"{__name__}.inference.analysis"))
_provide("sparse forms of tensors", partial(import_module, f"{__name__}.paddle.sparse.creation"))
_provide("operations on sparse tensors", partial(import_module, f"{__name__}.paddle.sparse"))
_provide("models of ONNX in files", partial(import_module, f"{__name__}.onnx.contents"))
_provide("files of tensors", partial(import_module, f"{__name__}.io.streams"))
_provide(
    "models in the form of paddle 2.6",
    partial(import_module, f"{__name__}.paddle.static.saved_operators"),
)
_provide("modules of fluid 1.8", partial(import_module, f"{__name__}.compat.alias"))
_provide("what fills queues", lambda: import_module(f"{__name__}.readers.feeder").ProgramFeeder)
_provide("the processes of a job", lambda: import_module(f"{__name__}.distributed.joining").join())

#: modules and sub-packages; they are loaded at their first use
_MODULES = frozenset([
    "autograd", "backward", "checkpoint", "clip", "compat", "compiler", "contrib", "core",
    "data_feeder", "dataset", "distributed", "dygraph", "eager", "errors", "export", "flow",
    "framework", "incubate", "initializer", "input", "inspect", "io", "jax", "layer_helper",
    "layers", "lod_tensor", "metrics", "model", "nets", "nn", "onnx", "ops", "optimizer",
    "paddle", "param_attr", "profiler", "proto", "reader", "readers", "regularizer",
    "transform", "transpiler", "unique_name",
])  # fmt: skip
#: of them those that are for its own use
_INNER = frozenset([
    "backend", "eager", "ground", "ir", "kernels", "opdef", "ops", "proto", "public_names",
    "readers", "runtime", "schedules", "scope",
])  # fmt: skip
_OF_DYGRAPH = (
    "NCE", "BCELoss", "BatchNorm", "BilinearTensorProduct", "Conv2D", "Conv2DTranspose",
    "Conv3D", "Conv3DTranspose", "Dropout", "Embedding", "GRUUnit", "GroupNorm",
    "InstanceNorm", "L1Loss", "Layer", "LayerNorm", "Linear", "MSELoss", "NLLLoss", "PRelu",
    "Pool2D", "SpectralNorm", "TreeConv", "disable_dygraph", "disable_imperative",
    "enable_dygraph", "enable_imperative",
)  # fmt: skip
#: names of such modules that stand at the top level, too
_NAMES = {
    **dict.fromkeys(["append_backward", "calc_gradient", "gradients"], "backward"),
    "DataFeeder": "data_feeder",
    "FluidError": "errors",
    **dict.fromkeys(["memory_optimize", "release_memory", "require_version"], "framework"),
    "reset_default_programs": "framework",
    **dict.fromkeys(["CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "cpu_places"], "ground.place"),
    **dict.fromkeys(["cuda_pinned_places", "cuda_places"], "ground.place"),
    "is_compiled_with_cuda": "ground.place",
    **dict.fromkeys(["get_flags", "in_dygraph_mode", "set_flags", "strict"], "ground.state"),
    **dict.fromkeys(["LoDTensor", "LoDTensorArray"], "ground.values"),
    **dict.fromkeys(["data", "embedding", "one_hot"], "input"),
    "device_guard": "ir.device",
    "name_scope": "ir.name_scope",
    **dict.fromkeys(["Program", "default_main_program", "program_guard"], "ir.program"),
    "default_startup_program": "ir.program",
    "Variable": "ir.variable",
    **dict.fromkeys(["create_lod_tensor", "create_random_int_lodtensor"], "lod_tensor"),
    **dict.fromkeys(["ParamAttr", "WeightNormParamAttr"], "param_attr"),
    "Executor": "runtime.executor",
    **dict.fromkeys(["Scope", "global_scope", "scope_guard"], "scope"),
    "custom_op": "custom",
    "ComplexVariable": "dygraph.complex_variable",
    **dict.fromkeys(["FitHistory", "InputSpec", "Model", "callbacks", "metric"], "model"),
    "trace": "tracing",
    "replay": "replaying",
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
    """Load what is not needed by every script at its first use."""
    if name == "__all__":  # for import *
        return __dir__()
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MODULES or name in _INNER:
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
    return sorted({*given, *_NAMES, *functions, *(_MODULES - _INNER)})


def _is_public(name: str, value: Any) -> bool:
    if isinstance(value, ModuleType):  # those that are public have lists of their own
        return False
    module = getattr(value, "__module__", None) or ""
    return not name.startswith("_") and module.startswith(f"{__name__}.") and name not in _INNER
