"""Variables of programs in files: one file each, or all in one."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, NotInitializedError, UnknownVariableError
from ..ground.callsite import warn
from ..ground.dtypes import Kind
from ..ground.files import Path, Source, Transaction, inside
from ..ground.spellings import Spelling
from ..ground.values import LoDTensor
from ..ir.program import Program, default_main_program
from ..ir.variable import Parameter, Variable, declared_like
from ..proto.tensor import write_value
from ..runtime.executor import Executor
from ..scope import Scope, global_scope
from .streams import tensors_of, write_tensors

Predicate = Callable[[Variable], bool]

#: functions of all variables of a kind, made of those of variables that somebody chooses
_OF_ALL = Spelling({})
_HOLDERS = frozenset({Kind.FEED_MINIBATCH, Kind.FETCH_LIST, Kind.READER})


# -- what a variable is ----------------------------------------------------------------------------


def is_persistable(var: Variable) -> bool:
    """Whether a variable's value stays in the scope, and is saved with a model.

    >>> program = fluid.Program()
    >>> x = program.global_block().create_var(name="x", shape=[1], persistable=True)
    >>> fluid.io.is_persistable(x)
    True
    """
    return var.persistable and var.kind not in _HOLDERS


def is_parameter(var: Variable) -> bool:
    """Whether a variable is a parameter.

    >>> program = fluid.Program()
    >>> fluid.io.is_parameter(program.global_block().create_var(name="x"))
    False
    """
    return isinstance(var, Parameter)


def is_belong_to_optimizer(var: Variable) -> bool:
    """Whether a variable is saved with an optimizer's state: it stays in the scope, and is no
    parameter.

    >>> program = fluid.Program()
    >>> x = program.global_block().create_var(name="x", shape=[1], persistable=True)
    >>> fluid.io.is_belong_to_optimizer(x)
    True
    """
    return is_persistable(var) and not is_parameter(var) and not var.need_check_feed


def get_program_parameter(program: Program) -> list[Variable]:
    """The parameters of a program.

    Args:
        program: the program.

    >>> fluid.io.get_program_parameter(fluid.Program())
    []
    """
    return [var for var in _program(program).list_vars() if is_parameter(var)]


def get_program_persistable_vars(program: Program) -> list[Variable]:
    """The variables of a program whose values stay in the scope: parameters and the like.

    Args:
        program: the program.

    >>> fluid.io.get_program_persistable_vars(fluid.Program())
    []
    """
    return [var for var in _program(program).list_vars() if is_persistable(var)]


def get_parameter_value(para: Variable, executor: Executor) -> np.ndarray[Any, Any]:
    """The value of a parameter in the global scope.

    Args:
        para: the parameter.
        executor: accepted for old scripts.

    Returns:
        an array; a copy.

    Raises:
        ArgumentError: it is no parameter.
        NotInitializedError: it has no value.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w")
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> w = fluid.default_main_program().global_block().var("w")
    >>> fluid.io.get_parameter_value(w, exe).shape
    (3, 2)
    """
    if not is_parameter(para):
        raise ArgumentError(f"expected a parameter, got {para!r:.60}")
    return np.array(scope_value(global_scope(), para.name))


def get_parameter_value_by_name(
    name: str, executor: Executor, program: Program | None = None
) -> np.ndarray[Any, Any]:
    """The value of the parameter of that name in the global scope.

    Args:
        name: of a parameter.
        executor: accepted for old scripts.
        program: the program that declares it; the default main program when None.

    Returns:
        an array; a copy.

    Raises:
        UnknownVariableError: the program has no such variable.
        ArgumentError: it is no parameter.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w")
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.io.get_parameter_value_by_name("w", exe).shape
    (3, 2)
    """
    return get_parameter_value(_program(program).global_block().var(name), executor)


# -- saving ----------------------------------------------------------------------------------------


def save_vars(
    executor: Executor,
    dirname: Path | None,
    main_program: Program | None = None,
    vars: Iterable[Variable] | None = None,
    predicate: Predicate | None = None,
    filename: str | None = None,
) -> bytes | None:
    """Write variables to a folder, as fluid's ``save`` operators do.

    All files take their places at the end: where one cannot be written, the old ones stay.

    Args:
        executor: accepted as fluid 1.8 has it; values come from the global scope.
        dirname: the folder, created if it does not exist; None for bytes in memory.
        main_program: whose variables; the default main program when None.
        vars: what to write; the variables of ``main_program`` that ``predicate`` takes when None.
        predicate: which variables of the program to write; all when None.
        filename: one file for all, in order of their names; a file for each when None.

    Returns:
        None; the bytes where there is no folder.

    Raises:
        NotInitializedError: a variable has no value in the scope.
        FileError: a file cannot be written; says which, and why.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w")
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> w = fluid.default_main_program().global_block().var("w")
    >>> fluid.io.save_vars(exe, "model", vars=[w])
    """
    _check_executor(executor)
    chosen = sorted(_chosen(main_program, vars, predicate), key=lambda var: var.name)
    if not chosen:
        warn("there are no variables to be saved", None)
    scope = global_scope()
    values = [(var.name, scope_value(scope, var.name)) for var in chosen]
    if dirname is None:
        if filename is not None:
            raise ArgumentError(
                f"expected a folder for {filename!r}, got None; leave out both to get bytes"
            )
        memory = io.BytesIO()
        for name, value in values:
            write_value(memory, value, name)
        return memory.getvalue()
    with Transaction() as files:
        write_variables(files, dirname, values, filename)
    return None


def write_variables(
    files: Transaction, folder: Path, values: Sequence[tuple[str, Any]], filename: str | None
) -> None:
    """Write values to a folder: a file for each, or one for all.

    Args:
        files: the transaction that the files are part of.
        folder: the folder.
        values: pairs of a variable's name and its value.
        filename: the file for all; None for a file each.
    """
    if filename is not None:
        if values:
            write_tensors(files, os.path.join(folder, filename), values)
        return
    for name, value in values:
        write_tensors(files, inside(folder, name), [(name, value)])


save_params: Callable[..., bytes | None] = _OF_ALL(
    save_vars,
    "save_params",
    """Write the parameters of a program.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w", bias_attr=False)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_params(exe, "model")
    >>> import os
    >>> os.listdir("model")
    ['w']
    """,
    fixed={"vars": None, "predicate": is_parameter},
)
save_persistables: Callable[..., bytes | None] = _OF_ALL(
    save_vars,
    "save_persistables",
    """Write all variables of a program that stay in the scope, those of optimizers included.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.fc(x, 1)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_persistables(exe, "model")
    >>> fluid.io.load_persistables(exe, "model")
    >>> sorted(fluid.io.read("model").variables)
    ['fc_0.b_0', 'fc_0.w_0']
    """,
    fixed={"vars": None, "predicate": is_persistable},
)


# -- loading ---------------------------------------------------------------------------------------


def load_vars(
    executor: Executor,
    dirname: Path | None,
    main_program: Program | None = None,
    vars: Iterable[Variable] | None = None,
    predicate: Predicate | None = None,
    filename: str | bytes | None = None,
) -> None:
    """Read variables from a folder into the global scope, by a program of ``load`` operators.

    The scope takes all values or, where a file is not what it should be, none.

    Args:
        executor: runs the operators.
        dirname: the folder; None where ``filename`` is the bytes themselves.
        main_program: whose variables; the default main program when None.
        vars: what to read; the variables of ``main_program`` that ``predicate`` takes when None.
        predicate: which variables of the program to read; all when None.
        filename: the one file of all variables; a file for each when None.

    Raises:
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a file does not hold a variable as the program declares it.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2, param_attr="w")
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> w = fluid.default_main_program().global_block().var("w")
    >>> fluid.io.save_vars(exe, "model", vars=[w])
    >>> fluid.io.load_vars(exe, "model", vars=[w])
    """
    _check_executor(executor)
    chosen = sorted(_chosen(main_program, vars, predicate), key=lambda var: var.name)
    if dirname is None:
        if not isinstance(filename, bytes):
            raise ArgumentError("expected a folder, or the bytes of all variables as filename")
        source = Source.of(filename, "the bytes")
        names = [var.name for var in chosen]
        for name, value in zip(names, tensors_of(source, names, chosen)):
            global_scope().var(name).value = value
        return
    if not chosen:
        program = main_program or default_main_program()
        if vars is None and not program.global_block().ops:
            warn(
                f"nothing is read from {os.fspath(dirname)!r}: the program is empty; build the "
                f"network first, or say which program: main_program=...",
                None,
            )
        return
    program = Program()
    block = program.global_block()
    targets = [_copied(var, program) for var in chosen]
    if filename is not None:
        path = os.path.join(dirname, filename)  # type: ignore[arg-type]
        block.append_op("load_combine", {}, {"Out": targets}, {"file_path": path})
    else:
        for target in targets:
            path = inside(dirname, target.name)
            block.append_op("load", {}, {"Out": target}, {"file_path": path})
    executor.run(program)


_READ = """>>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
>>> exe = fluid.Executor()
>>> _ = exe.run(fluid.default_startup_program())
>>> fluid.io.save_{0}(exe, "model")
>>> fluid.io.load_{0}(exe, "model")"""
load_params: Callable[..., None] = _OF_ALL(
    load_vars,
    "load_params",
    f"Read the parameters of a program.\n\n{_READ.format('params')}",
    fixed={"vars": None, "predicate": is_parameter},
)
load_persistables: Callable[..., None] = _OF_ALL(
    load_vars,
    "load_persistables",
    f"Read all variables of a program that stay in the scope.\n\n{_READ.format('persistables')}",
    fixed={"vars": None, "predicate": is_persistable},
)


# -- scopes ----------------------------------------------------------------------------------------


def scope_value(scope: Scope, name: str) -> Any:
    """The value of a variable that is to be written.

    Raises:
        NotInitializedError: it has none.
    """
    value = scope.host_value(name)
    if isinstance(value, LoDTensor) and value.data is None:
        value = None
    if value is None:
        raise NotInitializedError(
            f"variable {name!r} has no value to save; run the startup program first, in the same "
            "scope"
        )
    return value


def values_of(program: Program, scope: Scope, predicate: Predicate) -> dict[str, Any]:
    """The values of the variables of a program that a predicate takes, by name.

    Raises:
        NotInitializedError: one has none.
    """
    chosen = dict.fromkeys(var.name for var in program.list_vars() if predicate(var))
    return {name: scope_value(scope, name) for name in chosen}


def _check_executor(executor: Any) -> None:
    if not hasattr(executor, "run"):
        raise ArgumentError(f"expected an Executor, got {executor!r:.60}")


def _program(program: Program | None) -> Program:
    program = default_main_program() if program is None else program
    program = getattr(program, "program", program)  # a compiled program knows the one it is of
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a Program, got {program!r:.60}")
    return program


def _chosen(
    program: Program | None, vars: Iterable[Variable] | None, predicate: Predicate | None
) -> list[Variable]:
    """The variables to write or to read, each once."""
    if vars is None:
        chosen = [var for var in _program(program).list_vars() if not predicate or predicate(var)]
    else:
        chosen = []
        for var in vars:
            if isinstance(var, str):
                declared = _program(program).global_block().vars.get(var)
                if declared is None:
                    raise UnknownVariableError(f"the program has no variable {var!r}")
                var = declared
            if not isinstance(var, Variable):
                raise ArgumentError(f"expected variables, got {var!r:.60}")
            chosen.append(var)
    return list({var.name: var for var in chosen if var.kind is not Kind.RAW}.values())


def _copied(var: Variable, program: Program) -> Variable:
    """The same variable in a program that reads it."""
    return declared_like(var, program.global_block(), persistable=True)
