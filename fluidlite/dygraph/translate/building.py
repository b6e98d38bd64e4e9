"""The program of one call of a function: built once for arguments of one form."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...eager.recording import TensorRecord
from ...ground import state
from ...ground.dtypes import DType, as_dtype
from ...ir.program import Program, default_main_program, program_guard
from ...ir.size_names import give_names, sizes_and_names
from ...ir.variable import Variable
from ...layers.array import tensor_array_to_tensor
from ...layers.creation import assign
from ...layers.structure import mapped
from ...runtime.executor import Executor
from ...scope import Scope
from ...symbolic import appending
from ..capture import Capture, captured_by
from ..layer import Layer
from ..tensor import ParamBase, VarBase
from .merging import Maybe, is_array


@dataclass(eq=False)
class Declared:
    """An argument that is declared, not given: the program is fed with it."""

    shape: list[int | str]  #: -1 where unknown, or a name
    dtype: DType
    name: str | None  #: of the variable; one is made up when None
    stop: bool = True  #: whether gradients stop at it


def key_of(found: Any) -> Any:
    """What a program depends on of an argument: shape and element type of tensors and arrays, other
    values as they are.
    """
    if isinstance(found, TensorRecord):
        return "tensor", found.array.shape, found.array.dtype.str, found.stop
    if isinstance(found, np.ndarray):
        return "array", found.shape, found.dtype.str
    if isinstance(found, (list, tuple)):
        return type(found).__name__, tuple(map(key_of, found))
    if isinstance(found, Mapping):
        return "dict", tuple((name, key_of(each)) for name, each in found.items())
    if isinstance(found, (bool, int, float, str, bytes, type(None))):
        return type(found).__name__, found
    return "object", id(found)


#: of variables that a translated function is fed with
_FED = {"is_data": True, "need_check_feed": False}


class Built:
    """A function as a program.

    Args:
        function: translated.
        args, kwargs: what it is called with.
    """

    seed: int

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.main: Program = Program()
        self.startup: Program = Program()
        #: what random operators start from; not the program's own, which would repeat each draw
        self.seed = self.startup.random_seed = default_main_program().random_seed
        self.capture: Capture = Capture(self.main)
        #: what else the program depends on, which must not go as long as it is remembered by place
        self.held: Any = (args, kwargs)
        self.inputs: list[Variable] = []
        with (
            program_guard(self.main, self.startup),
            state.eager.guard(False),
            state.builds.guard(True),
            captured_by(self.capture),
        ):
            given = mapped(args, self._fed), mapped(kwargs, self._fed)
            with _reading(args, given, self.capture):
                found = function(*given[0], **given[1])
            self.outputs: list[Variable] = []
            #: what the function gives, with the numbers of outputs in place of variables
            self.structure: Any = mapped(found, self._fetched)
        self.held = mapped(self.held, lambda each: None if isinstance(each, TensorRecord) else each)
        if self.startup.global_block().ops:
            self._start()

    def _fed(self, argument: Any) -> Any:
        is_tensor = isinstance(argument, TensorRecord)
        if is_tensor and getattr(argument, "persistable", False):
            return self.capture.variable(argument)
        if isinstance(argument, Declared):
            shape, dtype, stop = argument.shape, argument.dtype, argument.stop
        elif is_tensor or isinstance(argument, np.ndarray):
            array = argument.array if is_tensor else argument
            shape, dtype = array.shape, as_dtype(array.dtype)
            stop = not is_tensor or argument.stop
        else:
            return argument
        block = self.main.global_block()
        name = getattr(argument, "name", None) or f"feed_{len(self.inputs)}"
        while name in block.vars:
            name += "_0"
        sizes, names = sizes_and_names(shape)
        variable: Variable = block.create_var(
            name=name, shape=sizes, dtype=dtype, stop_gradient=stop, **_FED
        )
        give_names(variable, names)
        self.inputs.append(variable)
        return variable

    def _fetched(self, found: Any) -> Any:
        if isinstance(found, TensorRecord):
            found = self.capture.variable(found)
        if isinstance(found, Maybe):
            raise found.error()
        if not isinstance(found, Variable):
            return found
        if is_array(found):
            whole, sizes = tensor_array_to_tensor(found, axis=0)
            self.outputs += [whole, sizes]
            return OutputParts(len(self.outputs) - 2)
        for number, output in enumerate(self.outputs):
            if found is output:
                return Output(number)
        taken = found.persistable or any(found is each for each in self.inputs)
        self.outputs.append(assign(found) if taken else found)
        return Output(len(self.outputs) - 1)

    def _start(self) -> None:
        """Give parameters that the function makes by itself their first values."""
        scope = Scope()
        Executor().run(self.startup, scope=scope)
        for variable in self.main.global_block().vars.values():
            held = scope.find_var(variable.name) if variable.persistable else None
            if held is not None and variable.name not in self.capture.tensors:
                array = np.asarray(held.get_tensor())
                trains = bool(getattr(variable, "trainable", False))
                made = ParamBase(array, variable.name, trains) if trains else VarBase(array)
                self.capture.tensors[variable.name] = made

    def fits(self) -> bool:
        """Whether the layers that were called train, or are tested, as they were then."""
        return all(layer.training is training for layer, training in self.capture.layers.values())


def _reading(args: tuple[Any, ...], given: Any, capture: Capture) -> AbstractContextManager[Any]:
    """A guard for the ``forward`` of a layer: as where the layer is called, its parameters are read
    as variables of the program.
    """
    if not args or not isinstance(args[0], Layer):
        return nullcontext()
    capture.calls(args[0])
    kind = args[0].tensor_kind
    return nullcontext() if kind is None else appending(kind, *given[0][1:], given[1])


class OutputParts(NamedTuple):
    """Stands for the list of the parts of an output, whose sizes are the next output."""

    number: int


class Output(NamedTuple):
    """Stands for an output."""

    number: int
