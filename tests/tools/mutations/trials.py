"""Tests tried on faults: a plug-in of pytest that collects once and forks for every fault."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

from .faults import ROOT, Fault, Site, changed_code

SECONDS = 60.0  #: of tests that are tried on one fault
LONGER = 6  #: times as long a test may take with a fault
MEMORY = 4 << 30  #: that tests may take with a fault, beyond what there is
PACKAGE = str(ROOT / "fluidlite")

Place = tuple[str, str, int]  #: file, name and first line of a function


@dataclass
class Outcome:
    """What came of a fault; ``by`` names the test that found it, or the end of its process."""

    found: bool
    by: str = ""
    tried: int = 0


@dataclass
class Test:
    """What a test calls, how long it takes, and whether it fails without a fault."""

    seconds: float
    failed: bool
    called: set[Place]


class Trials:
    """Runs the tests that reach a fault until one fails.

    Args:
        choose: the faults, from the functions that tests call.
        tell: called with each fault and its outcome.
        jobs: how many processes work at a time.
        kept: a file with what tests call, by name; written when some are not there.
    """

    def __init__(
        self,
        choose: Callable[[set[Place]], Iterable[Site]],
        tell: Callable[[Fault, Outcome], None],
        jobs: int,
        kept: Path | None,
    ) -> None:
        self.choose, self.tell, self.jobs, self.kept = choose, tell, jobs, kept
        self.failed = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session: Any) -> bool:
        self.items, self.protocol = session.items, session.config.hook.pytest_runtest_protocol
        self.functions = functions_of_the_package()
        session.config.pluginmanager.unregister(name="terminalreporter")
        gc.freeze()
        self.tests = self.recorded()
        self.callers: dict[Place, list[int]] = defaultdict(list)
        for index, item in enumerate(self.items):
            if item.nodeid in self.tests:
                for place in self.tests[item.nodeid].called:
                    self.callers[place].append(index)
        failing = [name for name, test in self.tests.items() if test.failed]
        print(f"{len(self.items)} tests; without a fault fail {failing}", flush=True)
        for site, outcome in forked(list(self.choose(set(self.callers))), self.trial, self.jobs):
            if isinstance(outcome, LookupError):
                print(f"cannot be made: {outcome}", flush=True)
            else:
                ended = Outcome(True, str(outcome))
                self.tell(site.fault, outcome if isinstance(outcome, Outcome) else ended)
        return True

    def run(self, index: int, following: int | None) -> bool:
        """Run one test; whether it failed."""
        self.failed = False
        following_item = None if following is None else self.items[following]
        self.protocol(item=self.items[index], nextitem=following_item)
        return self.failed

    def recorded(self) -> dict[str, Test]:
        """Runs tests once, without a fault, and notes what they call."""
        tests: dict[str, Test] = {}
        if self.kept is not None and self.kept.exists():
            tests = pickle.loads(self.kept.read_bytes())
        by_file: dict[str, list[int]] = defaultdict(list)
        for index, item in enumerate(self.items):
            if item.nodeid not in tests:
                by_file[item.nodeid.split("::")[0]].append(index)
        for indices, part in forked(list(by_file.values()), self.record, self.jobs):
            if isinstance(part, dict):
                tests.update(part)
            else:
                print(f"{self.items[indices[0]].nodeid} and those after it: {part}", flush=True)
        if self.kept is not None and by_file:
            self.kept.write_bytes(pickle.dumps(tests))
        return tests

    def record(self, indices: list[int]) -> dict[str, Test]:
        tests, known = {}, {}  # each place is kept once
        for index, following in zip(indices, [*indices[1:], None]):
            with calls() as called:
                begin = time.process_time()
                failed = self.run(index, following)
                seconds = time.process_time() - begin
            places = (
                (code.co_filename, code.co_name, code.co_firstlineno)
                for code in called.copy().values()  # threads may go on
                if code.co_filename.startswith(PACKAGE)
            )
            called_here = {known.setdefault(place, place) for place in places}
            tests[self.items[index].nodeid] = Test(seconds, failed, called_here)
        return tests

    def trial(self, site: Site) -> Outcome | LookupError:
        """In a process of its own: make the fault, and run tests until one fails."""
        order = self.in_turn(str(ROOT / site.fault.file), *site.inner)
        try:
            self.make(site)
        except LookupError as error:
            return error
        with open("/proc/self/statm") as file:
            used = resource.getpagesize() * int(file.read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        for tried, (index, following) in enumerate(zip(order, [*order[1:], None]), 1):
            seconds = LONGER * (1 + self.tests[self.items[index].nodeid].seconds)
            limit = int(time.process_time() + seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            signal.alarm(20 * int(seconds))  # of what waits for ever
            if self.run(index, following):
                return Outcome(True, self.items[index].nodeid, tried)
        return Outcome(False, "", len(order))

    def in_turn(self, *place: Any) -> list[int]:
        """The tests that reach a function, and pass without a fault, from fast to slow: one case of
        every test before the second of any, until the time is spent.
        """
        seconds = {k: self.tests[self.items[k].nodeid].seconds for k in self.callers[place]}
        groups: dict[str, list[int]] = defaultdict(list)
        for index in sorted(seconds, key=seconds.__getitem__):
            if not self.tests[self.items[index].nodeid].failed:
                groups[self.items[index].nodeid.split("[")[0]].append(index)
        rounds = max(map(len, groups.values()), default=0)
        order = [g[k] for k in range(rounds) for g in groups.values() if k < len(g)]
        return [
            k for k, spent in zip(order, accumulate(map(seconds.get, order))) if spent <= SECONDS
        ]

    def make(self, site: Site) -> None:
        """Give the functions that there are the code with the fault."""
        changed = 0
        for good, bad in changed_code(site):
            for function in self.functions[good.co_filename, good.co_name, good.co_firstlineno]:
                if function.__code__ == good:
                    function.__code__ = bad
                    changed += 1
        if not changed:
            raise LookupError(f"no function that exists has the code of {site.fault}")


def functions_of_the_package() -> dict[Place, list[FunctionType]]:
    """The functions of the package that exist, those inside of functions by what made them."""
    found: dict[Place, list[FunctionType]] = defaultdict(list)
    gc.unfreeze()  # what is frozen is not among the objects
    for function in gc.get_objects():
        if type(function) is FunctionType:
            code = function.__code__
            if code.co_filename.startswith(PACKAGE):
                found[code.co_filename, code.co_name, code.co_firstlineno].append(function)
    return found


@contextlib.contextmanager
def calls() -> Iterator[dict[int, Any]]:
    """The code that is called inside, in every thread that begins there."""
    found: dict[int, Any] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found[id(frame.f_code)] = frame.f_code

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def forked(tasks: list[Any], work: Callable[[Any], Any], jobs: int) -> Iterator[tuple[Any, Any]]:
    """Tasks with what ``work`` returned for them in processes of their own, as they end.

    What comes in place of a result is a word for how a process ended that gave none.
    """
    waiting, running = list(reversed(tasks)), {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.pop()
                path = os.path.join(folder, str(len(waiting)))
                sys.stdout.flush()
                pid = os.fork()
                if not pid:
                    _in_child(work, task, path)
                running[pid] = task, path
            pid, status = os.wait()
            if pid not in running:
                continue
            task, path = running.pop(pid)
            result: Any = f"the process ended with {signal_or_status(status)}"
            if os.path.exists(path):
                with open(path, "rb") as file:
                    result = pickle.load(file)
                os.unlink(path)
            yield task, result


def signal_or_status(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"status {os.waitstatus_to_exitcode(status)}"


def _in_child(work: Callable[[Any], Any], task: Any, path: str) -> None:
    """Work, silently, and write the result to a file."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        result = work(task)
        with open(path + ".part", "wb") as file:
            pickle.dump(result, file)
        os.rename(path + ".part", path)
    finally:
        os._exit(1)
