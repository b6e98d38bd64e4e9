"""Waits for one process of a job, and tells the launcher how it died.

It is run as a file, so that it loads nothing.  MPI knows this process in place of that which it
waits for: what MPI ends after a death are those who wait, so the first one that tells is right.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time


def main(words: list[str]) -> int:
    """Run a command to its end; returns its exit status.

    Args:
        words: the folder of the launcher, and the command.
    """
    folder, *command = words
    own = os.getpid()
    pid = os.fork()
    if not pid:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != own:
            os._exit(1)
        os.execv(command[0], command)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        with open(os.path.join(folder, f"died-{pid}"), "w", encoding="utf-8") as file:
            file.write(f"{time.time()} {code}\n")
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
