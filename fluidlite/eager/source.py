"""Where in the user's code an operator was run."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple

from ..ground.notebook_cells import place

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_own: dict[str, bool] = {}  # file -> whether it is one of fluidlite's


class SourceLine(NamedTuple):
    """A file and a line."""

    file: str
    line: int

    def __str__(self) -> str:
        return place(self.file, self.line)


def caller(depth: int = 1) -> tuple[CodeType | None, int]:
    """The innermost code on the stack that is not fluidlite's own, and the place in it.

    Args:
        depth: how many frames are known to be fluidlite's.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        own = _own.get(code.co_filename)
        if own is None:
            own = _own[code.co_filename] = code.co_filename.startswith(_PACKAGE)
        if not own:
            return code, frame.f_lasti
        frame = frame.f_back
    return None, 0


def call_site() -> SourceLine | None:
    """Where the user called."""
    return located_line(*caller(2))


def located_line(code: CodeType | None, at: int) -> SourceLine | None:
    """The line of a place in a piece of code."""
    if code is None:
        return None
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= at < end and number is not None:
            line = number
    return SourceLine(code.co_filename, line)
