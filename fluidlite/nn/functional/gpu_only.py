"""Functions that paddle 2 computes on GPUs alone: here they are names that say so when called."""

from __future__ import annotations

import inspect
import sys
from ast import literal_eval
from collections.abc import Callable
from typing import Any

from ...ground.refusing import refusing

_USUAL = {"": "Tensor", "None": "Tensor | None"}


def gpu_only(text: str, use: str, result: str = "Tensor") -> Callable[..., Any]:
    """A function that fluidlite lacks.

    Args:
        text: its name, with its parameters in brackets, and the rest of its docstring.  Parameters
            are tensors, those with a default of the default's type, or ``name: type = default``.
        use: what to call in its place.
        result: the type of its result.

    >>> inspect.signature(gpu_only("moe(x, bias=None, scale=1.0)", "nn.Linear"))
    <Signature (x: 'Tensor', bias: 'Tensor | None' = None, scale: 'float' = 1.0) -> 'Tensor'>
    """
    head, _, rest = inspect.cleandoc(text).partition("\n\n")
    name, _, listed = head.rstrip(")").partition("(")
    parameters = []
    for each in " ".join(listed.split()).split(", "):
        typed, _, default = each.replace(" = ", "=").partition("=")
        parameter, _, type_name = typed.partition(": ")
        usual = _USUAL[default] if default in _USUAL else type(literal_eval(default)).__name__
        given = f" = {default}" if default else ""
        parameters.append(f"{parameter}: {type_name or usual}{given}")
    return refusing(
        f"{name}({', '.join(parameters)})",
        f"Not there: paddle 2 has it on GPUs alone.\n\n{rest}".rstrip(),
        f"{name} has a kernel for GPUs alone; use {use}",
        result=result,
        scope=sys._getframe(1).f_globals,
    )
