"""The command ``fluidlite vars``: the variables in a file or a folder."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..errors import FluidError
from ..ground.console import say
from ..ground.options import PATH
from ..ground.quoting import printable
from ..ground.values import LoDTensor, SelectedRows
from ..io.any_file import read_file
from ..io.contents import Contents


def add_vars(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite vars`` takes."""
    parser.description = "The variables in a file or a folder: types, shapes and ranges of values."
    parser.add_argument("path", help=PATH)
    parser.add_argument("names", nargs="*", help="print the values of these")
    parser.set_defaults(run=_vars)


def _vars(given: argparse.Namespace) -> None:
    contents = read_file(given.path)
    if not contents.variables and contents.program is not None:
        for block in contents.program.blocks:
            for variable in block.vars.values():
                say(repr(variable)[1:-1])
        return
    if not given.names:
        say_table(contents)
    for name in given.names:
        if name not in contents.variables:
            known = ", ".join(contents.variables)
            raise FluidError(f"{contents.path} holds no variable {name!r}; it holds {known}")
        say(f"{printable(name)} {_described(contents.variables[name])}")
        say(data_of(contents.variables[name]))


def say_table(contents: Contents) -> None:
    """A line for each variable: its name, what it is, the range of its values."""
    shown = {printable(name): value for name, value in contents.variables.items()}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        say(f"{name:<{width}}  {_described(value):<24}  {_range(data_of(value))}".rstrip())


def _described(value: Any) -> str:
    data = data_of(value)
    text = f"{data.dtype}{list(data.shape)}"
    if isinstance(value, LoDTensor):
        return f"{text} lod={value.lod()}"
    if isinstance(value, SelectedRows):
        return f"{text}, rows {value.rows()} of {value.height()}"
    return text


def data_of(value: Any) -> Any:
    """The numbers of a variable, without its sequences or rows."""
    if isinstance(value, SelectedRows):
        return value.value
    return value.data if isinstance(value, LoDTensor) else value


def _range(data: Any) -> str:
    if not data.size or data.dtype.kind not in "iuf":
        return ""
    if data.size == 1:
        return f"{data.reshape(-1)[0]:.6g}"
    text = f"{data.min():.6g} to {data.max():.6g}"
    bad = data.size - int(np.isfinite(data).sum())
    return text + (f", {bad} not finite" if bad else f", mean {data.mean(dtype='float64'):.6g}")
