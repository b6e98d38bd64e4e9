"""What an installed alias remembers: the notices that it has given, and whether data are made."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

from ..ground import state

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_given: state.StateSlot[set[str]] = state.slot("notices", set)

#: whether paddle.dataset makes samples instead of reading files
synthetic_data: state.StateSlot[bool] = state.slot("synthetic data", lambda: False)


class CompatWarning(UserWarning):
    """An old program asks for something that is served in another way."""


def notice(key: str, message: str) -> None:
    """Say something once for as long as the alias is installed, of the user's line.

    Args:
        key: what it is about.
        message: what is said.
    """
    given = _given.get()
    if key in given:
        return
    given.add(key)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, CompatWarning, stacklevel=2)
        return
    where = frame.f_code.co_filename, frame.f_lineno
    # Without a module nothing would be said.
    module = frame.f_globals.get("__name__") or "__main__"
    warnings.warn_explicit(message, CompatWarning, *where, module)


def forget_notices() -> None:
    """Give every notice again."""
    _given.reset()
