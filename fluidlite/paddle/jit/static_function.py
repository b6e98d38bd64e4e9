"""Functions of tensors that run as programs."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ...dygraph.translate import ProgramTranslator
from ...dygraph.translate.building import Built, Declared
from ...dygraph.translate.functions import DECORATED, bare
from ...eager.recording import TensorRecord
from ...eager.tensor import Tensor
from ...errors import ArgumentError, UnsupportedError
from ...ground.dtypes import as_dtype
from ...ground.object_caches import cache_of
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries
from ...ir.program import Program
from ...ir.variable import Variable
from ...model import InputSpec
from ...nn.layer import Layer

__all__ = ["ConcreteProgram", "StaticFunction"]

Spec = Sequence[Any]


@dataclass(frozen=True)
class ConcreteProgram:
    """The program of a function for arguments of one form."""

    inputs: list[Variable]
    outputs: list[Variable]
    parameters: list[Tensor]
    main_program: Program
    startup_program: Program


class StaticFunction(Described):
    """A function of tensors that runs as a program, once for each form of its arguments.

    Args:
        function: a function, or a method of a layer's class.
        input_spec: what it is called with; what it is called with last when None.
        full_graph: what cannot be a program is an error; when False the function then runs as it
            is.
        owner: the layer whose method it is.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Spec | None = None,
        full_graph: bool = False,
        owner: Any = None,
    ) -> None:
        self.__name__: str = getattr(function, "__name__", "function")
        functools.update_wrapper(self, function)
        setattr(self, DECORATED, function)
        self.dygraph_function: Callable[..., Any] = function
        self.input_spec: Spec | None = input_spec
        self._whole = full_graph
        self._owner: Any = owner
        self._last: Built | None = None
        self._declared: Built | None = None
        _need_places(function, owner, input_spec)

    def __get__(self, owner: Any, kind: type | None = None) -> StaticFunction:
        if owner is None:
            return self
        bound: StaticFunction | None = cache_of(owner).get(self)
        if bound is None:
            bound = StaticFunction(self.dygraph_function, self.input_spec, self._whole, owner)
            cache_of(owner)[self] = bound
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        translator = ProgramTranslator()
        given = args if self._owner is None else (self._owner, *args)
        otherwise = None if self._whole else self.as_it_is
        result, program = translator.output_or(otherwise, self.dygraph_function, given, kwargs)
        self._last = program or self._last
        return result

    def as_it_is(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives when it runs at once.

        Args:
            args, kwargs: its arguments, the layer first of a method.
        """
        return self.dygraph_function(*args, **kwargs)

    def __as_function__(self) -> Any:
        return self.function

    @property
    def last(self) -> Built | None:
        """The program of the last call; None if there is none."""
        return self._last

    @property
    def function(self) -> Any:
        """The function, or the method of the layer."""
        if self._owner is None:
            return self.dygraph_function
        return types.MethodType(self.dygraph_function, self._owner)

    @property
    def code(self) -> str:
        """The source of the translated function."""
        return ProgramTranslator().get_code(self.dygraph_function)

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The program for ``input_spec``, or of the last call.

        Raises:
            UnsupportedError: ``full_graph`` is False, so there may be none.
            ArgumentError: nothing says what the function is called with.
        """
        self._need_whole("concrete_program")
        if self.input_spec is not None:
            return concrete(self.built(self.input_spec))
        if self._last is None:
            raise ArgumentError(
                f"{self.__name__} has no program yet: call it, or give input_spec to to_static"
            )
        return concrete(self._last)

    @property
    def main_program(self) -> Program:
        """That of ``concrete_program``."""
        self._need_whole("main_program")
        return self.concrete_program.main_program

    @property
    def inputs(self) -> list[Variable]:
        """Those of ``concrete_program``."""
        self._need_whole("inputs")
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Variable]:
        """Those of ``concrete_program``."""
        self._need_whole("outputs")
        return self.concrete_program.outputs

    def get_concrete_program(self, *args: Any) -> tuple[ConcreteProgram, Built]:
        """The program for some arguments, and what runs it.

        Args:
            args: tensors, arrays, ``InputSpec``s and plain values.
        """
        built = self.built(args)
        return concrete(built), built

    def rollback(self) -> Any:
        """The function as it was; of a layer's method, the layer has it again."""
        if self._owner is not None:
            setattr(self._owner, self.__name__, self.function)
        return self.function

    def train(self) -> None:
        """Have the layer train."""
        if self._owner is not None:
            self._owner.train()

    def eval(self) -> None:
        """Have the layer be tested."""
        if self._owner is not None:
            self._owner.eval()

    def built(self, spec: Spec) -> Built:
        """The program for arguments that are declared.

        Args:
            spec: ``InputSpec``s, tensors, arrays and plain values.

        Raises:
            ArgumentError: the function takes others.
        """
        if spec is not self.input_spec:
            return built(self.function, self._owner, spec)
        if self._declared is None or not self._declared.fits():
            self._declared = built(self.function, self._owner, spec)
        return self._declared

    def _need_whole(self, name: str) -> None:
        if not self._whole:
            raise UnsupportedError(
                f"{name} needs to_static(full_graph=True): otherwise functions that cannot be "
                f"programs run as they are"
            )


class StaticForward(StaticFunction):
    """The ``forward`` of one layer, whose calls run as programs, hooks and all.

    Args:
        call: what ``declarative`` made of the layer's ``forward``.
        layer: the layer.
        plain: its ``forward`` before.
        input_spec, full_graph: as of :class:`StaticFunction`.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        layer: Layer,
        plain: Callable[..., Any],
        input_spec: Spec | None,
        full_graph: bool,
    ) -> None:
        self._plain = plain
        super().__init__(call, input_spec, full_graph, layer)
        _need_places(plain, None, input_spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticForward:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        vars(copied).update(copy.deepcopy(vars(self), memo))
        return copied

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError(
            f"a {type(self._owner).__name__} of to_static cannot be pickled: write it by "
            f"paddle.jit.save(layer, path), or its values by paddle.save(layer.state_dict(), path)"
        )

    def as_it_is(self, *args: Any, **kwargs: Any) -> Any:
        """What the layer's ``forward`` gives when it runs at once."""
        layer, *inputs = args
        return layer.call_with(self._plain, *inputs, **kwargs)

    @property
    def function(self) -> Any:
        """The method as it was."""
        return self._plain

    @property
    def code(self) -> str:
        """The source of the translated method."""
        return ProgramTranslator().get_code(self._plain)


def _need_places(function: Any, owner: Any, spec: Spec | None) -> None:
    """Refuse a specification of more arguments than a function has."""
    plain = bare(getattr(function, "__func__", function))
    if spec is None or not isinstance(plain, types.FunctionType):
        return
    code = plain.__code__
    bound = owner is not None or isinstance(function, types.MethodType) or _is_method(plain)
    places = code.co_argcount - bound
    if len(spec) > places and not code.co_flags & inspect.CO_VARARGS:
        raise ArgumentError(
            f"expected input_spec to have at most {places} entries, the arguments of "
            f"{plain.__qualname__}, got {len(spec)}"
        )


def _is_method(function: types.FunctionType) -> bool:
    """Whether a function is one of a class whose body is being run."""
    return function.__code__.co_varnames[:1] == ("self",)


def concrete(built: Built) -> ConcreteProgram:
    """A built program, as users see it."""
    parameters = list(built.capture.tensors.values())
    return ConcreteProgram(built.inputs, built.outputs, parameters, built.main, built.startup)


def built(function: Any, owner: Any, spec: Spec) -> Built:
    """The program of a function for arguments that are declared.

    Args:
        function: the function, or a method.
        owner: the layer that is its first argument; None if there is none.
        spec: ``InputSpec``s, tensors, arrays and plain values.

    Raises:
        ArgumentError: the function takes others.
    """
    plain = bare(getattr(function, "__func__", function))
    if isinstance(function, types.MethodType) and owner is None:
        owner = function.__self__
    owners = [] if owner is None else [owner]
    try:
        bound = inspect.signature(plain).bind(*owners, *spec)
    except TypeError as error:
        raise ArgumentError(
            f"{plain.__qualname__} cannot be called with the {len(spec)} entries of input_spec: "
            f"{error}"
        ) from None
    arguments = {
        name: value if value is owner else _declared(value, name)
        for name, value in bound.arguments.items()
    }
    bound.arguments.update(arguments)
    translated = ProgramTranslator().functions.translated(plain)
    return Built(translated, bound.args, bound.kwargs)


def _declared(value: Any, name: str) -> Any:
    """An argument as it is declared; a parameter's name is that of the variable."""
    if isinstance(value, InputSpec):
        return Declared(list(value.sizes), value.dtype, value.name or name, value.stop_gradient)
    if isinstance(value, (TensorRecord, np.ndarray)):
        array: Any = getattr(value, "array", value)
        sizes = [-1, *array.shape[1:]] if array.ndim else []
        return Declared(sizes, as_dtype(array.dtype), name)
    if isinstance(value, (list, tuple)):
        return type(value)(_declared(each, f"{name}_{k}") for k, each in enumerate(value))
    if isinstance(value, Mapping):
        return {key: _declared(each, str(key)) for key, each in value.items()}
    return value


list_public_names(globals())
api_boundaries(globals())
