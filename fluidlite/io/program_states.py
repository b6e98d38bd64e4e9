"""The values of a program's variables in a scope, by name, as paddle 2 has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnknownVariableError
from ..ground.callsite import warn
from ..ground.docstrings import Family
from ..ground.values import LoDTensor
from ..ir.program import Program
from ..ir.variable import Variable
from ..scope import Scope, global_scope
from .check import mismatch
from .variables import is_belong_to_optimizer, is_parameter, is_persistable, values_of

_MODES: dict[str, Callable[[Variable], bool]] = {
    "param": is_parameter,
    "opt": is_belong_to_optimizer,
    "all": is_persistable,
}


@Family().like(Program.state_dict)
def state_dict(
    program: Program, mode: str = "all", scope: Scope | None = None
) -> dict[str, LoDTensor]:
    """The values of a program's variables.

    Args:
        program: whose.

    Returns:
        name -> tensor, which shows what the scope holds.

    Raises:
        ArgumentError: there is no such mode.
        NotInitializedError: a variable has no value.
    """
    if mode not in _MODES:
        raise ArgumentError(f"expected mode to be one of {', '.join(_MODES)}, got {mode!r:.60}")
    place = global_scope() if scope is None else scope
    names = values_of(program, place, _MODES[mode])
    return {name: _held(place, name) for name in names}


def set_state_dict(
    program: Program, state_dict: Mapping[str, Any], scope: Scope | None = None
) -> None:
    """Give a program's variables values; a warning names those that it has not, or that do not fit.

    Args:
        program: whose.
        state_dict: name -> tensor or array.
        scope: where they are; the global scope when None.

    Raises:
        ArgumentError: this is no dictionary.
        UnknownVariableError: the scope has no variable of a name.
    """
    if not isinstance(state_dict, Mapping):
        raise ArgumentError(f"expected a dictionary of values, got {type(state_dict).__name__}")
    place = global_scope() if scope is None else scope
    known = {var.name: var for var in program.list_vars() if is_persistable(var)}
    used: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in state_dict.items():
        array = np.array(value)
        wrong = "the program has no such variable"
        if name in known:
            wrong = mismatch(known[name], array)
        if wrong:
            warn(f"variable {name!r} stays as it is: {wrong}", None)
        elif place.find_var(name) is None:
            raise UnknownVariableError(
                f"the scope has no variable {name!r}; run the startup program first"
            )
        else:
            used[name] = array
    for name, array in used.items():
        _held(place, name).set(array)


def get_value(variable: Variable, scope: Scope | None = None) -> LoDTensor:
    """The value of a variable, as a tensor that shows what the scope holds.

    Args:
        variable: one that stays in the scope.
        scope: where it is; the global scope when None.

    Raises:
        UnknownVariableError: the scope has none of its name.
    """
    return _held(global_scope() if scope is None else scope, variable.name)


def set_value(variable: Variable, value: Any, scope: Scope | None = None) -> None:
    """Give a variable another value.

    Args:
        variable: one that stays in the scope.
        value: a tensor or an array.
        scope: where it is; the global scope when None.

    Raises:
        UnknownVariableError: the scope has none of its name.
        ShapeError: the value has another shape than the one that is there.
    """
    held = _held(global_scope() if scope is None else scope, variable.name)
    array = np.array(value)
    if array.shape != tuple(held.shape()):
        raise ShapeError(
            f"variable {variable.name!r}: expected shape {held.shape()}, got {list(array.shape)}"
        )
    held.set(array.astype(np.asarray(held).dtype, copy=False))


def _held(scope: Scope, name: str) -> LoDTensor:
    variable = scope.find_var(name)
    if variable is None or variable.value is None:
        raise UnknownVariableError(
            f"the scope has no value of {name!r}; run the startup program first"
        )
    return variable.get_tensor()
