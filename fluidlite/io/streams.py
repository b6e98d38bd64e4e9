"""Files of tensors, one after the other, as fluid's ``save`` and ``save_combine`` write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import FileError, FileFormatError, FluidError, with_context
from ..ground.files import Source, Transaction, open_source
from ..ir.foreign import FROM_OUTSIDE
from ..ir.variable import Variable
from ..proto.tensor import read_rows, read_tensor, write_value
from .check import as_float16, check_value, holds_rows


def write_inputs(op: Any, run: Any) -> None:
    """Write what an operator reads to its file."""
    path = op.file_path
    if not op.overwrite and os.path.exists(path):
        raise FileError(f"cannot write {path}: it is there, and overwrite is False")
    values = [(name, run.value(name)) for name in run.names("inputs", "X")]
    if op.save_as_fp16:
        values = [(name, as_float16(value)) for name, value in values]
    with Transaction() as files:
        write_tensors(files, path, values)


def read_outputs(op: Any, run: Any) -> None:
    """Read what an operator writes from its file."""
    names = run.names("outputs", "Out")
    variables = [run.variable(name) for name in names]
    is_quiet = FROM_OUTSIDE in run.op.foreign
    values = (
        _quietly(op.file_path, names, variables)
        if is_quiet
        else read_tensors(op.file_path, names, variables)
    )
    for name, value in zip(names, values):
        run.set(name, as_float16(value) if op.load_as_fp16 else value)


def _quietly(path: str, names: Sequence[str], variables: Sequence[Variable | None]) -> list[Any]:
    """The tensors of a file that a foreign program names; an error tells nothing of its content."""
    try:
        return read_tensors(path, names, variables)
    except FileError:
        raise
    except FluidError:
        pass  # what is raised below has no context, which would tell it
    raise FileFormatError(
        f"{path!r} does not hold the variables that the program expects; the program named the "
        f"file, so what it holds is not shown: fluidlite show tells it"
    )


def write_tensors(files: Transaction, path: str, values: Iterable[tuple[str, Any]]) -> None:
    """Write a file of tensors, one after the other.

    Args:
        files: the transaction that the file is part of.
        path: where to.
        values: pairs of a variable's name and its value.

    Raises:
        FileError: it cannot be written; says at which variable.
    """
    with files.open(path) as file:
        for name, value in values:
            try:
                write_value(file, value, name)
            except FileError as error:
                raise with_context(error, f"  while writing variable {name!r}") from error


def read_tensors(
    path: str, names: Sequence[str], variables: Sequence[Variable | None]
) -> list[Any]:
    """The tensors of a file, which holds these variables and nothing else.

    Args:
        path: the file.
        names: the variables, in the order of the file.
        variables: what is declared of them.

    Raises:
        FileError: the file cannot be read.
        FileFormatError: it does not hold these variables.
    """
    try:
        with open_source(path) as source:
            return tensors_of(source, names, variables)
    except FileFormatError:
        raise
    except FileError as error:
        listed = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
        what = f"variable{'s' if len(names) > 1 else ''} {listed}"
        raise with_context(error, f"  it should hold {what}") from error


def tensors_of(
    source: Source, names: Sequence[str], variables: Sequence[Variable | None]
) -> list[Any]:
    """The tensors of a source; arguments and errors as of :func:`read_tensors`."""
    values = []
    for number, (name, variable) in enumerate(zip(names, variables)):
        start = source.position
        which = f"variable {name!r}, number {number + 1} of {len(names)} in the file"
        if not source.left:
            raise FileFormatError(
                f"{source.name}: expected {which}, at byte {start}, found the end of the file; "
                "it was saved from a program with fewer variables, or is not complete"
            )
        try:
            value = read_rows(source) if holds_rows(variable) else read_tensor(source)
        except FluidError as error:
            raise with_context(error, f"  while reading {which}") from error
        check_value(variable, value, name, f"{source.name}, byte {start}")
        values.append(value)
    if source.left:
        raise FileFormatError(
            f"{source.name}: expected the end of the file at byte {source.position}, after "
            f"{len(names)} variables, found {source.left} bytes more; it was saved from a program "
            "with other variables"
        )
    return values
