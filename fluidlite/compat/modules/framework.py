"""What ``fluid.framework`` had besides ``fluidlite.framework``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from ... import unique_name
from ...dygraph.tensor import ParamBase, VarBase
from ...errors import ArgumentError
from ...ground import state
from ...ground.place import devices_said
from ...ground.protected import answers_protected
from ...ir import variable as variables
from ...opdef.definition import is_defined, lookup

global_prog_seed = 0
_current_device = None


class VariableMetaClass(type):
    """The class of ``Variable``: tensors that run at once are instances, too."""

    real: type = variables.Variable
    eager: type = VarBase

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (cls.real, cls.eager))

    def __subclasscheck__(cls, subclass: type) -> bool:
        asked = subclass.real if isinstance(subclass, VariableMetaClass) else subclass
        return issubclass(asked, (cls.real, cls.eager))

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real  # type(x) == Variable

    def __hash__(cls) -> int:
        return hash(cls.real)

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return cls.real(*args, **keywords)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)


class ParameterMetaClass(VariableMetaClass):
    """The class of ``Parameter``, of programs and of layers that run at once."""

    real: type = variables.Parameter
    eager = ParamBase


class Variable(metaclass=VariableMetaClass):
    """A variable of a program, or a tensor within ``dygraph.guard()``."""


class Parameter(metaclass=ParameterMetaClass):
    """A parameter of a program, or of a layer that runs at once."""


def _varbase_creator(
    type: Any = None, name: str | None = None, shape: Any = None, dtype: Any = None, **more: Any
) -> Any:
    made = VarBase(np.zeros([0], np.float32 if dtype is None else np.dtype(str(dtype))))
    made.name = name or made.name
    return made


def _dygraph_tracer() -> Any:
    return state.eager.get() or None


@contextmanager
def _dygraph_guard(tracer: Any) -> Iterator[None]:
    with state.eager.guard(tracer or False):
        yield


@contextmanager
def _dygraph_place_guard(place: Any) -> Iterator[None]:
    yield


def _var_base_to_np(var_base: Any) -> Any:
    return var_base.numpy()


def _cpu_num() -> int:
    return devices_said()


def _cuda_ids() -> list[int]:
    return []


def _only(where: str, wanted: bool) -> Callable[[Any], Any]:
    """A decorator of functions that may be called at once only, or in programs only."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            if state.in_dygraph_mode() is not wanted:
                raise ArgumentError(f"{function.__name__} is called {where} fluid.dygraph.guard()")
            return function(*args, **keywords)

        return call

    return decorate


_dygraph_only_: Callable[..., Any] = _only("within", True)
_dygraph_not_support_: Callable[..., Any] = _only("outside of", False)
dygraph_only = _dygraph_only_
dygraph_not_support = _dygraph_not_support_


def fake_interface_only(function: FunctionType) -> FunctionType:
    """The function itself."""
    return function


_fake_interface_only_ = fake_interface_only


def generate_control_dev_var_name() -> str:
    """A new name for a variable that only orders operators."""
    return unique_name.generate("__control_var@")


def switch_device(device: str | None) -> str | None:
    """Refused: a device holds for what stands under its guard.

    Raises:
        ArgumentError: always.
    """
    raise ArgumentError("switch_device: use fluid.device_guard(device)")


@answers_protected
class OpProtoHolder:
    """What is known of operators, by type."""

    @classmethod
    def instance(cls) -> OpProtoHolder:
        """The only one."""
        return cls()

    def get_op_proto(self, type: str) -> Any:
        """The definition of an operator: its slots and attributes.

        Args:
            type: of the operator.
        """
        return lookup(type)

    def has_op_proto(self, type: str) -> bool:
        """Whether there is an operator of a type."""
        return is_defined(type)


class NameScope:
    """A name and the names within it.

    Args:
        name: the name.
        parent: the one around it.
    """

    def __init__(self, name: str = "", parent: NameScope | None = None) -> None:
        self._name, self._parent = name, parent
        self._children: dict[str, list[NameScope]] = {}

    def child(self, prefix: str) -> NameScope:
        """A name within this one; the second and later ones of a name get a number."""
        made = self._children.setdefault(prefix, [])
        made.append(NameScope(f"{prefix}_{len(made)}" if made else prefix, self))
        return made[-1]

    def parent(self) -> NameScope | None:
        """The one around it."""
        return self._parent

    def name(self) -> str:
        """The name."""
        return self._name
