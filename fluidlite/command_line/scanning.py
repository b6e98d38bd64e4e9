"""The command ``fluidlite scan``: what a program would do."""

from __future__ import annotations

import argparse

from ..errors import UnsupportedError
from ..ground.console import say, say_json
from ..ground.options import PATH
from ..inspect.scan import Scan, scan, scan_values, with_unread
from ..io.any_file import ONNX_ENDING, read_file
from ..onnx.contents import kind_of
from ..onnx.loading import survey


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
        if not path.endswith(ONNX_ENDING):
            raise
        model = survey(path)
        unread = ((e.type or e.place, e.place, e.reason) for e in model.unread)
        return path, kind_of(model.opset), with_unread(scan(model.program), unread)
    program = contents.program
    found = scan_values(contents.variables) if program is None else scan(program)
    return contents.path, contents.kind, found
