"""The command ``fluidlite show``: what a file or a folder is, and its program."""

from __future__ import annotations

import argparse

from ..ground.console import say
from ..ground.options import PATH
from ..io.any_file import read_file
from ..ir.highlight import show
from .variables import data_of, say_table


def add_show(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite show`` takes."""
    parser.description = "What a file or a folder is, and the program that it holds, as text."
    parser.add_argument("path", help=PATH)
    parser.add_argument("--detail", action="store_true", help="all attributes, whole call sites")
    parser.set_defaults(run=_show)


def _show(given: argparse.Namespace) -> None:
    contents = read_file(given.path)
    say(f"{contents.path}: {contents.kind}")
    for name, value in contents.others.items():
        say(f"{name}: {value}")
    if contents.variables:
        sizes = sum(data_of(value).nbytes for value in contents.variables.values())
        say(f"{len(contents.variables)} variables, {sizes} bytes")
    if contents.program is not None:
        show(contents.program, detail=given.detail)
    elif contents.variables:
        say_table(contents)
