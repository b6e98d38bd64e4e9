"""One contestant in a process of its own: obeys ``steps.py``, a line of JSON for each command.

    python worker.py TITLE

Commands are lists of a word and arguments; each is answered by one object.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from contestants import CONTESTANTS
from problems import BATCHES, Problem, problem

STEPS_CHECKED = 3
STEPS_WARMED = 3  # after every start, until plans are made
PATIENCE = 30  # seconds for compilers that yield to other work
PAUSE = 0.1  # between steps that wait for them


class Worker:
    """Runs the steps of one contestant."""

    def __init__(self, title: str) -> None:
        self._entry = CONTESTANTS[title]
        self._problem: Problem | None = None
        self._step: Any = None

    def hello(self) -> dict[str, Any]:
        """Whether it can take part."""
        missing = self._entry.missing()
        return {"missing": missing} if missing else {}

    def make(self, name: str, small: bool, dtype: str, batches: int = 1) -> dict[str, Any]:
        """Prepare a problem."""
        self._step = self._problem = None
        gc.collect()
        self._problem = problem(name, small, dtype, batches)
        try:
            self._step = self._entry.make(self._problem)
        except NotImplementedError as error:
            return {"missing": str(error)}
        return {}

    def first(self) -> dict[str, Any]:
        """Seconds of the first step, which is compiled then, and of the second."""
        assert self._problem is not None
        self._step.load(self._problem.start)
        times = []
        for k in range(2):
            begin = time.perf_counter()
            self._step.step(self._problem.feeds[k % BATCHES])
            times.append(time.perf_counter() - begin)
        return {"times": times}

    def check(self, path: str, steps: int = STEPS_CHECKED) -> dict[str, Any]:
        """Write parameters after some steps to a file; the losses."""
        assert self._problem is not None
        self._step.load(self._problem.start)
        losses = [self._step.step(self._problem.feeds[k % BATCHES]) for k in range(steps)]
        np.savez(path, **self._step.parameters())
        return {"losses": losses}

    def run(self, seconds: float, most: int, warmup: float) -> dict[str, Any]:
        """Seconds of each step, from the first values on, until there are enough; before them,
        steps of some seconds, until code is compiled.  A compiler that yields to the steps gets
        pauses.
        """
        assert self._problem is not None
        step, feeds = self._step.step, self._problem.feeds
        times: list[float] = []
        self._step.load(self._problem.start)
        end = time.perf_counter() + warmup
        k = 0
        while k < STEPS_WARMED or time.perf_counter() < end:
            step(feeds[k % BATCHES])
            k += 1
        waits = getattr(self._step, "waits_for_kernels", lambda: False)
        end = time.perf_counter() + PATIENCE
        while warmup and waits() and time.perf_counter() < end:
            time.sleep(PAUSE)
            step(feeds[k % BATCHES])
        self._step.load(self._problem.start)
        step(feeds[0])
        end = time.perf_counter() + seconds
        while not times or (time.perf_counter() < end and len(times) < most):
            feed = feeds[len(times) % BATCHES]
            begin = time.perf_counter()
            step(feed)
            times.append(time.perf_counter() - begin)
        return {"times": times}

    def memory(self, before: int, steps: int) -> dict[str, Any]:
        """Bytes of this process at the worst moment of some steps, and how many more that is than
        before them; where a plan says what it takes, that too.

        Args:
            before: steps that are run first, and whose memory has been given back.
            steps: that are looked at.
        """
        assert self._problem is not None
        self._step.load(self._problem.start)
        for k in range(before):
            self._step.step(self._problem.feeds[k % BATCHES])
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        there = _resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # what is most is noted anew
        for k in range(steps):
            self._step.step(self._problem.feeds[k % BATCHES])
        most = _resident("VmHWM")
        planned = getattr(self._step, "planned", lambda: None)()
        return {"most": most, "more": most - there, "planned": planned}

    def about(self) -> dict[str, Any]:
        """Versions, threads and libraries of this process."""
        found = {"python": platform.python_version(), "numpy": np.__version__, "blas": _pools()}
        describe = getattr(sys.modules.get(self._entry.module), "describe", dict)
        found.update(describe())
        return found


def _resident(what: str) -> int:
    """Bytes of this process that lie in memory (VmRSS), or did at the worst moment (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(what + ":"))
    return int(line.split()[1]) * 1024


def _in_short(error: Exception) -> str:
    """The ends of a message, on one line: what is wrong is in one of them."""
    words = " ".join(str(error).split())
    return words if len(words) <= 300 else f"{words[:150]} ... {words[-150:]}"


def _pools() -> list[str]:
    """The libraries with threads of their own, as far as they can be asked."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return []
    found = []
    for pool in threadpool_info():
        core = f", {pool['architecture']} kernels" if pool.get("architecture") else ""
        version = f" {pool['version']}" if pool.get("version") else ""
        count = pool["num_threads"]
        threads = "1 thread" if count == 1 else f"{count} threads"
        found.append(f"{pool['internal_api']}{version}{core}, {threads}")
    return found


def obey(worker: Worker, answers: TextIO) -> None:
    """Answer until there are no more commands."""
    for line in sys.stdin:
        word, *arguments = json.loads(line)
        try:
            answer = getattr(worker, word)(*arguments)
        except Exception as error:
            traceback.print_exc()
            answer = {"failed": f"{type(error).__name__}: {_in_short(error)}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    # libraries print what they like; answers go where nothing else does
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    obey(Worker(sys.argv[1]), private)
