"""What runs in a process that reads ahead: it is sent tasks, and answers each."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, Protocol

import numpy as np

from .transfer import send

_LOOKS = 5.0  # seconds after which a worker looks whether its parent is there
#: seconds and items after which a stream answers with what it has
_PATIENCE = 0.05
AGAIN = 0  #: the task to begin a stream once more


class Job(Protocol):
    """What a worker does."""

    def begin(self, number: int) -> Callable[[Any], Any]:
        """Called once in the worker.

        Args:
            number: of the worker.

        Returns:
            a function of a task, which gives the answer.
        """


class Fetch(NamedTuple):
    """Makes batches of a data set's samples; a task is a list of their numbers."""

    dataset: Any
    collate: Callable[[list[Any]], Any]
    init: Callable[[int], Any] | None

    def begin(self, number: int) -> Callable[[Any], Any]:
        """See :class:`Job`."""
        if self.init is not None:
            self.init(number)
        return self.batch

    def batch(self, numbers: list[Any]) -> Any:
        """The samples of some numbers as a batch."""
        return self.collate([self.dataset[number] for number in numbers])


class Stream(NamedTuple):
    """Gives the items of an iterable in order; a task is a number of items, or :data:`AGAIN`.

    An answer has fewer where these take long, and None behind the last one.
    """

    source: Callable[[], Iterable[Any]]
    init: Callable[[int], Any] | None = None

    def begin(self, number: int) -> Callable[[Any], Any]:
        """See :class:`Job`."""
        if self.init is not None:
            self.init(number)
        items = iter(self.source())

        def answer(count: int) -> tuple[list[Any], bool]:
            nonlocal items
            if count == AGAIN:
                items = iter(self.source())
                return [], True
            return _several(items, count)

        return answer


def _several(items: Iterator[Any], count: int) -> tuple[list[Any], bool]:
    """Some items, and whether there may be more."""
    taken: list[Any] = []
    begin = time.monotonic()
    for item in items:
        taken.append(item)
        if len(taken) == count or time.monotonic() - begin > _PATIENCE:
            return taken, True
    return taken, False


class Failure(NamedTuple):
    """What was raised in a worker."""

    pickled: bytes | None  #: the exception, where it can be pickled
    text: str  #: what Python would have printed
    line: str  #: the last line of it

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure that an exception is."""
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        line = "".join(traceback.format_exception_only(type(error), error)).strip()
        try:
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        except Exception:
            return cls(None, text, line)
        return cls(pickled, text, line)


def work(
    connection: Connection,
    job: Job | bytes,
    number: int,
    seed: int,
    shared: bool,
    inherited: Iterable[Connection],
) -> None:
    """Answer tasks until nobody sends any more.

    Args:
        connection: to the process that sends them.
        job: what to do, or that pickled.
        number: of this worker.
        seed: what random numbers begin with.
        shared: whether arrays may go through shared memory.
        inherited: ends of connections that are the parent's, and came along with a fork.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # by this; a fork has the parent's handler
    for each in inherited:
        each.close()
    _limit_threads()
    random.seed(seed)
    np.random.seed(seed)
    try:
        function = _begin(job, number)
        for task in _tasks(connection):
            _answer(connection, function, task, shared)
    except (EOFError, OSError):  # the parent is gone, or wants no more
        pass


def _begin(job: Job | bytes, number: int) -> Callable[[Any], Any]:
    try:
        ready: Job = pickle.loads(job) if isinstance(job, bytes) else job
        return ready.begin(number)
    except BaseException as error:
        failure = error

        def fail(task: Any) -> Any:
            raise failure

        return fail


def _answer(
    connection: Connection, function: Callable[[Any], Any], task: Any, shared: bool
) -> None:
    try:
        answer = function(task)
    except BaseException as error:
        answer = Failure.of(error)
    try:
        send(connection, answer, shared)
    except (EOFError, OSError):
        raise
    except Exception as error:  # it cannot be pickled
        send(connection, Failure.of(error))


def _tasks(connection: Connection) -> Iterator[Any]:
    parent = parent_process()
    watched: list[Any] = [connection, *([] if parent is None else [parent.sentinel])]
    known = os.getppid()
    while True:
        ready = wait(watched, _LOOKS)
        if connection in ready:
            yield connection.recv()
        elif ready or os.getppid() != known:
            return


def _limit_threads() -> None:
    """Let array libraries use one thread here: there are several processes."""
    with suppress(ImportError):
        import_module("threadpoolctl").threadpool_limits(1)


def load_for_forks() -> None:
    """Import what workers need, so that processes that are forked from this one have it."""
    with suppress(ImportError):
        import_module("threadpoolctl")


__all__ = ["AGAIN", "Failure", "Fetch", "Job", "Stream", "load_for_forks", "work"]
