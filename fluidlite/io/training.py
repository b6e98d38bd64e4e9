"""Whole training states: ``fluid.save`` and ``fluid.load``, and states as dictionaries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError, FileError, FileFormatError, ShapeError
from ..ground.callsite import warn
from ..ground.files import Path, Source, Transaction, missing_file, open_source, read_bytes
from ..ir.program import Program
from ..ir.variable import Variable
from ..proto.state import (
    MODEL,
    NAME_TABLE,
    OPTIMIZER,
    PARAMETERS,
    checked_path,
    read_state,
    write_state,
)
from ..runtime.executor import Executor
from ..scope import global_scope
from .check import check_value, mismatch
from .states import load_state, save_state
from .streams import tensors_of
from .variables import is_belong_to_optimizer, is_parameter, is_persistable, load_vars, values_of


def save(program: Program | Mapping[str, Any], model_path: Path) -> None:
    """Write a training state: parameters (``.pdparams``), the other variables that stay in the
    scope, those of optimizers, (``.pdopt``) and the program (``.pdmodel``).

    Args:
        program: the program; or a dictionary, which is written to one file, as in paddle 2: what
            ``state_dict()`` of a layer or an optimizer gives.
        model_path: the files' path without those endings; of a dictionary the whole path.

    Raises:
        ArgumentError: the path ends with a folder, or it is no program that is given.
        NotInitializedError: a variable has no value in the global scope.
        FileError: a file cannot be written; says which, and why.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.fc(x, 1)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "model")
    >>> fluid.load(fluid.default_main_program(), "model", exe)
    >>> sorted(fluid.load_program_state("model"))
    ['fc_0.b_0', 'fc_0.w_0']
    """
    if isinstance(program, Mapping):
        save_state(program, model_path)
        return
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a program to save, or a dictionary of tensors, as net.state_dict() gives; "
            f"got one of type {type(program).__name__}"
        )
    path = checked_path(model_path)
    scope = global_scope()
    states = [
        (ending, values_of(program, scope, predicate))
        for ending, predicate in ((PARAMETERS, is_parameter), (OPTIMIZER, is_belong_to_optimizer))
    ]
    with Transaction() as files:
        for ending, values in states:
            write_state(files, path + ending, values)
        files.write(path + MODEL, program.to_bytes())


def load(
    program: Program | Path,
    model_path: Path | None = None,
    executor: Executor | None = None,
    var_list: Iterable[Variable] | None = None,
) -> dict[str, Any] | None:
    """Read a training state into the global scope.

    The scope takes all values or, where a file is not what it should be, none.

    Args:
        program: says which variables, and how they are declared; or the path of a file that
            ``save`` made of a dictionary, which is given back with tensors, as in paddle 2.
        model_path: the files' path without their endings, or with one; also a folder or a file that
            ``save_persistables`` and the like wrote.
        executor: needed for the latter.  Where one is given, a value of another shape than is
            declared is taken with a warning, as in fluid 1.8; else it is an error.
        var_list: the variables of a file that holds no names.

    Raises:
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a variable is missing, or is not as declared; says which.
        ArgumentError: an executor or a list of variables is needed.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "model")
    >>> fluid.load(fluid.default_main_program(), "model", exe)
    """
    if not isinstance(program, Program):
        if model_path is not None:
            raise ArgumentError(f"expected a program and a path, got {program!r:.60}")
        return load_state(program)
    if model_path is None:
        raise ArgumentError("expected model_path, the path of the program's files, got None")
    path = checked_path(_stem(os.fspath(model_path)))
    if not os.path.exists(path + PARAMETERS):
        _load_older(program, path, executor, var_list)
        return None
    values = _state_for(program, path + PARAMETERS, is_parameter, executor)
    if any(is_belong_to_optimizer(var) for var in program.list_vars()):
        values |= _state_for(program, path + OPTIMIZER, is_belong_to_optimizer, executor)
    scope = global_scope()
    for name, value in values.items():
        (scope.find_var(name) or scope.var(name)).value = value
    return None


def _stem(path: str) -> str:
    for ending in (PARAMETERS, OPTIMIZER, MODEL):
        if path.endswith(ending):
            return path[: -len(ending)]
    return path


def _state_for(
    program: Program, path: str, predicate: Any, executor: Executor | None
) -> dict[str, Any]:
    """The values of some variables of a program from a file."""
    state = read_state(path)
    values = {}
    for var in program.list_vars():
        if not predicate(var):
            continue
        value = state.get(var.name)
        if not isinstance(value, np.ndarray):
            raise FileFormatError(
                f"{path}: expected variable {var.name!r}, found {len(state)} others"
                + (f" ({', '.join(list(state)[:3])}, ...)" if state else "")
                + "; load files that were saved from the same network and optimizer"
            )
        wrong = mismatch(var, value)
        if wrong and executor is not None:
            warn(f"{path}: variable {var.name!r}: {wrong}", None)
        elif wrong:
            check_value(var, value, var.name, path)
        values[var.name] = value
    return values


def _missing(path: str) -> FileError:
    why = f"there is no such file, nor a folder or a file {path}; check the path"
    return missing_file(path + PARAMETERS, why)


def _load_older(
    program: Program, path: str, executor: Executor | None, var_list: Iterable[Variable] | None
) -> None:
    """Read what ``save_persistables`` and the like wrote."""
    if not os.path.exists(path):
        raise _missing(path)
    if executor is None:
        raise ArgumentError(
            f"there is no {path}{PARAMETERS}; {path} itself, which holds variables as "
            "save_persistables writes them, is loaded by an executor: load(program, path, exe)"
        )
    if os.path.isdir(path):
        chosen = [
            var
            for var in (program.list_vars() if var_list is None else var_list)
            if is_persistable(var) and os.path.exists(os.path.join(path, var.name))
        ]
        load_vars(executor, path, program, chosen)
        return
    if var_list is None:
        raise ArgumentError(
            f"{path} holds tensors without their names; say which variables they are: var_list=..."
        )
    folder, name = os.path.split(path)
    load_vars(executor, folder, program, list(var_list), filename=name)


def load_program_state(
    model_path: Path, var_list: Iterable[Variable] | None = None
) -> dict[str, Any]:
    """The variables of a training state as arrays by name.

    Args:
        model_path: as of :func:`load`.
        var_list: the variables to read from a folder; those of a file that holds no names.

    Returns:
        name -> array.

    Raises:
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a file is not what it should be; says where.
        ArgumentError: a list of variables is needed.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w", bias_attr=False)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "model")
    >>> sorted(fluid.load_program_state("model"))
    ['w']
    """
    path = checked_path(_stem(os.fspath(model_path)))
    if os.path.exists(path + PARAMETERS):
        state = read_state(path + PARAMETERS)
        if os.path.exists(path + OPTIMIZER):
            state |= read_state(path + OPTIMIZER)
        state.pop(NAME_TABLE, None)
        return state
    if not os.path.exists(path):
        raise _missing(path)
    if os.path.isdir(path):
        wanted = None if var_list is None else {var.name for var in var_list}
        names = sorted(os.listdir(path)) if wanted is None else sorted(wanted)
        return {
            name: _tensor_in(os.path.join(path, name), name)
            for name in names
            if os.path.isfile(os.path.join(path, name)) and not name.startswith((".", "__"))
        }
    if var_list is None:
        raise ArgumentError(
            f"{path} holds tensors without their names; say which variables they are: var_list=..."
        )
    chosen = sorted(var_list, key=lambda var: var.name)
    names = [var.name for var in chosen]
    with open_source(path) as source:
        values = tensors_of(source, names, chosen)
    return {name: np.array(value) for name, value in zip(names, values)}


def _tensor_in(path: str, name: str) -> Any:
    (value,) = tensors_of(Source.of(read_bytes(path), path), [name], [None])
    return np.array(value)


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Give the variables of a program values in the global scope.

    Args:
        program: the program.
        state_dict: name -> array, as :func:`load_program_state` gives it; names that the program
            does not have are left out, with a warning.

    Raises:
        ShapeError, DTypeError: a value is not as declared; the scope stays as it was.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w", bias_attr=False)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.save(fluid.default_main_program(), "model")
    >>> state = fluid.load_program_state("model")
    >>> fluid.set_program_state(fluid.default_main_program(), state)
    """
    used: dict[str, Any] = {}
    for var in program.list_vars():
        if not is_persistable(var) or var.name not in state_dict:
            continue
        value = np.array(state_dict[var.name])
        wrong = mismatch(var, value)
        if wrong:
            kind = DTypeError if var.has_dtype and value.dtype != var.dtype.dtype else ShapeError
            raise kind(f"variable {var.name!r}: {wrong}")
        used[var.name] = value
    scope = global_scope()
    for name, value in used.items():
        (scope.find_var(name) or scope.var(name)).value = value
    unused = [name for name in state_dict if name not in used]
    if unused:
        warn(
            f"the program has no variable for {len(unused)} of the values: "
            f"{', '.join(unused[:5])}{', ...' if len(unused) > 5 else ''}",
            None,
        )
