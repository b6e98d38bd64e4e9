"""Functions that paddle 2 computes on GPUs alone: here they are names that say so when called."""

from __future__ import annotations

import inspect
import sys
from ast import literal_eval
from collections.abc import Callable
from typing import Any, NoReturn

from ...errors import UnsupportedError
from ...ground.docstrings import Family
from ...ground.fields import WRITTEN_METHOD, maker_of

#: what is said of each of them
_SAID = Family(raises="UnsupportedError: always.")
_USUAL = {"": "Tensor", "None": "Tensor | None"}


def gpu_only(text: str, use: str, result: str = "Tensor") -> Callable[..., Any]:
    """A function that is not there.

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

    def refuse() -> NoReturn:
        raise UnsupportedError(f"{name} has a kernel for GPUs alone; use {use}")

    told, notes = [], {}
    for each in " ".join(listed.split()).split(", "):
        typed, _, default = each.replace(" = ", "=").partition("=")
        parameter, _, type_name = typed.partition(": ")
        usual = _USUAL[default] if default in _USUAL else type(literal_eval(default)).__name__
        notes[parameter] = type_name or usual
        told.append(f"{parameter}={default}" if default else parameter)
    lines = f"    def {name}({', '.join(told)}):\n        refuse()\n    return {name}\n"
    function: Any = maker_of(f"def make(refuse):\n{lines}", WRITTEN_METHOD)(refuse)
    function.__module__ = sys._getframe(1).f_globals["__name__"]
    function.__qualname__, function.__annotations__ = name, {**notes, "return": result}
    function.__doc__ = f"Not there: paddle 2 has it on GPUs alone.\n\n{rest}".rstrip()
    refused: Callable[..., Any] = _SAID(function)
    return refused
