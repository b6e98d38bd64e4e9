"""``paddle.distributed.io``: what stays in the scope, in files."""

from __future__ import annotations

from typing import Any

from ... import io as files
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.program import Program
from ...ir.variable import Variable

__all__ = [
    "is_persistable", "load_inference_model_distributed", "load_persistables", "save_persistables",
]  # fmt: skip


def is_persistable(var: Variable) -> bool:
    """Whether a variable stays in the scope, and is kept in files.

    Args:
        var: the variable.
    """
    return bool(var.persistable) and var.type.name not in ("FEED_MINIBATCH", "FETCH_LIST", "READER")


def save_persistables(
    executor: Any,
    dirname: Path,
    main_program: Program | None = None,
    filename: str | None = None,
) -> None:
    """Write all variables that stay in the scope.

    Args:
        executor: what ran the program.
        dirname: the folder.
        main_program: the program; the default one when None.
        filename: one file for all variables; a file for each when None.
    """
    files.save_persistables(executor, dirname, main_program, filename)


def load_persistables(
    executor: Any,
    dirname: Path,
    main_program: Program | None = None,
    filename: str | None = None,
) -> None:
    """Read what ``save_persistables`` wrote into the scope.

    Args:
        executor: what runs the program.
        dirname: the folder.
        main_program: the program; the default one when None.
        filename: one file for all variables; a file for each when None.
    """
    files.load_persistables(executor, dirname, main_program, filename)


def load_inference_model_distributed(
    dirname: Path,
    executor: Any,
    model_filename: str | None = None,
    params_filename: str | None = None,
) -> list[Any]:
    """A program that was written to be run: it, the names of what it is given, and its results.

    Args:
        dirname: the folder.
        executor: what runs the program.
        model_filename: the file of the program.
        params_filename: the file of all parameters.
    """
    return list(files.load_inference_model(dirname, executor, model_filename, params_filename))


list_public_names(globals())
api_boundaries(globals())
