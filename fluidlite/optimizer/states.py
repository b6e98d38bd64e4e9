"""The variables that optimizers keep for every parameter."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, NotInitializedError, suggestion
from ..ground.arguments import refused
from ..ground.dtypes import DType
from ..ground.weak_tables import WeakTable
from ..initializer import Constant
from ..ir.program import Program
from ..ir.variable import Variable
from ..layers.params import global_variable
from .matching import by_position

if TYPE_CHECKING:
    from ..ground.values import LoDTensor
    from ..scope import Scope


class State(NamedTuple):
    """A variable that an optimizer keeps for every parameter.

    The step's operator reads it in a slot and writes it in another one.
    """

    slot: str
    name: str  #: stands in the variable's name, behind the parameter's
    value: float | str = 0.0  #: what it begins with: a number, or the argument that says it
    one_number: bool = False  #: has shape [1], not the parameter's
    out: str = ""  #: where it is written, if the operator has such a slot: ``<slot>Out`` when empty
    dtype: DType | None = None  #: the parameter's when None
    on_host: bool = False  #: made where the host reads it
    argument: str = ""  #: which argument said what it begins with

    def resolved(self, optimizer: Any) -> State:
        """The state with a number to begin with: the optimizer's argument; where that is a
        variable, the argument's default.
        """
        if not isinstance(self.value, str):
            return self
        value = getattr(optimizer, f"_{self.value}")
        if not isinstance(value, float):
            value = inspect.signature(type(optimizer)).parameters[self.value].default
        return self._replace(value=value, argument=self.value)


class States:
    """The states of one optimizer, in all programs that it has to do with.

    Args:
        owner: what the optimizer is called in messages.
        name: stands in the names of variables, when not None.
    """

    def __init__(self, owner: str, name: str | None) -> None:
        self._owner = owner
        self._name = name
        #: program -> (name of the state, name of the parameter) -> name of the variable
        self._made: WeakTable[Program, dict[tuple[str, str], str]] = WeakTable()

    def make(self, main: Program, startup: Program, state: State, param: Variable) -> Variable:
        """A parameter's state; created if it does not exist.

        Args:
            main, startup: the parameter's program, and the one that gives first values.
            state: which one.
            param: the parameter.
        """
        names = self._made.of(main)
        if names is None:
            names = self._made.keep(main, {})
        block = main.global_block()
        name = names.get((state.name, param.name))
        if name is not None and block.has_var(name):
            return block.var(name)
        middle = state.name if self._name is None else f"{self._name}_{state.name}"
        name = unique_name.generate(f"{param.name}_{middle}")
        shape = (1,) if state.one_number else param.shape
        value = Constant(float(state.value))
        variable = global_variable(main, startup, name, shape, state.dtype or param.dtype, value)
        variable.stop_gradient = False  # as in fluid's programs
        if state.on_host:
            startup.global_block().ops[0].device = "cpu"
        names[state.name, param.name] = name
        return variable

    def of(self, state: State | str, param: Variable) -> Variable:
        """What is kept for a parameter.

        Args:
            state: which one, or its name.
            param: the parameter.

        Raises:
            ArgumentError: nothing of the kind is kept.
        """
        wanted = state.name if isinstance(state, State) else state
        name = (self._made.of(param.program) or {}).get((wanted, param.name))
        if name is None:
            raise ArgumentError(f"{self._owner} keeps no {wanted!r} for {param.name!r}")
        return param.program.global_block().var(name)

    def _all(self) -> list[tuple[tuple[str, str], Variable]]:
        """All variables that are there, each behind the name of the state and that of the
        parameter, in order of creation.
        """
        return [
            (place, known.global_block().var(name))
            for program, made in self._made.items()
            if (known := program()) is not None
            for place, name in made.items()
            if known.global_block().has_var(name)
        ]

    def by_name(self) -> dict[str, dict[str, Variable]]:
        """The variables, by the name of the state and that of the parameter."""
        found: dict[str, dict[str, Variable]] = {}
        for (state, param), variable in self._all():
            found.setdefault(state, {})[param] = variable
        return found

    def names(self) -> list[str]:
        """The names of all variables that are there, in order of creation."""
        return [variable.name for _, variable in self._all()]

    def values(self, scope: Scope) -> dict[str, np.ndarray[Any, Any]]:
        """Copies of all values in a scope, by name.

        Raises:
            NotInitializedError: the scope has no value of a state.
        """
        return {name: np.array(tensor_of(name, scope)) for name in self.names()}

    def set_values(self, values: Mapping[str, Any], scope: Scope, positions: bool = False) -> None:
        """Set all values in a scope, or none where one of them is refused.

        Args:
            values: arrays by name; those of other names are passed over.
            scope: where.
            positions: whether those of the first parameter in them are for the first one here.

        Raises:
            ArgumentError: a state is missing, or has another shape or element type.
            StateDictError: by position, they are of fewer or more parameters.
            NotInitializedError: the scope has no value of a state.
        """
        if not isinstance(values, Mapping):
            raise refused("", "states", "a dictionary of arrays", values)
        if positions:
            there = dict(self._all())
            states, params = (list(dict.fromkeys(each)) for each in zip(*there))
            places = by_position(list(values), states, [params])
            values = {there[places[name]].name: value for name, value in values.items()}
        assignments = []
        for name in self.names():
            if name not in values:
                raise ArgumentError(f"the states lack {name!r}{suggestion(name, values)}")
            tensor, value = tensor_of(name, scope), np.asarray(values[name])
            kept = np.array(tensor)
            if (value.shape, value.dtype) != (kept.shape, kept.dtype):
                raise ArgumentError(
                    f"expected the state {name!r} to be {kept.dtype}{list(kept.shape)}, got "
                    f"{value.dtype}{list(value.shape)}"
                )
            assignments.append((tensor, value))
        for tensor, value in assignments:
            tensor.set(value)


def tensor_of(name: str, scope: Scope) -> LoDTensor:
    """The tensor that holds a variable in a scope.

    Raises:
        NotInitializedError: it has no value.
    """
    variable = scope.find_var(name)
    if variable is None or not variable.is_initialized:
        raise NotInitializedError(
            f"the scope has no value of {name!r}; run the startup program first"
        )
    return variable.get_tensor()
