"""Readers: functions without arguments that return the items of a data set, and what makes readers
of readers.

Each call of a reader starts again from the beginning.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import ArgumentError, FluidError
from .ground import seeding
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.threading_support import has_threads, started
from .ground.tracebacks import api_boundaries

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Reader = Callable[[], Iterable[Any]]

_END = object()  #: behind the last item of a queue


class ComposeNotAligned(FluidError, ValueError):
    """Readers that are read side by side have different numbers of items.

    >>> pairs = fluid.io.compose(lambda: range(2), lambda: range(3))
    >>> [*pairs()]
    Traceback (most recent call last):
    ...
    fluidlite.reader.ComposeNotAligned: ...
    """


def batch(reader: Reader, batch_size: int, drop_last: bool = False) -> Reader:
    """A reader of lists of items.

    Args:
        reader: gives the items.
        batch_size: how many make a list; anything that ``int`` makes a positive number of.
        drop_last: whether to leave out a last list that is shorter.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> list(batch(lambda: range(5), batch_size=2)())
    [[0, 1], [2, 3], [4]]
    """
    _need_readers("batch", reader)
    size = _count("batch", "batch_size", batch_size, least=1)

    def batches() -> Iterator[list[Any]]:
        items = iter(reader())
        while part := list(itertools.islice(items, size)):
            if len(part) == size or not drop_last:
                yield part

    return batches


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """A reader of the same items in another order, drawn by Python's ``random``, but behind
    ``fluid.seed``.

    Args:
        reader: gives the items.
        buf_size: how many items are kept to draw from; an item stays among these.  Less than 2
            leaves them in their order.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> sorted(shuffle(lambda: range(5), buf_size=3)())
    [0, 1, 2, 3, 4]
    """
    import random

    _need_readers("shuffle", reader)
    size = max(_count("shuffle", "buf_size", buf_size), 1)

    def shuffled() -> Iterator[Any]:
        items = iter(reader())
        while part := list(itertools.islice(items, size)):
            if seeding.seeds.get().orders is None:
                random.shuffle(part)
            else:
                part = seeding.shuffled(part)
            yield from part

    return shuffled


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """A reader of ``func`` of the items of readers, one of each.

    Args:
        func: takes as many items as there are readers.
        readers: give the items; the shortest says how many.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> list(map_readers(lambda a, b: a + b, lambda: [1, 2], lambda: [10, 20])())
    [11, 22]
    """
    _need_readers("map_readers", *readers)
    _need_function("map_readers", "func", func)

    def mapped() -> Iterator[Any]:
        yield from map(func, *(reader() for reader in readers))

    return mapped


def chain(*readers: Reader) -> Reader:
    """A reader of the items of one reader after the other.

    Raises:
        ArgumentError: an argument is no reader.

    >>> list(chain(lambda: [1, 2], lambda: [3])())
    [1, 2, 3]
    """
    _need_readers("chain", *readers)

    def chained() -> Iterator[Any]:
        for reader in readers:
            yield from reader()

    return chained


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """A reader of tuples of the items of readers, one of each; items that are tuples are joined.

    Args:
        readers: give the items.
        check_alignment: whether readers with different numbers of items are refused; else the
            shortest says how many.

    Raises:
        ArgumentError: an argument is no reader.
        ComposeNotAligned: while reading, one ends before another.

    >>> list(compose(lambda: [(1, 2), (3, 4)], lambda: ["a", "b"])())
    [(1, 2, 'a'), (3, 4, 'b')]
    """
    _need_readers("compose", *readers)

    def composed() -> Iterator[tuple[Any, ...]]:
        rows = itertools.zip_longest(*(reader() for reader in readers), fillvalue=_END)
        for number, row in enumerate(rows):
            ended = [k for k, item in enumerate(row) if item is _END]
            if ended and check_alignment:
                raise ComposeNotAligned(
                    f"compose: expected readers of as many items as each other, reader {ended[0]} "
                    f"ends after {number} and another goes on"
                )
            if ended:
                return
            parts = (item if isinstance(item, tuple) else (item,) for item in row)
            yield tuple(itertools.chain.from_iterable(parts))

    return composed


def cache(reader: Reader) -> Reader:
    """A reader of the same items that reads them once and keeps them.

    Raises:
        ArgumentError: the argument is no reader.

    >>> kept = cache(lambda: [1, 2])
    >>> list(kept()), list(kept())
    ([1, 2], [1, 2])
    """
    _need_readers("cache", reader)
    items: list[tuple[Any, ...]] = []

    def cached() -> Iterator[Any]:
        if not items:
            items.append(tuple(reader()))
        yield from items[0]

    return cached


def firstn(reader: Reader, n: int) -> Reader:
    """A reader of the first items.

    Args:
        reader: gives the items.
        n: how many; all where it is negative.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> list(firstn(itertools.count, 3)())
    [0, 1, 2]
    """
    _need_readers("firstn", reader)
    count = _count("firstn", "n", n)

    def first() -> Iterator[Any]:
        yield from itertools.islice(reader(), count if count >= 0 else None)

    return first


def buffered(reader: Reader, size: int) -> Reader:
    """A reader of the same items that reads ahead in a thread, if the system has threads.

    Args:
        reader: gives the items.
        size: how many are read ahead at most; any number where it is 0 or less.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> list(buffered(lambda: range(3), size=2)())
    [0, 1, 2]
    """
    _need_readers("buffered", reader)
    most = _count("buffered", "size", size)

    def read_ahead() -> Iterator[Any]:
        items: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(most)
        left = threading.Event()  # set when nobody reads any more

        def fill() -> None:
            end: tuple[Any, BaseException | None] = (_END, None)
            try:
                for item in reader():
                    items.put((item, None))
                    if left.is_set():
                        return
            except BaseException as error:
                end = (_END, error)
            items.put(end)

        if started(fill, "fluid.io.buffered") is None:
            yield from reader()
            return
        try:
            while True:
                item, error = items.get()
                if error is not None:
                    raise error
                if item is _END:
                    return
                yield item
        finally:
            left.set()
            while not items.empty():  # a thread that waits for room goes on and sees the flag
                items.get_nowait()

    return read_ahead


def xmap_readers(
    mapper: Callable[[Any], Any],
    reader: Reader,
    process_num: int,
    buffer_size: int,
    order: bool = False,
) -> Reader:
    """A reader of ``mapper`` of each item, computed by several threads.

    Args:
        mapper: a function of an item.
        reader: gives the items.
        process_num: the number of threads.
        buffer_size: how many items are worked on ahead at most; any number where it is 0 or less.
        order: whether results come in the order of the items; else as they are ready.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> list(xmap_readers(lambda n: n * n, lambda: range(4), 2, 3, order=True)())
    [0, 1, 4, 9]
    """
    _need_readers("xmap_readers", reader)
    _need_function("xmap_readers", "mapper", mapper)
    threads = _count("xmap_readers", "process_num", process_num, least=1)
    most = _count("xmap_readers", "buffer_size", buffer_size)
    results = _in_order if order else _as_ready

    def mapped() -> Iterator[Any]:
        from concurrent.futures import ThreadPoolExecutor

        if not has_threads("fluid.io.xmap_readers"):
            yield from map(mapper, reader())
            return
        with ThreadPoolExecutor(threads) as pool:
            try:
                for future in results(pool, mapper, reader, most):
                    yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    return mapped


def _in_order(
    pool: ThreadPoolExecutor, mapper: Callable[[Any], Any], reader: Reader, size: int
) -> Iterator[Future[Any]]:
    waiting: deque[Future[Any]] = deque()
    for item in reader():
        waiting.append(pool.submit(mapper, item))
        if len(waiting) == size:
            yield waiting.popleft()
    yield from waiting


def _as_ready(
    pool: ThreadPoolExecutor, mapper: Callable[[Any], Any], reader: Reader, size: int
) -> Iterator[Future[Any]]:
    ready: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    waiting = 0
    for item in reader():
        pool.submit(mapper, item).add_done_callback(ready.put)
        waiting += 1
        if waiting == size:
            yield ready.get()
            waiting -= 1
    for _ in range(waiting):
        yield ready.get()


#: what of fluid 1.8's ``fluid.reader`` is in modules that are loaded at its first use
_ELSEWHERE = {
    **dict.fromkeys(["GeneratorLoader", "PyReader", "keep_data_loader_order"], "generator"),
    **dict.fromkeys(["DataLoader", "DatasetLoader"], "loader"),
    **dict.fromkeys(["BatchSampler", "Dataset"], "datasets"),
    "default_collate_fn": "collation",
    "multiprocess_reader": "merging",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__package__}.readers.{_ELSEWHERE[name]}")
    return getattr(module, name)


def _need_readers(what: str, *readers: Any) -> None:
    for reader in readers:
        if not callable(reader):
            raise ArgumentError(
                f"{what}: expected a reader, a function without arguments that returns items, "
                f"got {reader!r:.60} of type {type(reader).__name__}"
            )


def _need_function(what: str, argument: str, value: Any) -> None:
    if not callable(value):
        raise ArgumentError(f"{what}: expected {argument} to be a function, got {value!r:.60}")


def _count(what: str, argument: str, value: Any, least: int | None = None) -> int:
    """A number of items, of whatever ``int`` takes, as fluid 1.8's readers take it."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or (least is not None and number < least):
        wanted = "an integer" if least is None else f"an integer of at least {least}"
        raise ArgumentError(f"{what}: expected {argument} to be {wanted}, got {value!r:.60}")
    return number


__all__ = [
    "ComposeNotAligned", "batch", "buffered", "cache", "chain", "compose", "firstn", "map_readers",
    "shuffle", "xmap_readers",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
