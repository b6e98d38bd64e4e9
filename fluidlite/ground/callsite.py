"""Where in the user's program something was called."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import warnings
from types import FrameType
from typing import Any, NamedTuple

from ..errors import FluidWarning, StrictError
from .notebook_cells import place
from .quoting import has_controls, printable, terminal_text
from .state import StateSlot, slot, strictness
from .tracebacks import BOUNDARIES

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: what the command ``fluidlite`` begins with: the lines that call it are none of the user's
_COMMAND = os.path.join(_PACKAGE, "command_line", "cli.py")
#: file -> whether its lines are none of the user's; None where those that call it are none, either
_own: dict[str, bool | None] = {contextlib.__file__: True, functools.__file__: True, _COMMAND: None}
SITES_KEPT = 4096
_FRAME = re.compile(r'File "([^"\n]{1,500})", line (\d{1,9})\b')
_LIBRARY = re.compile(r"[/\\](?:site-packages|paddle|fluidlite)[/\\]")


class CallSite(NamedTuple):
    """A file and a line, and the whole stack where a program file told it."""

    file: str
    line: int
    stack: tuple[str, ...] = ()

    def __str__(self) -> str:
        return printable(place(self.file, self.line))

    @property
    def frames(self) -> tuple[str, ...]:
        """What program files say of it: the stack, or a line of that form."""
        if self.stack or self.file == "?":
            return self.stack
        return (f'  File "{self.file}", line {self.line}',)


def call_site(stack: tuple[str, ...]) -> CallSite | None:
    """The line of the user in a call stack; None where its frames have control characters, which
    no path has that anybody runs.
    """
    found = [match for line in stack for match in _FRAME.finditer(line)]
    frames = [match for match in found if not has_controls(match[0])]
    if found and not frames:
        return None
    users = [frame for frame in frames if not _LIBRARY.search(frame[1])]
    if not users:
        return CallSite("?", 0, stack)
    frame = users[-1 if users[0] is frames[0] else 0]  # the outermost call is first, or last
    return CallSite(frame[1], int(frame[2][:9]), stack)


def caller() -> CallSite | None:
    """The innermost line on the stack that is not fluidlite's own; None when there is none, or a
    command runs.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        try:
            own = _own[file]
        except KeyError:
            own = _own[file] = file.startswith(_PACKAGE)
        if own is not True:
            return None if own is None else _site(file, frame.f_lineno)
        frame = frame.f_back
    return None


def entered() -> FrameType | None:
    """The frame of the function of fluidlite's that the user called."""
    frame: FrameType | None = sys._getframe(1)
    last = None
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        last, frame = frame, frame.f_back
    return last


def called() -> str:
    """The function of fluidlite's that the user called, and where: for messages."""
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        code = frame.f_code
        if code.co_filename not in BOUNDARIES:
            name = code.co_name
            if name in _CALLS:
                name = type(frame.f_locals.get("self")).__name__
        frame = frame.f_back
    where = caller()
    return name if where is None else f"{name} (called at {where})"


_CALLS = ("__call__", "call_with", "__init__")


@functools.lru_cache(SITES_KEPT)  # a loop's operators share one
def _site(file: str, line: int) -> CallSite:
    return CallSite(file, line)


def warn(message: str, site: CallSite | None, category: type[Warning] = FluidWarning) -> None:
    """Warn of what a line of the user's does.

    Args:
        message: what, and what comes of it.
        site: the line; where fluidlite is called when None.
        category: of the warning.

    Raises:
        StrictError: in place of a warning, after ``fluidlite.strict()``.
    """
    where = site or caller()
    located = terminal_text(message if where is None else f"{message}\n  called at {where}")
    if issubclass(category, FluidWarning) and strictness.get():
        raise StrictError(located)
    if where is None:
        warnings.warn(located, category, stacklevel=2)
    else:
        warnings.warn_explicit(located, category, printable(where.file), where.line)


_warned: StateSlot[set[Any]] = slot("lines that were warned of", set)


def warn_once(message: str, about: str | None = None) -> None:
    """Warn of what the line of the user's does that is reached now, once for each line.

    Args:
        message: what, and what comes of it.
        about: what the warning is about: once in a process for all lines; None for each line.

    Raises:
        StrictError: in place of a warning, after ``fluidlite.strict()``.
    """
    site, warned = caller(), _warned.get()
    key: Any = about or (message, site)
    if key not in warned:
        warn(message, site)
        warned.add(key)
