"""What ``fluid.core`` had besides ``fluidlite.core``: switches, names of markers, figures."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ...dygraph.parallel import ParallelStrategy as ParallelStrategy
from ...dygraph.tensor import BackwardStrategy as BackwardStrategy
from ...ground import state
from ...ground.dtypes import as_dtype
from ...ground.values import LoDTensor as Tensor
from ...opdef.attribute import REQUIRED
from ...opdef.definition import is_defined, lookup
from ...profiler import reset_profiler as reset_profiler
from ...profiler import start_profiler, stop_profiler
from ...scope import Scope as _Scope
from ...scope import ScopeVariable as Variable
from .places import AnyPlace as Place
from .places import CUDAPinnedPlace as CUDAPinnedPlace
from .places import CUDAPlace as CUDAPlace
from .single_operators import get_grad_op_desc as get_grad_op_desc
from .tensors import VarBase as VarBase

has_avx_core = has_noavx_core = True
load_noavx = False
core_suffix = "so"
__all__ = ["Place", "Variable"]
current_path = ""


class ProfilerState(IntEnum):
    """What is measured."""

    kDisabled = 0
    kCPU = 1
    kCUDA = 2
    kAll = 3


class TracerOption(IntEnum):
    """How finely it is measured."""

    kDefault = 0
    kOpDetail = 1
    kAllOpDetail = 2


class EventSortingKey(IntEnum):
    """By what a table of measurements is sorted."""

    kDefault = 0
    kCalls = 1
    kTotal = 2
    kMin = 3
    kMax = 4
    kAve = 5


kDisabled = ProfilerState.kDisabled
kCPU = ProfilerState.kCPU
kCUDA = ProfilerState.kCUDA
kAll = ProfilerState.kAll
kOpDetail = TracerOption.kOpDetail
kAllOpDetail = TracerOption.kAllOpDetail
kDefault = EventSortingKey.kDefault
kCalls = EventSortingKey.kCalls
kTotal = EventSortingKey.kTotal
kMin = EventSortingKey.kMin
kMax = EventSortingKey.kMax
kAve = EventSortingKey.kAve


class GlobalVarGetterSetterRegistry:
    """The flags of the process, as a dictionary.

    >>> flags = fluid.compat.modules.core.globals()
    >>> flags["FLAGS_check_nan_inf"]
    False
    """

    def __getitem__(self, name: str) -> object:
        return state.flag_values.get()[name]

    def __setitem__(self, name: str, value: object) -> None:
        state.set_flags({name: value})

    def __contains__(self, name: str) -> bool:
        return name in state.flag_values.get()

    def get(self, name: str, default: object = None) -> object:
        """A flag's value, or a default."""
        return state.flag_values.get().get(name, default)

    def keys(self) -> set[str]:
        """The names of the flags."""
        return set(state.flag_values.get())

    def is_public(self, name: str) -> bool:
        """Whether there is a flag of that name."""
        return name in self


def globals() -> GlobalVarGetterSetterRegistry:
    """The flags of the process."""
    return GlobalVarGetterSetterRegistry()


def Scope() -> _Scope:
    """A new scope."""
    return _Scope()


def size_of_dtype(dtype: Any) -> int:
    """The bytes that an element takes."""
    return int(as_dtype(dtype).dtype.itemsize)


def op_support_gpu(op_type: str) -> bool:
    """False: there is no GPU."""
    return False


def has_grad_op_maker(op_type: str) -> bool:
    """Whether an operator has a gradient."""
    return is_defined(op_type) and is_defined(f"{op_type}_grad")


has_non_empty_grad_op_maker = has_grad_op_maker


def has_infer_inplace(op_type: str) -> bool:
    """Whether an operator may write its result in place of what it reads: here, none does."""
    return False


def _named(name: str, text: str, doc: str) -> Callable[[], str]:
    """A function that gives a part of the names of variables."""

    def part() -> str:
        return text

    part.__name__, part.__qualname__, part.__doc__ = name, name, f"What stands {doc}."
    return part


kTempVarName: Callable[..., str] = _named(
    "kTempVarName", "@TEMP@", "in the names of variables for a moment"
)
kZeroVarSuffix: Callable[..., str] = _named(
    "kZeroVarSuffix", "@ZERO", "behind the name of a variable of zeros"
)
kNewGradSuffix: Callable[..., str] = _named(
    "kNewGradSuffix", "@NEWGRAD@", "behind a second name of a gradient"
)
kControlDepVarName: Callable[..., str] = _named(
    "kControlDepVarName", "__control_var", "in front of the names of variables that order operators"
)
empty_var_name: Callable[..., str] = _named(
    "empty_var_name", "@EMPTY@", "in a slot where there is no variable"
)
grad_var_suffix: Callable[..., str] = _named(
    "grad_var_suffix", "@GRAD", "behind a variable's name in its gradient's"
)
loaded_var_suffix: Callable[..., str] = _named(
    "loaded_var_suffix", "@LOADED", "behind the name of a variable that was loaded"
)


def is_compiled_with_mkldnn() -> bool:
    """False: kernels are chosen by plans."""
    return False


def is_compiled_with_dist() -> bool:
    """False: programs run in one process."""
    return False


def is_compiled_with_brpc() -> bool:
    """False."""
    return False


def avx_supported() -> bool:
    """True: which instructions are used is NumPy's concern."""
    return True


def _is_dygraph_debug_enabled() -> bool:
    return False


def _dygraph_debug_level() -> int:
    return 0


def _is_program_version_supported(version: int) -> bool:
    return version >= 0


def is_profiler_enabled() -> bool:
    """Whether programs are being measured."""
    return False


def enable_profiler(state: ProfilerState) -> None:
    """Measure every program from now on."""
    start_profiler("CPU")


def disable_profiler(sorted_key: EventSortingKey, path: str) -> None:
    """Print what was measured."""
    word = {"kDefault": None, "kAve": "ave"}.get(sorted_key.name, sorted_key.name[1:].lower())
    stop_profiler(word, path)


def init_devices(*args: object) -> None:
    """Nothing: the CPU is there."""


def init_glog(*args: object) -> None:
    """Nothing: messages are Python's."""


def init_gflags(arguments: list[str]) -> bool:
    """Set flags.

    Args:
        arguments: texts ``--FLAGS_name=value`` or ``--name=value``.
    """
    for word in arguments:
        name, separator, value = word.lstrip("-").partition("=")
        if separator:
            state.set_flags({name if name.startswith("FLAGS_") else f"FLAGS_{name}": value})
    return True


def set_num_threads(count: int) -> None:
    """Nothing: ``FLUIDLITE_NUM_THREADS`` in the environment says it."""


def _set_eager_deletion_mode(*args: object) -> None:
    """Nothing: values are dropped behind their last use."""


def _set_fuse_parameter_group_size(size: int) -> None:
    """Nothing: plans arrange memory."""


def _set_fuse_parameter_memory_size(size: float) -> None:
    """Nothing: plans arrange memory."""


def _cleanup_mmap_fds() -> None:
    """Nothing: there are none."""


def _switch_tracer(tracer: object) -> None:
    """Nothing: guards switch."""


def get_variable_tensor(scope: _Scope, name: str) -> Tensor:
    """A variable's value in a scope."""
    return scope.var(name).get_tensor()


def set_feed_variable(scope: _Scope, tensor: Tensor, name: str, index: int) -> None:
    """Keep a value to be fed in a scope.

    Args:
        scope: where.
        tensor: the value.
        name: of the array of such values.
        index: its place in there.
    """
    array = scope.var(name).get_lod_tensor_array()
    while len(array) <= index:
        array.append(Tensor())
    array[index] = tensor


def get_op_attrs_default_value(op_type: str) -> dict[str, Any]:
    """The attributes of an operator that have a default, with it.

    Args:
        op_type: the operator's type, as text or bytes.
    """
    name = op_type.decode() if isinstance(op_type, bytes) else op_type
    return {
        each.name: each.default
        for each in lookup(name).attributes.values()
        if each.default is not REQUIRED
    }
