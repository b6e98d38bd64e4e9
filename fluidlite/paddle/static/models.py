"""Models in files and in bytes, in paddle 2's spelling."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import io
from ...errors import ArgumentError
from ...ground.files import Path, Transaction, read_bytes
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...io.inference import write_model
from ...io.variables import values_of
from ...ir.program import Program, default_main_program
from ...ir.variable import Variable
from ...proto.state import checked_path, read_state, write_state
from ...runtime.executor import Executor
from ...scope import Scope, scope_guard
from .saved_operators import put_in_form

_DETAILS = ".pdiparams.info"
Variables = Variable | Sequence[Variable]


def save_inference_model(
    path_prefix: Path,
    feed_vars: Variables,
    fetch_vars: Variables,
    executor: Executor,
    **kwargs: Any,
) -> None:
    """Write the part of a program that computes some variables, and the parameters that it reads.

    Args:
        path_prefix: the path without ``.pdmodel`` and ``.pdiparams``.
        feed_vars: variables that are fed.
        fetch_vars: variables that are computed.
        executor: values come from the global scope.
        kwargs: ``program``: the program, the main program when it is not given; others are
            accepted.

    Raises:
        FileError: a file cannot be written; says which, and why.
        NotInitializedError: a parameter has no value; run the startup program first.
    """
    if not isinstance(path_prefix, (str, os.PathLike)):
        raise ArgumentError(f"expected path_prefix to be a path, got {path_prefix!r:.60}")
    folder, stem = os.path.split(checked_path(path_prefix))
    write_model(
        folder or ".",
        [var.name for var in _listed(feed_vars, "feed_vars")],
        _listed(fetch_vars, "fetch_vars"),
        kwargs.get("program"),
        (f"{stem}.pdmodel", f"{stem}.pdiparams"),
        put_in_form=put_in_form,
    )


def write_details(path_prefix: str, details: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what a model does not say of its values, as paddle 2 does: where a layer had them, and
    whether they are trained.

    Args:
        path_prefix: as of the model.
        details: by the names of values.
    """
    with Transaction() as files:
        write_state(files, path_prefix + _DETAILS, details)


def read_details(path_prefix: str) -> dict[str, Any]:
    """What was written beside a model; nothing if there is none.

    Args:
        path_prefix: as of the model.
    """
    path = path_prefix + _DETAILS
    return read_state(path) if os.path.exists(path) else {}


def values_of_model(path_prefix: str, **kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
    """What :func:`load_inference_model` gives, and the arrays of a model's values, sorted by name.

    Args:
        path_prefix, kwargs: as of that function.
    """
    scope = Scope()
    with scope_guard(scope):
        model = load_inference_model(path_prefix, Executor(), **kwargs)
    values = values_of(model[0], scope, io.is_persistable)
    return model, {name: np.asarray(value) for name, value in sorted(values.items())}


def load_inference_model(path_prefix: Path | None, executor: Executor, **kwargs: Any) -> list[Any]:
    """Read a model.

    Args:
        path_prefix: the path without ``.pdmodel``; None where the next two are bytes.
        executor: loads the parameters into the global scope.
        kwargs: ``model_filename``, ``params_filename``: files of other names, or the bytes.

    Returns:
        the program; the names of the variables to feed; the variables to fetch.

    Raises:
        FileError: a file cannot be read; says which, and why.
    """
    unknown = {*kwargs} - {"model_filename", "params_filename"}
    if unknown:
        raise ArgumentError(
            f"load_inference_model takes model_filename and params_filename, got "
            f"{min(unknown)!r:.60}"
        )
    names = {name: kwargs.get(name) for name in ("model_filename", "params_filename")}
    return io.load_inference_model(path_prefix, executor, **names)


def normalize_program(
    program: Program, feed_vars: Variables, fetch_vars: Variables, **kwargs: Any
) -> Program:
    """The part of a program that computes some variables, with operators that feed and fetch.

    Args:
        program: stays as it is.
        feed_vars: variables that are fed.
        fetch_vars: variables that are computed.
        kwargs: accepted.
    """
    return Program.parse_from_string(serialize_program(feed_vars, fetch_vars, program=program))


def serialize_program(feed_vars: Variables, fetch_vars: Variables, **kwargs: Any) -> bytes:
    """The bytes of a ``.pdmodel`` file.

    Args:
        feed_vars: variables that are fed.
        fetch_vars: variables that are computed.
        kwargs: ``program``: the program, the main program when it is not given.
    """
    return _written(feed_vars, fetch_vars, Executor(), kwargs.get("program"), program_only=True)


def serialize_persistables(
    feed_vars: Variables, fetch_vars: Variables, executor: Executor, **kwargs: Any
) -> bytes:
    """The bytes of a ``.pdiparams`` file.

    Args:
        feed_vars: variables that are fed.
        fetch_vars: variables that are computed.
        executor: values come from the global scope.
        kwargs: ``program``: the program, the main program when it is not given.
    """
    return _written(feed_vars, fetch_vars, executor, kwargs.get("program"), program_only=False)


def _written(
    feed_vars: Variables,
    fetch_vars: Variables,
    executor: Executor,
    program: Program | None,
    program_only: bool,
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_model(
            folder,
            [var.name for var in _listed(feed_vars, "feed_vars")],
            _listed(fetch_vars, "fetch_vars"),
            default_main_program() if program is None else program,
            ("model", "params"),
            program_only=program_only,
            put_in_form=put_in_form,
        )
        return load_from_file(os.path.join(folder, "model" if program_only else "params"))


def deserialize_program(data: bytes) -> Program:
    """The program of the bytes of a ``.pdmodel`` file.

    Args:
        data: what ``serialize_program`` gave.
    """
    return Program.parse_from_string(data)


def deserialize_persistables(program: Program, data: bytes, executor: Executor) -> None:
    """Put the values of a ``.pdiparams`` file into the global scope.

    Args:
        program: whose parameters they are.
        data: what ``serialize_persistables`` gave.
        executor: loads them.
    """
    with tempfile.TemporaryDirectory() as folder:
        save_to_file(os.path.join(folder, "params"), data)
        io.load_persistables(executor, folder, program, "params")


def save_to_file(path: Path, content: bytes) -> None:
    """Write bytes to a file.

    Args:
        path: the file.
        content: the bytes.

    Raises:
        FileError: the file cannot be written; says why.
    """
    if not isinstance(content, bytes):
        raise ArgumentError(f"expected bytes to write, got {type(content).__name__}")
    with Transaction() as files:
        files.write(path, content)


def load_from_file(path: Path) -> bytes:
    """The bytes of a file.

    Args:
        path: the file.

    Raises:
        FileError: the file cannot be read; says why.
    """
    return read_bytes(path)


def _listed(variables: Variables, what: str) -> list[Variable]:
    listed: Any = variables if isinstance(variables, (list, tuple)) else [variables]
    for each in listed:
        if not isinstance(each, Variable):
            raise ArgumentError(f"expected {what} to be variables, got {each!r:.60}")
    return list(listed)


list_public_names(globals())
api_boundaries(globals())
