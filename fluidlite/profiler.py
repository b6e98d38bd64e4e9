"""Measuring programs, by the names of fluid 1.8."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from . import state as slots
from .absent import answer
from .ir.callsite import warn
from .quiet import doors
from .runtime.profile import SORTED_BY, Profile, active, checked_choice

__all__ = [
    "Profile",
    "cuda_profiler",
    "profiler",
    "reset_profiler",
    "start_profiler",
    "stop_profiler",
]

STATES = ("CPU", "GPU", "All")
OPTIONS = ("Default", "OpDetail", "AllOpDetail")

#: what ``start_profiler`` lets executors record to
_next: slots.StateSlot[Profile] = slots.slot("next profile", Profile)


def _default_path() -> str:
    return os.path.join(tempfile.gettempdir(), "profile")


def start_profiler(state: str, tracer_option: str = "Default") -> None:
    """Measure every program that runs from now on.

    Args:
        state: "CPU", "GPU" or "All"; what is on the CPU is measured.
        tracer_option: "Default", "OpDetail" or "AllOpDetail"; all give the same.

    Raises:
        ArgumentError: something else.
    """
    checked_choice(state, STATES, "state")
    checked_choice(tracer_option, OPTIONS, "tracer_option")
    active.switch(_next.get())


def stop_profiler(sorted_key: str | None = None, profile_path: str | None = None) -> None:
    """Measure no more; print the table, and write a trace file for ``chrome://tracing``.

    Args:
        sorted_key: "calls", "total", "max", "min" or "ave": the largest first; None for the order
            in which operators were first run.
        profile_path: the file; ``profile`` in the folder for temporary files when None.

    Raises:
        ArgumentError: another key.
        FileError: the file cannot be written.
    """
    checked_choice(sorted_key, (None, *SORTED_BY), "sorted_key")
    profile = active.get()
    if profile is None:
        return
    active.switch(None)
    print(profile.table(sorted_key))
    profile.save(_default_path() if profile_path is None else profile_path)
    _next.switch(Profile())


def reset_profiler() -> None:
    """Forget what has been measured so far."""
    _next.get().reset()


@contextmanager
def profiler(
    state: str,
    sorted_key: str | None = None,
    profile_path: str | None = None,
    tracer_option: str = "Default",
) -> Iterator[Profile]:
    """Measure every program that runs inside a ``with`` block; then print the table, and write a
    trace file.

    Args:
        state, tracer_option: as of :func:`start_profiler`.
        sorted_key, profile_path: as of :func:`stop_profiler`.

    Raises:
        ArgumentError: a value is none of those.

    >>> import os, tempfile
    >>> y = fluid.layers.fill_constant([2], "float32", 1.0)
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
    >>> with fluid.profiler.profiler("CPU", "total", path):
    ...     _ = fluid.Executor().run(fetch_list=[y])
    1 runs of programs, ...
    """
    checked_choice(sorted_key, (None, *SORTED_BY), "sorted_key")
    start_profiler(state, tracer_option)
    try:
        yield _next.get()
    finally:
        stop_profiler(sorted_key, profile_path)


@contextmanager
def cuda_profiler(
    output_file: str, output_mode: str | None = None, config: Sequence[str] | None = None
) -> Iterator[None]:
    """Run a ``with`` block as it is: there is no CUDA to be measured, and no file is written.

    Args:
        output_file, output_mode, config: not read.
    """
    warn(
        "there is no CUDA: cuda_profiler measures nothing; use profiler.profiler",
        None,
    )
    yield


doors(globals())
answer(globals())
