"""Thread-count tuning: how many threads a library gets.

Its threads wait for each other at the end of every kernel.  Where a processor has other work to do,
they wait until the system lets the last of them go on, which may take a hundred times as long as
the work.  So plans time several threads against one, from time to time.  They begin with the number
that a plan like them has found best; where none has, with several, or with one where the processors
have other work just then.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol


class ThreadPoolControl(Protocol):
    """Sets how many threads a library has."""

    #: how many there are just now; the tuner says so
    threads: int

    def within(self, threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives, while the library has so many threads."""
        ...


WARM = 2  #: runs of a trial that are not counted: primitives are made then
RUNS = 5  #: that are
#: times what a trial took, before the next one: at first, and in the end, after some that agreed
FIRST_REST, REST = 4, 64
SHORTEST_REST = 0.02  #: seconds
LOST = 3.0  #: times what all runs of a trial take otherwise, after which it is over


class ThreadTuner:
    """Chooses the number of threads for one segment.

    Args:
        control: sets it.
        most: how many there may be.
        fixed: whether there are always as many, so that results are the same to the last bit.
    """

    def __init__(self, control: ThreadPoolControl, most: int, fixed: bool) -> None:
        self._control, self._most = control, most
        self._fixed = fixed or most == 1
        self._begin_anew()
        #: seconds of a run by the number of threads
        self._seconds: dict[int, float] = {}
        self._rest, self._next = FIRST_REST, 0.0
        #: is called with what was found best, in the run that has shown it
        self.found: Callable[[int], None] | None = None
        self._told = 0  # what it was called with last, or was best before
        self._start(most if self._fixed or not is_busy(most) else 1)

    def _start(self, threads: int) -> None:
        """Begin with a number of threads."""
        self._control.threads = self._best = threads
        self._trial: _Trial | None = _Trial(threads)

    def begin_with(self, threads: int = 0) -> None:
        """Begin with a number of threads that was best before; another one is tried after a while.
        Called before anything is run; one that cannot be is left.
        """
        if not self._fixed and threads in (1, self._most):
            self._told = threads
            self._start(threads)

    def _begin_anew(self) -> None:
        """Forget runs of other threads, which a forked process does not have."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        #: of each run that is under way, something of its own
        self._running: list[object] = []

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives, with some threads."""
        within, control = self._control.within, self._control
        if self._fixed:
            return within(control.threads, function, *arguments)
        if self._process != os.getpid():
            self._begin_anew()
        run, alone, threads, begin = object(), False, control.threads, time.perf_counter()
        try:
            with self._lock:
                self._running.append(run)
                alone = len(self._running) == 1
                if alone:  # all runs that are under way have the same number
                    control.threads = self._best if self._trial is None else self._trial.threads
                threads = control.threads
            return within(threads, function, *arguments)
        finally:  # also where an interrupt came before the run was counted
            end = time.perf_counter()
            best = 0
            with self._lock:
                if run in self._running:
                    self._running.remove(run)
                    if alone:
                        best = self._note(threads, end - begin, end)
            if best and self.found is not None:
                self.found(best)

    def _note(self, threads: int, spent: float, now: float) -> int:
        """Learn from a run: what is best, where that is news; else 0."""
        trial = self._trial
        if trial is None:
            known = self._seconds[threads]
            self._seconds[threads] = known + (min(spent, LOST * known) - known) / RUNS
            if now > self._next:
                self._trial = _Trial(self._other)
            return 0
        trial.note(spent)
        if not trial.is_over(self._seconds.get(self._best)):
            return 0
        self._seconds[threads] = trial.seconds
        if len(self._seconds) == 1 and not self._told:
            self._trial = _Trial(self._other)
            return 0
        best = min(self._seconds, key=lambda count: self._seconds[count])
        is_sure = best == self._best or not self._told
        self._rest = min(2 * self._rest, REST) if best == self._best else FIRST_REST
        self._best, self._trial = best, None
        self._next = now + max(SHORTEST_REST, self._rest * trial.total)
        if best == self._told or not is_sure:
            return 0
        self._told = best
        return best

    @property
    def _other(self) -> int:
        """The number that is not the best one so far."""
        return 1 if self._best != 1 else self._most


class _Trial:
    """Some runs with a number of threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._spent: list[float] = []

    def note(self, spent: float) -> None:
        """Count a run."""
        self._spent.append(spent)

    def is_over(self, usual: float | None) -> bool:
        """Whether enough was seen, where runs usually take so long."""
        counted = self._spent[WARM:]
        lost = usual is not None and sum(counted) > LOST * RUNS * usual
        return lost or len(counted) == RUNS

    @property
    def seconds(self) -> float:
        """What a run takes: the median, since something else may hold up any of them."""
        counted = sorted(self._spent[WARM:])
        return counted[len(counted) // 2]

    @property
    def total(self) -> float:
        """Seconds of all."""
        return sum(self._spent)


def is_busy(threads: int) -> bool:
    """Whether so many threads would wait for processors that others work on just now."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            running = int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return False
    return running - 1 + threads > (os.cpu_count() or 1)  # this one is counted, too
