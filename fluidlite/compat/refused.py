"""What there is not: it can be imported, and says what to use instead when it is used.

A class that is refused is a class, a function a function: programs import, compare and derive from
what they may never call.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from types import FunctionType
from typing import Any, NoReturn

from ..errors import UnsupportedError
from ..ground.missing_names import LEFT_OUT, left_out_of_paddle_2
from ..ground.missing_names import PARAMETER_SERVERS as _SERVERS

_PREDICT = "fluid.io.load_inference_model(dirname, exe), and exe.run for what it gives"
_SLIM = "fluid.contrib.mixed_precision to train, and a tool of today to compress"
_TRANSLATE = "fluid.dygraph.declarative, which does the whole translation"

#: patterns of ``MODULE.NAME`` -> what to use instead; the first one that fits
INSTEAD = {
    **{
        f"paddle.fluid{name if name[0] == '.' else '.' + name}": use
        for names in LEFT_OUT.values()
        for name, use in names.items()
    },
    "paddle.fluid.dygraph*.FC": "fluid.dygraph.Linear, which takes the size of its input, too",
    "paddle.fluid.core.*Pass*": "the passes of fluidlite's executors (see docs/passes.md)",
    "paddle.fluid.core.get_pass": "the passes of fluidlite's executors (see docs/passes.md)",
    "paddle.fluid.core.*LoDTensorBlockingQueue": "fluid.io.DataLoader.from_generator",
    "paddle.fluid.core.*Reader": "fluid.io.DataLoader.from_generator",
    "paddle.fluid.core.create_py_reader": "fluid.io.DataLoader.from_generator",
    "paddle.fluid.core.init_lod_tensor_blocking_queue": "fluid.io.DataLoader.from_generator",
    "paddle.fluid.core.ops.*": "the function of fluid.layers that makes this operator",
    "paddle.fluid.core.Executor": "fluid.Executor",
    "paddle.fluid.core.ParallelExecutor": "fluid.ParallelExecutor",
    "paddle.fluid.core.Fleet": _SERVERS,
    "paddle.fluid.core.BoxPS": _SERVERS,
    "paddle.fluid.core.Dist*": _SERVERS,
    "paddle.fluid.core.Gloo": _SERVERS,
    "paddle.fluid.core.Tracer*": "fluid.dygraph.guard",
    "paddle.fluid.core._save_*": "fluid.save",
    "paddle.fluid.core._load_*": "fluid.load",
    "paddle.fluid.core._create_loaded_parameter": "fluid.load",
    "paddle.fluid.core.load_op_library": "fluidlite.custom_op, an operator written in Python",
    "paddle.fluid.framework.load_op_library": "fluidlite.custom_op, an operator in Python",
    "paddle.fluid.layers.collective.*": _SERVERS,
    "paddle.fluid.transpiler*": _SERVERS,
    "paddle.distributed*": _SERVERS,
    "paddle.fluid.distributed*": _SERVERS,
    "paddle.fluid.incubate.fleet*": _SERVERS,
    "paddle.fluid.communicator.*": _SERVERS,
    "paddle.fluid.distribute_lookup_table.*": _SERVERS,
    "paddle.fluid.dygraph.parallel_helper.*": _SERVERS,
    "paddle.fluid.contrib.slim*": _SLIM,
    "paddle.fluid.contrib.quantize*": _SLIM,
    "paddle.fluid.contrib.utils.hdfs_utils.*": "files on this machine",
    "paddle.fluid.contrib.utils.*": _SERVERS,
    "paddle.fluid.trainer_*": "fluid.Executor.train_from_dataset",
    "paddle.fluid.device_worker.*": "fluid.Executor.train_from_dataset",
    "paddle.fluid.executor.FetchHandlerMonitor": "fluid.Executor.train_from_dataset",
    "paddle.fluid.*.Infer*Config": _PREDICT,
    "paddle.fluid.dygraph.dygraph_to_static.*": _TRANSLATE,
    "paddle.fluid.dygraph.static_runner.*": "fluid.io.load_inference_model and fluid.Executor.run",
    "paddle.fluid.graphviz.*": "fluidlite.inspect.draw",
    "paddle.fluid.net_drawer.*": "fluidlite.inspect.draw",
    "paddle.fluid.proto.*": "the package protobuf, with which it is there",
    "paddle.incubate.hapi*": "fluid.dygraph.Layer and a loop over a fluid.io.DataLoader",
    "paddle.utils.*": "a tool of today for images, such as Pillow",
}


class NotServedError(UnsupportedError, AttributeError):
    """A name is used that nothing stands behind here; says what to use instead."""


def instead_of(module: str, name: str) -> str:
    """What to use instead of a name; an empty text where there is nothing like it."""
    full = f"{module}.{name}"
    return next((text for pattern, text in INSTEAD.items() if fnmatchcase(full, pattern)), "")


def refusal(module: str, name: str) -> str:
    """The message that a name of fluid 1.8 or paddle 2 is missing."""
    of_paddle_2 = left_out_of_paddle_2().get(f"{module}.{name}")
    if of_paddle_2 is not None:
        return f"{module}.{name} is not in fluidlite: {of_paddle_2}"
    use = instead_of(module, name)
    public = module.replace("paddle.fluid", "fluid", 1)
    return f"{public}.{name} is not in fluidlite" + (f"; use {use}" if use else "")


def _refuse(module: str, name: str) -> NoReturn:
    raise NotServedError(refusal(module, name))


class _RefusedType(type):
    """The class of classes that are refused: they and what derives from them make no objects."""

    def __call__(cls, *args: Any, **keywords: Any) -> NoReturn:
        _refuse(*cls.__refused__)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse(*cls.__refused__)


class RefusedValue:
    """A value that is refused: whatever is asked of it says so."""

    def __init__(self, module: str, name: str) -> None:
        self.__refused__: tuple[str, str] = (module, name)

    def _refused(self, *args: Any) -> NoReturn:
        _refuse(*self.__refused__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse(*self.__refused__)

    def __repr__(self) -> str:
        return f"<{'.'.join(self.__refused__)}: not there in fluidlite>"


for _name in ("call", "getitem", "iter", "len", "contains", "bool", "int", "float", "index"):
    setattr(RefusedValue, f"__{_name}__", RefusedValue._refused)


def refused(kind: str, module: str, name: str) -> Any:
    """A stand-in for a missing name.

    Args:
        kind: "class", "function" or "value".
        module, name: where 1.8 had it, for the message.
    """
    doc = f"Not there: {refusal(module, name)}."
    if kind == "class":
        fields = {"__module__": module, "__doc__": doc, "__refused__": (module, name)}
        return _RefusedType(name, (), fields)
    if kind == "function":

        def refuse(*args: Any, **keywords: Any) -> NoReturn:
            _refuse(module, name)

        made = FunctionType(refuse.__code__, globals(), name, None, refuse.__closure__)
        made.__module__, made.__qualname__, made.__doc__ = module, name, doc
        made.__refused__ = (module, name)  # type: ignore[attr-defined]
        return made
    return RefusedValue(module, name)


def is_refused(value: Any) -> bool:
    """Whether a value is one that :func:`refused` made."""
    if isinstance(value, type):
        return isinstance(value, _RefusedType) and "__refused__" in vars(value)
    return "__refused__" in getattr(value, "__dict__", ())
