"""Calls of a compiler, and the folders where it works.

Read where one is called: to read what Python has for that takes as long as to plan a small program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import split as split
from subprocess import PIPE, Popen
from subprocess import TimeoutExpired as TimeoutExpired
from tempfile import TemporaryDirectory as TemporaryDirectory


def begun(command: Sequence[str], variables: Mapping[str, str]) -> Popen[bytes]:
    """A process in a session of its own: an interrupt from the keyboard is meant for Python, and
    what it starts can be ended with it.

    Args:
        command: what it runs.
        variables: of its environment, beside those that are there.
    """
    return Popen(
        command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
        env={**os.environ, **variables},
    )


def lower_priority(process: Popen[bytes], lowest: int) -> None:
    """Let a process with all that it starts have the time that others leave."""
    with contextlib.suppress(OSError):  # it has ended
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PGRP, process.pid, lowest)
    with contextlib.suppress(OSError):  # Linux gives sessions shares of their own
        Path(f"/proc/{process.pid}/autogroup").write_text(str(lowest), encoding="ascii")


def end(process: Popen[bytes]) -> None:
    """End a process with all that it has started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows has no groups of this kind
            process.kill()


def remove(folder: str | Path) -> None:
    """Remove a folder, also where what has just been ended still makes files in it."""
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(0.01)
