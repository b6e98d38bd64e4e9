"""Waits for one process of a job, and tells the launcher how it died.

It is run as a file, so that it loads nothing.  MPI knows this process in place of that which it
waits for: after a death MPI ends the processes that wait, so the first one that tells is right.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time


def main(words: list[str]) -> int:
    """Run a command to its end; returns its exit status.

    Args:
        words: the folder of the launcher, and the command.
    """
    folder, *command = words
    pid, code = (_forked if hasattr(os, "fork") else _started)(command)
    if code:
        with open(os.path.join(folder, f"died-{pid}"), "w", encoding="utf-8") as file:
            file.write(f"{time.time()} {code}\n")
    return 128 - code if code < 0 else code


def _forked(command: list[str]) -> tuple[int, int]:
    """Run a command that dies with this process: its number, and how it ended."""
    own = os.getpid()
    pid = os.fork()
    if not pid:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != own:
            os._exit(1)
        os.execv(command[0], command)
    _, status = os.waitpid(pid, 0)
    return pid, os.waitstatus_to_exitcode(status)


def _started(command: list[str]) -> tuple[int, int]:
    """The same where processes cannot fork, as on Windows."""
    with subprocess.Popen(command) as process:
        return process.pid, process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
