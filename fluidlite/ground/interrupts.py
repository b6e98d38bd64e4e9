"""An interrupt from the keyboard ends the command ``fluidlite`` quietly, from its imports on."""

from __future__ import annotations

# the enumerations that ``signal`` puts around it take longer to import than all of this
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_COMMAND = __name__.partition(".")[0]
INTERRUPTED = 130  #: what a shell says of a command that was interrupted


def _watch() -> None:
    """Let an interrupt end the process, where this is the command; while its modules are imported
    there is nothing to be undone.
    """
    is_free = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_free and _is_command():
        _listen(_leave)


def _is_command() -> bool:
    """Whether Python was started for the command, by its script or as ``python -m fluidlite``."""
    words, first = sys.orig_argv, sys.argv[0] if sys.argv else ""
    if first == "-m":  # until the module is found
        ends = [k for k, word in enumerate(words) if word[:1] == "-" and word[-1:] == "m"]
        return bool(ends) and words[ends[0] + 1 : ends[0] + 2] == [_COMMAND]
    return os.path.basename(first).partition(".")[0].removesuffix("-script") == _COMMAND


def _leave(*signaled: object) -> None:
    os._exit(INTERRUPTED)


def _listen(handler: Any) -> None:
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:  # imported by a thread
        pass


def quietly(command: Callable[[], int]) -> int:
    """Do the work of the command; the exit status, which is 130 where it was interrupted.

    The first interrupt lets the work clean up behind itself, another one does not.

    Args:
        command: gives the exit status.
    """
    if signal.getsignal(signal.SIGINT) is not _leave:
        return command()  # it is called by a program, or is not to be interrupted
    heard: list[bool] = []

    def hear(*signaled: Any) -> None:
        heard.append(True)
        _listen(_leave)
        signal.default_int_handler(*signaled)

    def ignored(what: Any) -> None:  # where nothing can be raised
        if what.exc_type is not KeyboardInterrupt:
            sys.__unraisablehook__(what)

    try:
        sys.unraisablehook = ignored
        _listen(hear)
        status = command()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BaseException:
        if not heard:  # else a library has made something else of the interrupt
            raise
    finally:
        if signal.getsignal(signal.SIGINT) in (hear, _leave):
            _listen(signal.SIG_IGN)  # it is done, and Python takes a while to end
    return INTERRUPTED if heard else status


def as_python_does() -> None:
    """Let an interrupt raise ``KeyboardInterrupt`` each time, for a program that may handle it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        _listen(signal.default_int_handler)


_watch()  # the package's other modules are still to be imported
