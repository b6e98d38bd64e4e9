"""The commands ``fluidlite show`` and ``fluidlite scan``: what a file holds, and what its program
would do.
"""

from __future__ import annotations

import argparse

from ..errors import UnsupportedError
from ..ground.console import say, say_json
from ..ground.options import PATH
from ..inspect.highlight import show
from ..inspect.scan import Scan, scan, scan_values, with_unread
from ..onnx.contents import ENDING, kind_of, read_file
from ..onnx.loading import survey
from .variables import data_of, say_table


def add_show(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite show`` takes."""
    parser.description = "What a file or a folder is, and the program that it holds, as text."
    parser.add_argument("path", help=PATH)
    parser.add_argument("--detail", action="store_true", help="all attributes, whole call sites")
    parser.set_defaults(run=_show)


def add_scan(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite scan`` takes."""
    parser.description = (
        "What a program would do outside of the scope, the unknown operators, "
        "its largest tensors, loops and nesting. The exit status is 0 where it has no "
        "effect and all operators are known, 3 where it has or one is not, 1 where the file cannot "
        "be read."
    )
    parser.add_argument("path", help=PATH)
    parser.add_argument("--json", action="store_true", help="print it for scripts")
    parser.set_defaults(run=_scan)


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


def _scan(given: argparse.Namespace) -> int:
    path, kind, findings = _scanned(given.path)
    if given.json:
        say_json({"path": path, "kind": kind, **findings.to_dict()}, indent=2)
    else:
        say(f"{path}: {kind}")
        say(findings)
    return 3 if findings else 0


def _scanned(path: str) -> tuple[str, str, Scan]:
    """The path and the kind of a file, and what it would do."""
    try:
        contents = read_file(path)
    except UnsupportedError:
        if not path.endswith(ENDING):
            raise
        model = survey(path)
        unread = ((e.type or e.place, e.place, e.reason) for e in model.unread)
        return path, kind_of(model.opset), with_unread(scan(model.program), unread)
    program = contents.program
    found = scan_values(contents.variables) if program is None else scan(program)
    return contents.path, contents.kind, found
