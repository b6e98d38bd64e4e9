"""Thread-count tuning: how many threads a library gets.

Its threads wait for each other at the end of every kernel.  Where a processor has other work to do,
they wait until the system lets the last of them go on, which may take a hundred times as long as
the work.  So plans time several threads against one, from time to time and when runs begin to take
another time.  Where processors have other work they time a third way, if the library has it: its
threads sleep as soon as they wait, so that a processor is free for the one that they wait for.
Bits are those of as many threads that stay awake: where their number is fixed that is tried, too.

They begin with the number that a plan like them has found best; where none has, with several, or
with one where the processors have other work just then.
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
LONG_TRIAL = 0.1  #: seconds where others work: the system gives each of them some turns meanwhile
LOST = 3.0  #: times what all runs of a trial take otherwise, after which it is over
#: times what a run took, or takes: that much tells that processors have got or lost other work, and
#: the most that is believed of one run
CHANGED, BELIEVED = 1.4, 2.0
LONGEST_CALM = 16  #: times what a trial took, before a change is believed behind several


class ThreadTuner:
    """Chooses the number of threads for one segment.

    Args:
        control: sets it.
        most: how many there may be on processors that have nothing else to do.
        fixed: whether there are always as many, so that results are the same to the last bit: they
            are only tried asleep.
        asleep: the number that stands for as many threads as there may be, which sleep as soon as
            they wait; tried where processors have other work, too.  0 for no such way.
    """

    def __init__(self, control: ThreadPoolControl, most: int, fixed: bool, asleep: int = 0) -> None:
        self._control, self._most, self._asleep = control, most, asleep
        #: the numbers that are tried on processors that have nothing else to do
        self._numbers = (most,) if fixed else (most, 1)
        #: whether there is nothing to try
        self._settled = most == 1 or (fixed and not asleep)
        self._begin_anew()
        #: seconds of a run by the number of threads, in the order of their last trials
        self._seconds: dict[int, float] = {}
        self._usual = 0.0  # what a run with the best number took in its last trial
        self._rest, self._next = FIRST_REST, 0.0
        #: the same where runs take another time
        self._calm, self._soon = FIRST_REST, 0.0
        #: is called with what was found best, in the run that has shown it
        self.found: Callable[[int], None] | None = None
        self._told = 0  # what it was called with last, or was best before
        begins_busy = not self._settled and is_busy(most)
        self._start(self._numbers[-1] if begins_busy else most, LONG_TRIAL if begins_busy else 0.0)

    def _start(self, threads: int, least: float = 0.0) -> None:
        """Begin with a number of threads, tried for so many seconds."""
        self._control.threads = self._best = threads
        self._trial: _Trial | None = _Trial(threads, True, least)

    def begin_with(self, threads: int = 0) -> None:
        """Begin with a number of threads that was best before; another one is tried after a while.
        Called before anything is run; one that cannot be is left.
        """
        if not self._settled and threads in self._numbers:
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
        if self._settled:
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
            known += (min(spent, BELIEVED * known) - known) / RUNS
            self._seconds[threads] = known
            is_usual = self._usual / CHANGED < known < self._usual * CHANGED
            if not is_usual and now > self._soon:
                self._rest = self._calm = min(2 * self._calm, LONGEST_CALM)
                self._try_another(known, now)
            elif now > self._next:
                self._calm = FIRST_REST
                self._try_another(known, now)
            return 0
        trial.note(spent)
        if not trial.is_over(self._seconds.get(self._best)):
            return 0
        others = {count: known for count, known in self._seconds.items() if count != threads}
        self._seconds = others | {threads: trial.seconds}
        before, self._best = self._best, self._faster(threads)
        following = self._next_trial()
        if not self._told and following is not None and following.is_first:
            self._trial = following
            return 0
        is_sure = self._best == before or not self._told
        self._rest = min(2 * self._rest, REST) if self._best == before else FIRST_REST
        self._trial = None
        self._wait(self._seconds[self._best], trial.total, now)
        is_news = self._best not in (self._told, self._asleep) and len(self._numbers) > 1
        if not (is_sure and is_news):
            return 0
        self._told = self._best
        return self._best

    def _faster(self, threads: int) -> int:
        """The best number so far, or one that was just tried."""
        return min(self._best, threads, key=lambda count: self._seconds[count])

    def _wait(self, usual: float, spent: float, now: float) -> None:
        """Try nothing for a while.

        Args:
            usual: seconds that a run takes now.
            spent: those of the last trial.
            now: when it ended.
        """
        self._usual = usual
        self._soon = now + max(SHORTEST_REST, self._calm * spent)
        self._next = now + max(SHORTEST_REST, self._rest * spent)

    def _try_another(self, usual: float, now: float) -> None:
        """Begin a trial; where there is nothing else to try, wait as behind one."""
        self._trial = self._next_trial()
        if self._trial is None:
            self._wait(usual, (WARM + RUNS) * usual, now)

    def _next_trial(self) -> _Trial | None:
        """Of the numbers beside the best one so far, that whose trial was longest ago."""
        busy = is_busy(self._most, min(self._best, self._most))
        numbers = (*([self._asleep] * bool(busy and self._asleep)), *self._numbers)
        others = [each for each in numbers if each != self._best]
        if not others:
            return None
        tried = list(self._seconds)
        other = min(others, key=lambda each: tried.index(each) if each in tried else -1)
        return _Trial(other, other not in tried, LONG_TRIAL if busy else 0.0)


class _Trial:
    """Some runs with a number of threads.

    Args:
        threads: how many.
        is_first: whether there was none before with as many.
        least: seconds that it takes.
    """

    def __init__(self, threads: int, is_first: bool, least: float) -> None:
        self.threads, self.is_first, self._least = threads, is_first, least
        self._spent: list[float] = []

    def note(self, spent: float) -> None:
        """Count a run."""
        self._spent.append(spent)

    def is_over(self, usual: float | None) -> bool:
        """Whether enough was seen, where runs usually take so long."""
        counted = self._spent[WARM:]
        costly = sum(counted if self.is_first else self._spent)
        lost = usual is not None and costly > max(LOST * RUNS * usual, self._least)
        return lost or (len(counted) >= RUNS and sum(counted) >= self._least)

    @property
    def seconds(self) -> float:
        """What a run takes.  Something else may hold up any of them: it is believed as far as it is
        where no trial is under way.
        """
        counted = sorted(self._spent[WARM:] or self._spent)
        most = BELIEVED * counted[len(counted) // 2]
        return sum(min(spent, most) for spent in counted) / len(counted)

    @property
    def total(self) -> float:
        """Seconds of all."""
        return sum(self._spent)


def is_busy(threads: int, running: int = 1) -> bool:
    """Whether so many threads would wait for processors that others work on just now.

    Args:
        threads: how many.
        running: those of this process that may be at work, or awake.
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            all_running = int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return False
    return all_running - running + threads > (os.cpu_count() or 1)
