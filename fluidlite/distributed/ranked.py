"""One process of a job that the launcher started: runs a script, and says how it went.

python -m fluidlite.distributed.ranked [-m] SCRIPT ...
"""

from __future__ import annotations

import faulthandler
import os
import runpy
import signal
import sys
import traceback
from types import TracebackType

from ..ground.job_environment import FOLDER, launched, note

_OWN = (__file__, runpy.__file__, "<frozen runpy>")


def main(words: list[str]) -> None:
    """Run a script, or a module, as Python would.

    Args:
        words: ``-m`` for a module, its name, and its arguments.
    """
    note("started")
    _show_stack_when_asked()
    sys.excepthook = _report
    is_module = words[:1] == ["-m"]
    name, *rest = words[is_module:]
    sys.argv = [name, *rest]
    try:
        if is_module:
            if not getattr(sys.flags, "safe_path", False):
                sys.path[0] = os.getcwd()
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            if not getattr(sys.flags, "safe_path", False):
                sys.path[0] = os.path.dirname(os.path.realpath(name))
            runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        code = end.code
        note(f"ended {code if isinstance(code, int) else int(code is not None)}")
        raise
    except BaseException as error:  # ``_report`` notes the end, behind what was raised
        error.__traceback__ = _without_own(error.__traceback__)
        raise
    note("ended 0")


def _show_stack_when_asked() -> None:
    """Let the launcher see where this process is when others wait for it."""
    folder = os.environ.get(FOLDER, "")
    if folder and hasattr(faulthandler, "register"):
        path = os.path.join(folder, f"stack-{launched().rank}")
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process lives
        faulthandler.register(signal.SIGUSR1, file, all_threads=False)


def _without_own(frames: TracebackType | None) -> TracebackType | None:
    """A traceback that begins in the script."""
    while frames is not None and frames.tb_frame.f_code.co_filename in _OWN:
        frames = frames.tb_next
    return frames


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error with the rank at each line: several processes may fail at once."""
    rank = launched().rank
    lines = "".join(traceback.format_exception(kind, error, _without_own(trace))).splitlines()
    sys.stdout.flush()
    print("\n".join(f"[rank {rank}] {line}" for line in lines), file=sys.stderr, flush=True)
    note(f"raised {' '.join(lines[-1].split())}")
    note("ended 1")  # from here on the launcher ends the others


if __name__ == "__main__":
    main(sys.argv[1:])
