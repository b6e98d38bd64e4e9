"""Public names of fluid 1.8 that are not here: why, and what to use instead.

A module's ``__getattr__`` explains each of them; for another name it says which module has one like
it.  ``docs/coverage.py`` lists the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from ..errors import ExplainedError, suggestion
from .fluid_paths import with_names_of_fluid
from .tracebacks import api_boundaries, api_boundary

#: what there is in place of processes that keep parameters
PARAMETER_SERVERS = (
    "fluid.incubate.fleet.collective, or fluid.DistributeTranspiler with config.mode = 'nccl2', in "
    "which every process has all parameters (docs/distributed.md)"
)

#: reason -> ``MODULE.NAME`` -> what to use instead; the module of ``fluid`` itself is empty
LEFT_OUT: dict[str, dict[str, str]] = {
    "parameter servers and pipelines of processes": {
        "optimizer.DGCMomentumOptimizer": "fluid.optimizer.Momentum",
        "optimizer.PipelineOptimizer": "the optimizer that it was given",
    },
    "inner workings of fluid that mean nothing here": {
        ".load_op_library": "fluidlite.custom_op, an operator written in Python"
    },
}
#: the same of names of paddle 2, ``MODULE.NAME`` below ``paddle``
LEFT_OUT_OF_PADDLE_2: dict[str, dict[str, str]] = {
    "kernels of one kind of machine, or for models in many processes": {
        "incubate.optimizer.DistributedFusedLamb": "fluid.optimizer.Lamb",
        "incubate.optimizer.PipelineOptimizer": "the optimizer as it is: one process has the model",
        "static.IpuCompiledProgram": "fluid.CompiledProgram",
        "static.IpuStrategy": "fluid.ExecutionStrategy",
        "static.ipu_shard_guard": "no guard: programs run on the CPU",
        "static.set_ipu_shard": "the layer as it is: programs run on the CPU",
    },
    "kernels that only one kind of machine has": {
        "incubate.layers.bilateral_slice": "fluid.nn.functional.grid_sample",
        "incubate.layers.fused_bn_add_act": "fluid.nn.BatchNorm2D, a sum and an activation",
        "incubate.layers.fused_seqpool_cvm": "fluid.static.nn.sequence_pool",
        "incubate.layers.pow2_decay_with_linear_warmup": "fluid.optimizer.lr.PolynomialDecay in "
        "fluid.optimizer.lr.LinearWarmup",
    },
    "inner workings of paddle that mean nothing here": {
        "decomposition": "gradients as they are: rules are made of operators, of every order",
        "pir": "fluid.static.Program, whose blocks of operators can be read and rewritten",
        "inference._get_phi_kernel_name": "the type of the operator",
    },
    "operators in bfloat16": dict.fromkeys(
        [
            f"static.amp.bf16.{name}"
            for name in (
                *("AutoMixedPrecisionListsBF16", "cast_model_to_bf16", "cast_parameters_to_bf16"),
                *("convert_float_to_uint16", "rewrite_program_bf16"),
            )
        ],
        "float32",
    ),
    "files of one profiler's own form": {
        "profiler.export_protobuf": "fluid.profiler.export_chrome_tracing",
        "profiler.load_profiler_result": "fluid.profiler.export_chrome_tracing, whose files are "
        "JSON",
    },
    "headers and libraries of C++": dict.fromkeys(
        [
            "sysconfig.get_include",
            "sysconfig.get_lib",
            *(
                f"utils.cpp_extension.{name}"
                for name in (
                    *("BuildExtension", "CUDAExtension", "CppExtension", "get_build_directory"),
                    *("load", "setup"),
                )
            ),
        ],
        "fluidlite.custom_op, an operator written in Python",
    ),
}
#: the same of names of OneFlow, ``MODULE.NAME`` below ``flow``
LEFT_OUT_OF_ONEFLOW: dict[str, dict[str, str]] = {
    "files and decoders of OneFlow's own": dict.fromkeys(
        [
            *(".decode_onerec", ".record", "nn.COCOReader", "nn.CropMirrorNormalize"),
            *("nn.CoinFlip", "nn.GPTIndexedBinDataReader", "nn.OneRecReader", "nn.RawReader"),
            *(
                f"nn.{name}"
                for name in (
                    *("OFRecordBytesDecoder", "OFRecordImageDecoder", "OFRecordRawDecoder"),
                    *("OFRecordImageDecoderRandomCrop", "OFRecordReader", "OfrecordReader"),
                    *("OFRecordImageGpuDecoderRandomCropResize", "OfrecordRawDecoder"),
                )
            ),
        ],
        "flow.utils.data.DataLoader",
    ),
    "tensors of tensors of different shapes": dict.fromkeys(
        [
            *(".gen_tensor_buffer", ".tensor_buffer", ".tensor_buffer_to_list_of_tensors"),
            *(".tensor_buffer_to_tensor", ".tensor_to_tensor_buffer"),
        ],
        "a list of tensors",
    ),
    "kernels of one kind of machine, or for models in many processes": {
        ".distributed_partial_fc_sample": "all classes",
        ".one_embedding": "flow.nn.Embedding",
        ".roi_align": "fluid.layers.roi_align",
        ".boxing": "one process, which has its tensors whole",
        ".backends": "the CPU: no kernels are chosen",
        ".asyncs": "threading.Thread",
        "cuda.type_tensor": "flow.FloatTensor and similar functions",
        **{
            f"cuda.{name}Tensor": f"flow.{name}Tensor"
            for name in (*("Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long"),)
        },
        "env.destory_rdma": "no call: processes reach each other by MPI",
        "env.init_rdma": "no call: processes reach each other by MPI",
        "nn.AllReduce": "flow.comm.all_reduce",
        "nn.DistributedPariticalFCSample": "all classes",
        "nn.SyncBatchNorm": "flow.nn.BatchNorm2d, whose statistics are those of each process",
    },
    "programs and models that come from elsewhere": {
        ".hub": "flow.load, and the class of the model",
        ".mock_torch": "import oneflow as torch",
        "utils.load_library": "fluidlite.custom_op, an operator written in Python",
        "utils.tensor": "numpy(), and flow.from_numpy",
    },
    "classes that only others derive from": {
        "nn.RNNBase": "flow.nn.RNN, LSTM or GRU",
        "nn.RNNCellBase": "flow.nn.RNNCell, LSTMCell or GRUCell",
        "utils.data.IterDataPipe": "flow.utils.data.IterableDataset",
    },
    "decorators of data pipes": dict.fromkeys(
        [
            f"utils.data.{name}"
            for name in (
                *("decorator", "functional_datapipe", "guaranteed_datapipes_determinism"),
                "non_deterministic",
            )
        ],
        "flow.utils.data.IterableDataset",
    ),
    "functions of OneFlow's older interface": {
        ".FunctionConfig": "flow.nn.Graph, and its config",
        ".function_config": "flow.nn.Graph, and its config",
        ".is_deprecated": "no call",
        ".oneflow_deprecate": "warnings.warn",
        ".stateful_op": "the function itself",
        "Tensor.is_consistent": "is_global",
        "Tensor.to_consistent": "to_global",
        "nn.Module.to_consistent": "to_global",
    },
    "OneFlow has it since 1.0, and this is 0.9": {
        "nn.MultiheadAttention": "fluidlite.nn.MultiHeadAttention, which takes these tensors, too",
        "nn.functional.scaled_dot_product_attention": "the function of "
        "fluidlite.nn.functional, which takes these tensors, too",
        "optim.LBFGS": "fluidlite.paddle.optimizer.LBFGS, which trains these parameters, too",
    },
    "tools around OneFlow": {
        ".onnx": "fluidlite.onnx.export, with the program of a flow.nn.Graph",
        ".unittest": "unittest, of Python",
    },
    "measurements in OneFlow's own form": dict.fromkeys(
        ["profiler.profile", "profiler.profiler_start", "profiler.profiler_stop"],
        "fluid.profiler.profiler",
    ),
    "headers and libraries of C++": dict.fromkeys(
        [
            *("sysconfig.get_compile_flags", "sysconfig.get_include", "sysconfig.get_lib"),
            *("sysconfig.get_liboneflow_link_flags", "sysconfig.get_link_flags"),
        ],
        "fluidlite.custom_op, an operator written in Python",
    ),
    "inner workings of OneFlow that mean nothing here": dict.fromkeys(
        [
            *(".core", ".docstr", ".env_util", ".framework", ".multiprocessing"),
            *(".oneflow_internal_path", ".oneflow_python_base_dir", ".ops", ".support"),
            *(".register_class_method_util", ".scope_util", ".session_ctx", ".distributed"),
            *("Tensor.global_id", "amp.autocast_mode", "amp.grad_scaler", "dtype.get"),
            *("autograd.autograd", "autograd.autograd_function", "autograd.autograd_mode"),
            *("comm.comm_ops", "distributions.utils", "nn.common_types", "nn.image"),
            *("nn.module", "nn.optimizer", "nn.qat"),
            *("nn.functional.functional_batch_norm", "nn.functional.functional_deform_conv"),
            *("nn.functional.functional_maxpool", "nn.functional.functional_pad"),
            *(f"nn.graph.{n}" for n in ("GraphTensor", "Proxy", "graph", "graph_block")),
            *(f"nn.graph.{n}" for n in ("graph_config", "optimizer", "proxy", "util")),
            *("nn.init.dtype_util", "nn.parallel.distributed", "nn.utils.clip_grad"),
            *("nn.utils.container", "nn.utils.rnn.bind", "nn.utils.rnn.invert_permutation"),
            *("nn.utils.rnn.reverse", "optim.optimizer", "profiler.events"),
            *("profiler.profiler", "profiler.util"),
        ],
        "the names of oneflow, oneflow.nn, oneflow.optim and oneflow.utils.data",
    ),
}
#: modules of fluid 1.8, and of paddle 2, that are not here -> what to use instead
MODULES: dict[str, str] = {
    "static": "fluid itself: fluid.Program, fluid.Executor, fluid.data",
    "jit": "fluid.dygraph.to_static and fluid.dygraph.TracedLayer",
    "amp": "fluid.contrib.mixed_precision",
    "device": "CPUs: there is one place",
    "set_device": "no function: there is one place, the CPU",
    "get_device": "'cpu': there is one place",
    "vision": "fluid.dataset, and a tool of today for images, such as Pillow",
}
#: where else a name is looked for, in this order
_PLACES = (
    "layers",
    "optimizer",
    "initializer",
    "regularizer",
    "clip",
    "nets",
    "io",
    "metrics",
    "dygraph",
    "nn",
    "nn.functional",
    "contrib.layers",
    "profiler",
    "unique_name",
    "inspect",
)
_PACKAGE = __name__.partition(".")[0]


class AbsentNameError(ExplainedError):
    """A module has no such name; says why, and what to use."""


def answer(namespace: dict[str, Any], *later: str) -> None:
    """Have a module give fluid 1.8's names of its path, and say why it has not another name.

    It is no function ``__getattr__`` in the module's text, which would tell type checkers that the
    module has every name.

    Args:
        namespace: of the module: what ``globals()`` gives at its end.
        later: modules below it that are loaded at their first use, or when a name of
            ``__all__`` is that is not loaded yet; ``name=place`` for another name of one.
    """
    module = namespace["__name__"]
    places = {each.partition("=")[0]: each.rpartition("=")[2] for each in later}
    public = namespace.get("__all__", ())
    before: Callable[[str], Any] | None = namespace.get("__getattr__")

    def __getattr__(name: str) -> Any:
        place = places.get(name)
        if place is not None and (place == name or place not in public):
            return import_module(f"{module}.{place}")
        for home in later if name in public else ():
            held = vars(import_module(f"{module}.{home}")) if "=" not in home else {}
            if (place or name) in held:
                late = {"__name__": module, "__all__": [name], name: held[place or name]}
                api_boundaries(late)
                namespace[name] = late[name]
                return late[name]
        if name.startswith("_") or before is None:
            raise absent(module, name)
        return before(name)

    namespace["__getattr__"] = api_boundary(with_names_of_fluid(module, __getattr__))


@cache
def left_out_of_paddle_2() -> dict[str, str]:
    """Names of paddle 2 that are left out, as in ``paddle.nn.RNNTLoss`` -> why, and what to use."""
    left_out = _left_out("paddle", LEFT_OUT_OF_PADDLE_2)
    return {name: answer.replace("fluid.", "paddle.") for name, answer in left_out.items()}


def _left_out(library: str, names: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Full names -> why they are left out, and what to use."""
    return {
        f"{library}{'' if name[0] == '.' else '.'}{name}": f"it is left out ({reason}); use {use}"
        for reason, uses in names.items()
        for name, use in uses.items()
    }


def answer_of_paddle_2(namespace: dict[str, Any]) -> None:
    """Have a module of paddle 2 say why it has not what is left out.

    Args:
        namespace: of the module: what ``globals()`` gives at its end.
    """
    module, before = namespace["__name__"], namespace.get("__getattr__")
    home = module.partition(".")[2]

    def __getattr__(name: str) -> Any:
        if f"{home}.{name}" in left_out_of_paddle_2():
            raise AbsentNameError(explained, module, name, name=name)
        if before is not None:
            return before(name)
        known = suggestion(name, namespace["__all__"])
        raise AttributeError(f"module {module!r} has no attribute {name!r}{known}", name=name)

    namespace["__getattr__"] = api_boundary(__getattr__)


@cache
def left_out_of_oneflow() -> dict[str, str]:
    """Names of OneFlow that are left out, as in ``oneflow.nn.RNNBase`` -> why, and what to use."""
    return _left_out("oneflow", LEFT_OUT_OF_ONEFLOW)


def absent(module: str, name: str) -> AttributeError:
    """The error that a module has not a name.

    Args:
        module: its full name.
        name: the missing one.
    """
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return AbsentNameError(explained, module, name, name=name)


def explained(module: str, name: str) -> str:
    """Why a module has not a name, and what to use instead.

    Args:
        module: its full name.
        name: the missing one.

    >>> explained("fluidlite", "fc")
    "module 'fluidlite' has no attribute 'fc'; fluid.layers.fc is there"
    """
    place = module.partition(".")[2]
    begin = f"module {module!r} has no attribute {name!r}"
    if f"{place}.{name}" in left_out_of_paddle_2():
        return f"{begin}: {left_out_of_paddle_2()[f'{place}.{name}']}"
    of_oneflow = left_out_of_oneflow().get(f"one{place}.{name}")
    if of_oneflow is not None:
        return f"{begin}: {of_oneflow}"
    for reason, names in (*LEFT_OUT.items(), *LEFT_OUT_OF_PADDLE_2.items()):
        use = names.get(f"{place}.{name}")
        if use is not None:
            return f"{begin}: it is left out ({reason}); use {use}"
    if not place and name in MODULES:
        return f"{begin}; use {MODULES[name]}"
    for other in ("", *_PLACES):
        if other != place and name in _names_of(f"{_PACKAGE}.{other}".rstrip(".")):
            return f"{begin}; fluid{'.' * bool(other)}{other}.{name} is there"
    return begin + suggestion(name, [*_names_of(module), *_modules_below(module)])


def _modules_below(module: str) -> list[str]:
    """The public modules below one."""
    folders = getattr(import_module(module), "__path__", ())
    return [each.name for each in iter_modules(folders) if each.name[:1] != "_"]


def _names_of(module: str) -> list[str]:
    imported = import_module(module)
    return [
        name
        for name in dir(imported)
        if name[:1] != "_" and not isinstance(vars(imported).get(name), ModuleType)
    ]
