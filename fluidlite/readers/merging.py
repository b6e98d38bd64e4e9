"""Readers that run in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import ArgumentError
from ..ground.callsite import caller, warn
from ..reader import Reader
from .buffer import Ahead
from .processes import WorkerPool, streamed, why_not
from .worker import Stream

_CHUNK = 16  # items that are sent at once, at most


def multiprocess_reader(
    readers: Sequence[Reader], use_pipe: bool = True, queue_size: int = 1000
) -> Reader:
    """A reader of the items of several readers, each of which runs in a process of its own; items
    come as they are ready.

    Args:
        readers: give the items, numbers or arrays or lists of such.
        use_pipe: not read: items come in one way, small ones through a pipe.
        queue_size: how many items are read ahead at most.

    Raises:
        ArgumentError: an argument is of another kind; while reading, an item is None.

    >>> both = fluid.io.multiprocess_reader([lambda: iter([1, 2]), lambda: iter([3])])
    >>> sorted(both())
    [1, 2, 3]
    """
    if not isinstance(readers, (list, tuple)) or not readers:
        raise ArgumentError(f"multiprocess_reader: expected a list of readers, got {readers!r:.60}")
    for reader in readers:
        if not callable(reader):
            raise ArgumentError(
                f"multiprocess_reader: expected readers, functions without arguments that return "
                f"items, got {reader!r:.60}"
            )
    if not isinstance(queue_size, int) or queue_size < 1:
        raise ArgumentError(
            f"multiprocess_reader: expected queue_size of 1 or more, got {queue_size!r:.60}"
        )
    site = caller()
    what = f"multiprocess_reader made at {site}"
    turns = [0]

    def merged() -> Iterator[Any]:
        jobs = [Stream(reader) for reader in readers]
        reason = next((why for job in jobs if (why := why_not(job)) is not None), None)
        if reason is not None:
            if not turns[0]:
                warn(f"multiprocess_reader reads in threads, in place of processes: {reason}", site)
            turns[0] += 1
            yield from map(checked, in_threads(readers, queue_size, what))
            return
        turns[0] += 1
        pool = WorkerPool(jobs, what, turn=turns[0])
        most = max(1, queue_size // len(jobs))
        yield from map(checked, streamed(pool, most, min(_CHUNK, max(1, most // 2))))

    def checked(item: Any) -> Any:
        if item is None:
            raise ArgumentError(f"{what}: expected readers to give samples, got None")
        return item

    return merged


def in_threads(readers: Sequence[Reader], capacity: int, what: str) -> Iterator[Any]:
    """The items of readers, each read ahead by a thread, one reader after the other.

    Args:
        readers: they.
        capacity: how many items of each are read ahead at most.
        what: the reader, for messages.
    """
    started = [Ahead(reader, capacity, what) for reader in readers]
    try:
        for ahead in started:
            yield from ahead
    finally:
        for ahead in started:
            ahead.close()


__all__ = ["multiprocess_reader"]
