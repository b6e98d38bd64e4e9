"""Threads and processes that a system may refuse: what needs them does its work in place."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .callsite import warn
from .state import StateSlot, slot

if TYPE_CHECKING:
    from threading import Thread

_noticed: StateSlot[list[str]] = slot("work without threads", list)


def started(work: Callable[..., Any], name: str, *arguments: Any) -> Thread | None:
    """A daemon thread that does some work; None if the system refuses another thread.

    The first refusal in a process is noticed with a warning. The caller then does the work itself.

    Args:
        work: a function of the arguments.
        name: the thread's name, and what the notice is about.
        arguments: for the function.
    """
    thread = threading.Thread(target=work, name=name, args=arguments, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        _notice(name, error)
        return None
    return thread


def has_threads(what: str) -> bool:
    """Whether a thread can be started now; the first refusal in a process is noticed.

    Args:
        what: needs threads, for the notice.
    """
    thread = started(_nothing, what)
    if thread is not None:
        thread.join()
    return thread is not None


def _nothing() -> None:
    """What a thread does that is only started to see whether it can be."""


def _notice(what: str, error: RuntimeError) -> None:
    if _noticed.get():
        return
    _noticed.get().append(what)
    message = f"{what} works without threads, which this system refuses: {error}"
    with suppress(RuntimeWarning):  # where warnings are errors: the work is done all the same
        warn(message, None, RuntimeWarning)


def why_no_processes() -> str | None:
    """Why this Python starts no processes; None if it can."""
    if sys.platform in ("emscripten", "wasi") or find_spec("_multiprocessing") is None:
        return f"Python has no processes on {sys.platform}"
    return None


__all__ = ["has_threads", "started", "why_no_processes"]
