"""Reading ahead: a thread fills a buffer, and the reader takes from it."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import FluidError
from ..ground.threading_support import started

if TYPE_CHECKING:
    from threading import Thread

T = TypeVar("T")


class ReaderError(FluidError, RuntimeError):
    """A reader cannot go on: its worker has died, takes too long, or is that of another process."""


class Buffer(Generic[T]):
    """Items between the thread that makes them and their reader.

    Args:
        capacity: how many items are made ahead at most.
        what: the reader, for messages.
    """

    def __init__(self, capacity: int, what: str) -> None:
        self._capacity, self._what = capacity, what
        self._items: deque[T] = deque()
        self._changed = threading.Condition()
        self._ended = self._closed = False
        self._error: BaseException | None = None
        self._process = os.getpid()

    def put(self, item: T) -> bool:
        """Add an item, when there is room.  Returns whether anybody will read it."""
        with self._changed:
            while len(self._items) >= self._capacity and not self._closed:
                self._changed.wait()
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def end(self, error: BaseException | None = None) -> None:
        """Say that there are no more items, or what went wrong in making the next one."""
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._items)

    def close(self) -> None:
        """Let nobody read any more; the thread that makes items ends."""
        if self._process != os.getpid():  # the lock may be one that nobody will ever release
            return
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

    def take(self) -> T:
        """The next item.

        Raises:
            StopIteration: there are no more.
            BaseException: what was raised where items are made, with its traceback.
            ReaderError: the thread belongs to the process that this one was forked from.
        """
        if self._process != os.getpid():
            raise ReaderError(
                f"{self._what} was started in process {self._process} and is read in process "
                f"{os.getpid()}, which was forked from it and has none of its threads; start the "
                f"reader in the process that reads it"
            )
        with self._changed:
            while not self._items and not self._ended and not self._closed:
                self._changed.wait()
            if self._items:
                item = self._items.popleft()
                if len(self._items) <= self._capacity // 2:
                    self._changed.notify_all()  # each time, the two threads would take turns
                return item
            error, self._error = self._error, None
        if error is None:
            raise StopIteration
        try:
            raise error
        finally:
            del error  # which its own traceback would keep alive


class Ahead(Iterator[T]):
    """The items of an iterable, made ahead by a thread.

    The thread ends when the items do, and soon after this is closed or forgotten. If the system
    refuses threads, each item is made when it is read.

    Args:
        source: called in the thread; gives the items.
        capacity: how many are made ahead at most.
        what: the reader, for messages.

    >>> list(Ahead(lambda: range(3), 2, "a reader"))
    [0, 1, 2]
    """

    def __init__(self, source: Callable[[], Iterable[T]], capacity: int, what: str) -> None:
        self._buffer: Buffer[T] = Buffer(capacity, what)
        self._finish = weakref.finalize(self, self._buffer.close)
        self._items: Generator[T, None, None] | None = None  # without a thread
        self.thread: Thread | None = started(_fill, what, source, self._buffer)
        if self.thread is None:
            self._items = _in_place(source)

    def __iter__(self) -> Ahead[T]:
        return self

    def __next__(self) -> T:
        return self._buffer.take() if self._items is None else next(self._items)

    def size(self) -> int:
        """How many items there are."""
        return len(self._buffer)

    def close(self) -> None:
        """Stop reading."""
        self._finish()
        if self._items is not None:
            self._items.close()


def _in_place(source: Callable[[], Iterable[T]]) -> Generator[T, None, None]:
    """The items of an iterable, each made when it is read."""
    yield from source()


def _fill(source: Callable[[], Iterable[T]], buffer: Buffer[T]) -> None:
    """Put the items of an iterable into a buffer, until there are no more or nobody reads them."""
    items: Any = None
    try:
        items = iter(source())
        for item in items:
            if not buffer.put(item):
                break
            del item  # it may be large, and the next one takes long
    except BaseException as error:
        buffer.end(error)
    else:
        buffer.end()
    finally:
        close = getattr(items, "close", None)
        if close is not None:  # a generator's finally runs here, not wherever it is forgotten
            close()


__all__ = ["Ahead", "Buffer", "ReaderError"]
