"""BatchMaker of a data set's samples: made in a thread of this process, or by others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import closing
from itertools import islice
from typing import Any, cast

from ..errors import ArgumentError
from ..ground.arguments import integer
from ..ground.callsite import caller, warn
from ..ground.reprs import Described
from .buffer import Ahead
from .collation import default_collate_fn
from .datasets import BatchSampler, IterableDataset, Samples
from .processes import AHEAD, WorkerPool, in_order, in_turn, streamed, why_not
from .worker import Fetch, Stream

_BUFFERED = 2  # batches that a thread reads ahead


class BatchMaker(Described):
    """What makes batches of a data set's samples; loaders say in which form they are given.

    Args:
        dataset: has samples by number and a length; or gives samples in order.
        batch_sampler: gives the numbers of the samples of each batch, in place of the next
            three.
        batch_size: how many samples a batch has.
        shuffle: whether NumPy's generator draws another order for each pass.
        drop_last: whether to leave out a last batch that has fewer.
        collate_fn: makes a batch of a list of samples; :func:`default_collate_fn` when None.
        num_workers: how many processes make batches; 0 for a thread of this process.
        use_buffer_reader: where there are no processes, whether a thread reads ahead.
        use_shared_memory: whether what processes make comes through memory that is shared.
        timeout: seconds to wait for a batch of the processes; without end when 0.
        worker_init_fn: called in each process first, with its number.
        prefetch_factor: how many batches each process reads ahead.
        persistent_workers: whether the processes stay from pass to pass.
        shares_streams: whether each process reads a data set that is read in order, and gives what
            it finds there in turn; else one process reads it.

    Raises:
        ArgumentError: an argument is of another kind, or two of them exclude each other.
    """

    def __init__(
        self,
        dataset: Samples | Iterable[Any],
        batch_sampler: Iterable[Sequence[int]] | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        prefetch_factor: int = AHEAD,
        persistent_workers: bool = False,
        shares_streams: bool = False,
    ) -> None:
        self._site = caller()
        self.what: str = f"DataLoader made at {self._site}"
        if num_workers < 0 or timeout < 0:
            name, value = ("num_workers", num_workers) if num_workers < 0 else ("timeout", timeout)
            raise ArgumentError(f"DataLoader: expected {name} of 0 or more, got {value!r:.60}")
        for name, function in (("collate_fn", collate_fn), ("worker_init_fn", worker_init_fn)):
            if function is not None and not callable(function):
                raise ArgumentError(
                    f"DataLoader: expected {name} to be a function, got {function!r:.60}"
                )
        self.dataset: Any = dataset
        self.num_workers = num_workers
        self.timeout = timeout
        self.collate_fn: Any = collate_fn or default_collate_fn
        self.worker_init_fn, self.use_shared_memory = worker_init_fn, use_shared_memory
        self.use_buffer_reader = use_buffer_reader
        self.prefetch_factor: int = integer(self, "prefetch_factor", prefetch_factor)
        self._stays, self._shares_streams = bool(persistent_workers), shares_streams
        self._pool: WorkerPool | None = None  # where processes stay
        self._turn, self._told = 0, False
        self._in_order = not _is_by_number(dataset)
        self.drop_last = drop_last
        if batch_sampler is not None and (batch_size != 1 or shuffle or drop_last):
            raise ArgumentError(
                "DataLoader: expected batch_sampler alone, or batch_size, shuffle and drop_last; "
                "got both"
            )
        if self._in_order and (batch_sampler is not None or shuffle):
            raise ArgumentError(
                "DataLoader: a data set that is read in order has no numbers for batch_sampler or "
                "shuffle; shuffle with fluid.io.shuffle, or give it __getitem__ and __len__"
            )
        if not hasattr(batch_sampler, "__iter__") and batch_sampler is not None:
            raise ArgumentError(
                f"DataLoader: expected batch_sampler to give lists of numbers, as a BatchSampler "
                f"does, got {batch_sampler!r:.60}"
            )
        self._size: int = integer(self, "batch_size", batch_size)
        #: None where a sampler makes the batches
        self.batch_size: int | None = None if batch_sampler is not None else self._size
        if batch_sampler is None and not self._in_order:
            batch_sampler = self._sampled(bool(shuffle), self._size, bool(drop_last))
        self.batch_sampler: Any = batch_sampler

    def _sampled(self, shuffle: bool, batch_size: int, drop_last: bool) -> Iterable[Sequence[int]]:
        """Numbers of the samples of each batch, where nobody gives them."""
        numbers = range(len(cast("Sized", self.dataset)))
        return BatchSampler(
            indices=numbers, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last
        )

    def __len__(self) -> int:
        if self._in_order:
            raise ArgumentError(f"{self.what} reads a data set that does not know its length")
        return len(self.batch_sampler)

    @property
    def has_processes(self) -> bool:
        """Whether processes have stayed from the pass before."""
        return self._pool is not None and not self._pool.is_closed

    def batches(self) -> closing[Any]:
        """A pass over the batches, which ends what makes them where it ends."""
        self._turn += 1
        if self.num_workers and not self._falls_back():
            return closing(self._by_processes())
        if self.use_buffer_reader:
            return closing(Ahead(self._here, _BUFFERED, self.what))
        return closing(self._here())

    def _here(self) -> Iterator[Any]:
        """Batches that are made in this process."""
        if self._in_order:
            yield from _lists(self.dataset, self._size, self.drop_last, self.collate_fn)
            return
        for numbers in self.batch_sampler:
            yield self.collate_fn([self.dataset[number] for number in numbers])

    def _by_processes(self) -> Any:
        """Batches that processes make."""
        pool = self._pool
        if pool is None or not self.has_processes:
            count = 1 if self._in_order and not self._shares_streams else self.num_workers
            jobs = [self._job()] * count
            pool = WorkerPool(jobs, self.what, self.timeout, self.use_shared_memory, self._turn)
            self._pool = pool if self._stays else None
        if not self._in_order:
            numbers = map(list, self.batch_sampler)
            return in_order(pool, numbers, self.prefetch_factor, self._stays)
        if self._shares_streams:
            return in_turn(pool, self.prefetch_factor, self._stays)
        return streamed(pool, self.prefetch_factor)

    def _job(self) -> Any:
        if not self._in_order:
            return Fetch(self.dataset, self.collate_fn, self.worker_init_fn)
        lists = _Lists(self.dataset, self._size, self.drop_last, self.collate_fn)
        return Stream(lists, self.worker_init_fn)

    def _falls_back(self) -> bool:
        """Whether processes cannot be used; says so once."""
        reason = why_not(self._job())
        alone = self._in_order and self.num_workers > 1 and not self._shares_streams
        if not self._told and (reason or alone):
            self._told = True
            if reason:
                message = f"reads in a thread, in place of {self.num_workers} processes: {reason}"
            else:
                message = (
                    f"reads in one process, in place of {self.num_workers}: several would read "
                    f"the same samples of a data set that is read in order"
                )
            warn(f"DataLoader {message}", self._site)
        return reason is not None


def _is_by_number(dataset: Any) -> bool:
    """Whether samples are read by number; else in order.

    Raises:
        ArgumentError: neither is possible.
    """
    kind = type(dataset)
    if isinstance(dataset, IterableDataset):
        return False
    if hasattr(kind, "__getitem__") and hasattr(kind, "__len__"):
        return True
    if hasattr(kind, "__iter__"):
        return False
    raise ArgumentError(
        f"DataLoader: expected a data set with __getitem__ and __len__, or with __iter__, got "
        f"{dataset!r:.60} of type {kind.__name__}"
    )


class _Lists:
    """Called, gives batches of what is read in order; goes to another process."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __call__(self) -> Iterator[Any]:
        return _lists(*self.arguments)


def _lists(
    samples: Iterable[Any], size: int, drop_last: bool, collate: Callable[[list[Any]], Any]
) -> Iterator[Any]:
    items = iter(samples)
    while batch := list(islice(items, size)):
        if len(batch) == size or not drop_last:
            yield collate(batch)


__all__ = ["BatchMaker"]
