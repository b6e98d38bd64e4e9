"""Processes that read ahead.

They are started as Python starts processes where it runs, or as the program said by
``multiprocessing.set_start_method``: forked up to Python 3.13 on Linux, by a fork server from 3.14
on, spawned elsewhere.  Where they are not forked, what they read is pickled, and the main script is
imported by each: it needs ``if __name__ == "__main__":``.  :func:`why_not` says what stands against
processes; readers then read in a thread.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import pickle
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn

import numpy as np

from ..ground.signal_names import signal_name
from ..ground.threading_support import why_no_processes
from .buffer import ReaderError
from .transfer import receive
from .worker import AGAIN, Failure, Job, load_for_forks, work

#: how workers are ended, one way after the other, and the seconds that each gets
_ENDS = ((None, 0.1), ("terminate", 1.0), ("kill", 1.0))
AHEAD = 2  #: tasks that a worker has at most
_LONG = 2000  # numbers in a task that is sent only to a worker that waits for one
#: this process's ends of connections to workers: a fork inherits them, and has to let go of them
_ends: weakref.WeakSet[Connection] = weakref.WeakSet()
_starting = [threading.Lock()]


def _begin_anew() -> None:
    """Forget a lock that a thread held which a forked process does not have."""
    _starting[0] = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


class WorkerTraceback(Exception):
    """The traceback of an exception that was raised in another process: the cause of that
    exception here.
    """

    def __str__(self) -> str:
        return "\n" + super().__str__()


def start_method() -> str:
    """How processes are started: "fork", "forkserver" or "spawn"."""
    return multiprocessing.get_context().get_start_method()


def pickled(job: Job) -> bytes | None:
    """A job as bytes, for processes that are not forked; None where a fork copies it.

    Raises:
        Exception: it cannot be pickled.
    """
    return None if start_method() == "fork" else bytes(ForkingPickler.dumps(job))


def why_not(job: Job) -> str | None:
    """Why a job cannot be done by another process; None where it can."""
    why = why_no_processes()
    if why is not None:
        return why
    if multiprocessing.current_process().daemon:
        return "this process is a daemon, which cannot start others"
    try:
        data = pickled(job)
    except Exception as error:
        return f"processes are started by {start_method()!r}, and it cannot be pickled: {error}"
    if data is None:
        return None
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is None or getattr(main, "__spec__", None) is not None:
        return _INTERACTIVE if path is None and b"__main__" in data else None
    return None if _is_guarded(path) else _UNGUARDED.format(start_method(), path)


_INTERACTIVE = "it is defined in the main program, which is not a file that a process could import"
_UNGUARDED = (
    "processes are started by {!r}, and each imports {}, which would run it once more: put what it "
    'does under if __name__ == "__main__":'
)


def _is_guarded(path: str) -> bool:
    """Whether a script looks at its name before it does something."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return True
    return any(
        isinstance(node, ast.If)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
        for node in tree.body
    )


class WorkerPool:
    """Processes that answer tasks.

    Each is started with its first task, so that it is at work while the next one is started.
    They end when this is closed or forgotten, and when this process ends.

    Args:
        jobs: one for each process.
        what: the reader, for messages.
        timeout: seconds to wait for an answer; without end when 0.
        shared: whether arrays may go through shared memory.
        turn: how often there were such processes before; tells their random numbers apart.
    """

    def __init__(
        self, jobs: Sequence[Job], what: str, timeout: float = 0, shared: bool = True, turn: int = 0
    ) -> None:
        self._what, self._timeout, self._owner = what, timeout, os.getpid()
        self._jobs, self._shared = list(jobs), shared
        self._connections: dict[int, Connection] = {}
        self._processes: dict[int, Any] = {}
        #: how many tasks each has
        self.loads: list[int] = [0] * len(jobs)
        self._finish = weakref.finalize(
            self, _shut_down, self._owner, self._processes, self._connections
        )
        self._seed = _seed_of_now() + turn * len(jobs)

    def _start(self, number: int) -> None:
        context = multiprocessing.get_context()
        forks = start_method() == "fork"
        if forks:
            load_for_forks()
        job = self._jobs[number]
        payload: Any = pickled(job) or job
        seed = (self._seed + number) % 2**32
        with _starting[0]:  # so that no other fork inherits what is only half known
            ours, theirs = multiprocessing.Pipe()
            _ends.add(ours)
            inherited = list(_ends) if forks else []
            process = context.Process(
                target=work,
                args=(theirs, payload, number, seed, self._shared, inherited),
                name=f"{self._what}, worker {number}",
                daemon=True,
            )
            with warnings.catch_warnings():  # a fork of a process with threads: workers use none
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
        self._connections[number] = ours
        self._processes[number] = process

    def submit(self, number: int, task: Any) -> None:
        """Give a worker a task; it answers them in their order.

        Raises:
            ReaderError: the worker has died, or is that of another process.
        """
        self._check_owner()
        try:
            if number not in self._processes:
                self._start(number)
        except BaseException:
            self.close()
            raise
        try:
            self._connections[number].send(task)
        except OSError:
            self._fail_dead(number)
        self.loads[number] += 1

    def answer(self) -> tuple[int, Any]:
        """The number of a worker, and its answer to its next task.

        Raises:
            BaseException: what was raised in a worker; its cause tells the traceback there.
            ReaderError: a worker has died, or none answers in time.
        """
        self._check_owner()
        busy = [number for number, load in enumerate(self.loads) if load]
        watched: dict[Any, int] = {self._connections[number]: number for number in busy}
        sentinels = {self._processes[number].sentinel: number for number in busy}
        try:
            ready = wait([*watched, *sentinels], self._timeout or None)
            for each in ready:
                if each in watched:
                    number = watched[each]
                    found = receive(self._connections[number])
                    self.loads[number] -= 1
                    return number, self._opened(number, found)
        except (EOFError, ConnectionError):
            self._fail_dead(number)
        except BaseException:  # what is half read cannot be read on
            self.close()
            raise
        if ready:
            self._fail_dead(sentinels[ready[0]])
        self.close()
        raise ReaderError(
            f"{self._what}: expected a batch within timeout={self._timeout:g} s, worker "
            f"{' and '.join(map(str, busy))} gave none; let timeout be longer, or 0 to wait"
        )

    def _opened(self, number: int, found: Any) -> Any:
        """An answer; raises what a failure says."""
        if not isinstance(found, Failure):
            return found
        told = WorkerTraceback(
            f"in worker {number} of {self._what} (process {self._processes[number].pid}):\n"
            f"{found.text}"
        )
        if found.pickled is not None:
            raise pickle.loads(found.pickled) from told
        raise ReaderError(f"{self._what}: worker {number} raised {found.line}") from told

    def _fail_dead(self, number: int) -> NoReturn:
        process = self._processes[number]
        process.join(1.0)
        code, pid = process.exitcode, process.pid
        self.close()
        how = f"ended with exit status {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal_name(-code)}"
            how += ": the system may be out of memory" if signal_name(-code) == "SIGKILL" else ""
        raise ReaderError(f"{self._what}: worker {number} (process {pid}) {how}")

    def _check_owner(self) -> None:
        if self._owner != os.getpid():
            raise ReaderError(
                f"{self._what} was started in process {self._owner} and is read in process "
                f"{os.getpid()}, which was forked from it; start it in the process that reads it"
            )

    def release(self, number: int) -> None:
        """Let a worker that has answered all tasks end, while others go on."""
        self._connections[number].close()

    def close(self) -> None:
        """End the processes."""
        self._finish()

    @property
    def is_closed(self) -> bool:
        """Whether the processes have ended."""
        return not self._finish.alive


def _shut_down(
    owner: int, processes: Mapping[int, Any], connections: Mapping[int, Connection]
) -> None:
    """End workers: those that wait do so by themselves."""
    if owner != os.getpid():  # they are those of another process
        return
    try:
        for connection in connections.values():
            connection.close()
        for end, seconds in _ENDS:
            deadline = time.monotonic() + seconds
            for process in processes.values():
                if end is not None and process.is_alive():
                    getattr(process, end)()
            for process in processes.values():
                process.join(max(deadline - time.monotonic(), 0))
            if not any(process.is_alive() for process in processes.values()):
                break
    except BaseException:  # an interrupt; nobody comes here again
        for process in processes.values():
            process.kill()
            process.join()
        raise


def _seed_of_now() -> int:
    """What NumPy would draw next; it still will."""
    source = np.random.RandomState()
    source.set_state(np.random.get_state())
    return int(source.randint(2**31))


def in_order(
    pool: WorkerPool, tasks: Iterable[Any], ahead: int = AHEAD, keeps: bool = False
) -> Iterator[Any]:
    """The answers to tasks, in the order of these; the first free process gets the next one.

    Args:
        pool: closed at the end.
        tasks: lists of numbers.
        ahead: how many a worker has at most.
        keeps: whether the processes stay where all tasks are answered.
    """
    ended = False
    try:
        waiting: list[list[int]] = [[] for _ in pool.loads]  # by worker: numbers of tasks
        done: dict[int, Any] = {}
        remaining = enumerate(tasks)
        held = next(remaining, None)
        wanted = 0
        while True:
            while held is not None and held[0] - wanted < 2 * ahead * len(pool.loads):
                free = min(range(len(pool.loads)), key=pool.loads.__getitem__)
                if pool.loads[free] >= (ahead if len(held[1]) < _LONG else 1):
                    break
                pool.submit(free, held[1])
                waiting[free].append(held[0])
                held = next(remaining, None)
            if not any(pool.loads) and not done:
                ended = True
                return
            while wanted not in done:
                number, found = pool.answer()
                done[waiting[number].pop(0)] = found
                if held is None and not pool.loads[number] and not keeps:
                    pool.release(number)
            yield done.pop(wanted)
            wanted += 1
    finally:
        if not (keeps and ended):
            pool.close()


def in_turn(pool: WorkerPool, ahead: int = AHEAD, keeps: bool = False) -> Iterator[Any]:
    """The items of the streams of workers: one of each in turn, as long as it has any.

    Args:
        pool: of streams; closed at the end.
        ahead: how many items each is ahead at most.
        keeps: whether the processes stay where all streams have ended; these begin again then.
    """
    live = list(range(len(pool.loads)))
    waiting: list[deque[Any]] = [deque() for _ in live]
    place, ended = 0, False
    try:
        for number in live:
            for _ in range(ahead):
                pool.submit(number, 1)
        while live:
            number = live[place]
            while not waiting[number]:
                other, (items, _) = pool.answer()
                waiting[other].append(items)
            items = waiting[number].popleft()
            if items:
                pool.submit(number, 1)
                yield items[0]
                place += 1
            else:
                live.remove(number)
            place %= max(len(live), 1)
        if keeps:
            for number in range(len(waiting)):
                pool.submit(number, AGAIN)
            while any(pool.loads):
                pool.answer()
        ended = True
    finally:
        if not (keeps and ended):
            pool.close()


def streamed(pool: WorkerPool, capacity: int, chunk: int = 1) -> Iterator[Any]:
    """The items of the streams of workers, as they come; those of one in their order.

    Args:
        pool: of streams; closed at the end.
        capacity: how many items each is ahead at most.
        chunk: how many are sent at once, at most.
    """
    try:
        chunk = max(1, min(chunk, capacity))
        for number in range(len(pool.loads)):
            for _ in range(max(1, capacity // chunk)):
                pool.submit(number, chunk)
        ended: set[int] = set()
        while len(ended) < len(pool.loads) or any(pool.loads):
            number, (items, goes_on) = pool.answer()
            yield from items
            if not goes_on:
                ended.add(number)
                pool.loads[number] = 0
                pool.release(number)
            else:
                pool.submit(number, chunk)
    finally:
        pool.close()


__all__ = [
    "AHEAD", "WorkerPool", "WorkerTraceback", "in_order", "in_turn", "pickled", "start_method",
    "streamed", "why_not",
]  # fmt: skip
