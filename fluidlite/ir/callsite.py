"""Where in the user's program something was called."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class CallSite(NamedTuple):
    """A file and a line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def caller() -> CallSite | None:
    """The innermost line on the stack that is not fluidlite's own; None when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            return CallSite(code.co_filename, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return None
