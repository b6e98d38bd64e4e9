"""Starts a script in several processes of this machine, and sees that they end together.

    python -m fluidlite.distributed.launch --nproc 4 train.py
    python -m fluidlite.distributed.launch --nproc 4 -m fluidlite run old.py

MPI's ``mpiexec`` starts them.  Where one process dies, raises an error, or does not come to where
the others wait for it, all of them end, and the error says which it was.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..ground.job_environment import FOLDER, Note, answer, notes
from ..ground.signal_names import signal_name
from ..kernels.threads import BLAS_VARIABLES, cores
from .timeouts import VARIABLE, Timeouts

_RANKED = "fluidlite.distributed.ranked"
_INSTALL = 'pip install "fluidlite[mpi]"'
_PAUSE = 0.05  #: seconds between two looks at the processes
_GRACE = 5.0  #: seconds in which the others have to end by themselves
_LOOK = 0.3  #: seconds in which a process writes where it is
#: what MPICH writes where a process has died
_BANNER = re.compile(
    rb"^(=+|= .*|YOUR APPLICATION TERMINATED.*|This typically refers.*|Please see.*)$"
)


def parser() -> argparse.ArgumentParser:
    """What stands behind ``python -m fluidlite.distributed.launch``."""
    argument_parser = argparse.ArgumentParser(
        prog="python -m fluidlite.distributed.launch",
        description="Run a script in several processes of this machine.",
        epilog="What stands behind the script's name is the script's.",
    )
    argument_parser.add_argument(
        "--nproc", type=int, default=cores(), help="how many; one for each processor by default"
    )
    argument_parser.add_argument(
        "--timeout",
        metavar="SECONDS[,SECONDS]",
        help="how long a process may wait for the others, and in its first steps; what "
        f"{VARIABLE} says by default",
    )
    argument_parser.add_argument(
        "--mpiexec", metavar="PATH", help="what starts them; that of this Python"
    )
    argument_parser.add_argument(
        "-m", dest="module", action="store_true", help="SCRIPT is a module's name"
    )
    argument_parser.add_argument("script", metavar="SCRIPT")
    argument_parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    return argument_parser


def main(words: Sequence[str] | None = None) -> int:
    """Run a script in several processes; returns the exit status.

    Args:
        words: what stands behind the launcher's name; that of this process when None.
    """
    argument_parser = parser()
    options = argument_parser.parse_args(words)
    if options.nproc < 1:
        argument_parser.error(f"expected --nproc to be at least 1, got {options.nproc}")
    if not options.module and not os.path.isfile(options.script):
        argument_parser.error(f"there is no file {options.script!r}")
    timeouts = Timeouts(options.timeout)
    starter = options.mpiexec or mpiexec()
    if starter is None or importlib.util.find_spec("mpi4py") is None:
        lacking = "mpiexec" if starter is None else "mpi4py"
        print(f"fluidlite: several processes need {lacking}: {_INSTALL}", file=sys.stderr)
        return 2
    script = [*(["-m"] if options.module else []), options.script, *options.arguments]
    python = sys.executable
    with tempfile.TemporaryDirectory(prefix="fluidlite-") as folder:
        guard = [python, "-IS", os.path.join(os.path.dirname(__file__), "guard.py"), folder]
        own = [*guard, python, "-m", _RANKED, *script]
        command = [starter, "-n", str(options.nproc), *own]
        return Launch(options.nproc, folder, timeouts).run(command)


def mpiexec() -> str | None:
    """The ``mpiexec`` beside this Python, which the package ``mpich`` brings, or another one."""
    beside = shutil.which("mpiexec", path=os.path.dirname(sys.executable))
    return beside or shutil.which("mpiexec")


class Launch:
    """A job that runs.

    Args:
        size: how many processes it has.
        folder: where they say what they do.
        timeouts: how long they may wait.
    """

    def __init__(self, size: int, folder: str, timeouts: Timeouts) -> None:
        self._size, self._folder, self._timeouts = size, folder, timeouts
        self._job: Any = None
        self._why = ""  #: why the launcher ended the job
        self._stopped = 0  #: the signal that ended the launcher

    def run(self, command: Sequence[str]) -> int:
        """Run the job; returns the exit status.

        Args:
            command: starts it.
        """
        _adopt_orphans()
        before = set(_descendants(os.getpid()))
        readers = []
        with self._signals():
            try:
                self._job = subprocess.Popen(
                    command,
                    env=self._environment(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    preexec_fn=_die_together if sys.platform == "linux" else None,
                )
                readers = [
                    threading.Thread(target=self._forward, args=each, daemon=True)
                    for each in ((self._job.stdout, sys.stdout), (self._job.stderr, sys.stderr))
                ]
                for reader in readers:
                    reader.start()
                self._watch()
            finally:
                self._end(before)
            for reader in readers:
                reader.join(_GRACE)
        return self._result()

    def _environment(self) -> dict[str, str]:
        environment = dict(os.environ)
        threads = str(max(1, cores() // self._size))
        for name in BLAS_VARIABLES:
            environment.setdefault(name, threads)
        environment.setdefault("PYTHONUNBUFFERED", "1")  # what was printed is seen although all end
        return {**environment, FOLDER: self._folder, VARIABLE: self._timeouts.text}

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """End the job when the launcher gets a signal to end."""

        def stop(number: int, frame: Any) -> NoReturn:
            self._stopped = number
            raise _Stopped

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {n: signal.signal(n, stop) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except _Stopped:
            pass
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _forward(self, source: Any, sink: Any) -> None:
        """Pass on what processes write, without what MPICH says of those that died."""
        empty = b""  # a line in front of what MPICH says
        for line in source:
            if _BANNER.match(line.strip()):
                empty = b""
            elif not line.strip():
                sink.buffer.write(empty)
                empty = line
            else:
                sink.buffer.write(empty + line)
                empty = b""
            sink.flush()
        sink.buffer.write(empty)
        sink.flush()

    # -- watching ----------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Wait for the end; end the job where a process cannot be waited for."""
        looked = False
        lost_since = 0.0
        while self._job.poll() is None:
            time.sleep(_PAUSE)
            said = [notes(self._folder, rank) for rank in range(self._size)]
            if not looked and any(each.word == "fault" for told in said for each in told):
                looked = True
                self._look(said)
            why, grace = self._lost(said)
            lost_since = (lost_since or time.monotonic()) if why else 0.0
            if why and time.monotonic() - lost_since >= grace:
                self._why = why
                return

    def _lost(self, said: list[list[Note]]) -> tuple[str, float]:
        """Why the job cannot come to its end ("" while it can), and the seconds in which it may end
        by itself.
        """
        statuses = [_status(told) for told in said]
        words = [{note.word for note in told} for told in said]
        grace = _GRACE if any("joined" in each for each in words) else 0.0
        for rank, status in enumerate(statuses):
            if status:
                return f"rank {rank} has ended with status {status}", grace
        if self._deaths(said):
            return " ", 0.0
        waiting = [rank for rank in range(self._size) if words[rank] - {"started"} == {"joining"}]
        if not waiting:
            return "", 0.0
        begin = f"rank {waiting[0]} waits for it in fluidlite.distributed.join()"
        for rank, status in enumerate(statuses):
            if status == 0 and "joining" not in words[rank]:
                return f"rank {rank} has ended without joining; {begin}", 0.0
        waited = time.time() - min(said[rank][-1].time for rank in waiting)
        if waited > self._timeouts.first:
            others = [r for r in range(self._size) if r not in waiting]
            begin = f"rank {waiting[0]} waited {waited:.0f} s in fluidlite.distributed.join()"
            return f"{begin}; rank {', '.join(map(str, others[:8]))} did not come to it", 0.0
        return "", 0.0

    def _look(self, said: list[list[Note]]) -> None:
        """Say where the processes are that the others wait for."""
        asked = {rank: told[0].pid for rank, told in enumerate(said) if told}
        if not hasattr(signal, "SIGUSR1"):  # as on Windows, where nobody listens
            asked = {}
        faulty = {r for r, told in enumerate(said) if any(n.word == "fault" for n in told)}
        for rank, pid in asked.items():
            if rank not in faulty:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGUSR1)
        time.sleep(_LOOK)
        for rank in asked:
            if rank not in faulty:
                self._say(self._where(rank))
        answer(self._folder)

    def _where(self, rank: int) -> str:
        """Where a process was, as it has written."""
        try:
            text = Path(self._folder, f"stack-{rank}").read_text(encoding="utf-8")
        except OSError:
            text = ""
        lines = [line.strip() for line in text.splitlines() if line.strip().startswith("File ")]
        lines = [line for line in lines if not any(own in line for own in _INNER)]
        if not lines:
            return f"rank {rank} did not say where it is: it has ended, or is stopped"
        return f"rank {rank} was at " + "\n    called by ".join(lines[:4])

    # -- the end -----------------------------------------------------------------------------------

    def _end(self, before: set[int]) -> None:
        """End mpiexec and whatever it has left.

        Args:
            before: processes that are none of the job's.
        """
        answer(self._folder)
        job = self._job
        for step in (job.terminate, job.kill) if job is not None else ():
            if job.poll() is not None:
                break
            step()
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(_GRACE)
        while left := set(_descendants(os.getpid())) - before:
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(_PAUSE)

    def _result(self) -> int:
        """Say what went wrong; the exit status."""
        said = [notes(self._folder, rank) for rank in range(self._size)]
        code = self._job.returncode
        if self._stopped:
            return 128 + self._stopped
        for rank, told in enumerate(said):
            raised = [note.rest for note in told if note.word == "raised"]
            if raised:
                self._say(f"rank {rank} of {self._size} raised {raised[0]}")
                return 1
        if self._why.strip():
            self._say(self._why)
        if any(note.word == "fault" for told in said for note in told):
            return 1
        for told in said:
            if ended := _status(told):
                return ended & 255 or 1
        if self._why.strip():
            return 1
        if deaths := self._deaths(said):
            _, number, status = min(deaths)
            self._say(f"rank {number} of {self._size} {_ended_by(status)}; the others are stopped")
            return 128 - status if status < 0 else status
        return 128 - code if code < 0 else code

    def _deaths(self, said: list[list[Note]]) -> list[tuple[float, int, int]]:
        """Of processes that died silently: when, their ranks, and what their guards say.

        One whose script has ended well may still die while it leaves; MPI may not notice that.
        """
        deaths = []
        for rank, told in enumerate(said):
            if told and not _status(told) and not {"fault", "raised"} & {n.word for n in told}:
                path = Path(self._folder, f"died-{told[0].pid}")
                with contextlib.suppress(OSError, ValueError):
                    when, status = path.read_text(encoding="utf-8").split()
                    deaths.append((float(when), rank, int(status)))
        return deaths

    def _say(self, text: str) -> None:
        print(f"fluidlite: {text}", file=sys.stderr, flush=True)


def _status(told: list[Note]) -> int | None:
    """The exit status of a process that has ended by itself."""
    return next((int(note.rest) for note in told if note.word == "ended"), None)


class _Stopped(Exception):
    """The launcher was told to end."""


#: parts of lines of a stack that say nothing to the user
_INNER = ("runpy", _RANKED.replace(".", os.sep))


def _ended_by(status: int) -> str:
    if status < 0:
        return f"was killed by {signal_name(-status)}"
    return f"has ended with status {status}"


def _adopt_orphans() -> None:
    """Let processes whose parent dies become children of this one, where the system can: so none
    is left over.
    """
    _process_control(36)  # PR_SET_CHILD_SUBREAPER


def _die_together() -> None:
    """Let mpiexec end when the launcher is killed."""
    _process_control(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _process_control(option: int, value: int = 1) -> None:
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _descendants(pid: int) -> list[int]:
    """The processes below one, where the system says it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    descendants: list[int] = []
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        descendants += below
        waiting += below
    return descendants


if __name__ == "__main__":
    sys.exit(main())
