"""``paddle.distributed.io``: what stays in the scope, in files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import io as files
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...io import is_persistable

__all__ = [
    "is_persistable", "load_inference_model_distributed", "load_persistables", "save_persistables",
]  # fmt: skip

_SPELLED = Spelling({}, without=["pserver_endpoints"])
_ARGS = """

Args:
    executor: what runs the program.
    dirname: the folder.
    main_program: the program; the default one when None.
    filename: one file for all variables; a file for each when None.
"""
save_persistables: Callable[..., bytes | None] = _SPELLED(
    files.save_persistables, doc=f"Write all variables that stay in the scope.{_ARGS}"
)
load_persistables: Callable[..., None] = _SPELLED(
    files.load_persistables, doc=f"Read what ``save_persistables`` wrote into the scope.{_ARGS}"
)
load_inference_model_distributed: Callable[..., list[Any]] = _SPELLED(
    files.load_inference_model,
    "load_inference_model_distributed",
    "A program that was written to be run: it, the names of what it is given, and its results.",
)

list_public_names(globals())
api_boundaries(globals())
