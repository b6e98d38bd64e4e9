"""Loaders of data sets: samples are asked for by number, by several processes where wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import closing
from itertools import islice
from typing import Any, cast

from ..errors import ArgumentError, FeedError
from ..ground.arguments import integer
from ..ground.callsite import caller, warn
from ..ground.place import Places
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .buffer import Ahead
from .collation import default_collate_fn
from .datasets import BatchSampler, IterableDataset, Samples
from .delivery import Delivery, place_count
from .files import DatasetBase
from .generator import GeneratorLoader
from .processes import WorkerPool, in_order, streamed, why_not
from .slots import Batch, Slots
from .worker import Fetch, Stream

_BUFFERED = 2  # batches that a thread reads ahead


class DataLoader(Described):
    """Batches of a data set.

    Args:
        dataset: has samples by number and a length, as :class:`Dataset` does; or gives samples in
            order, as :class:`IterableDataset` does.
        feed_list: the variables that are fed; when None, batches are lists of tensors.
        places: a place or a list of them: each step of the loop has a batch for each; the CPU when
            None.
        return_list: give lists in the place of dictionaries.
        batch_sampler: gives the numbers of the samples of each batch, in the place of the next
            three.
        batch_size: how many samples a batch has.
        shuffle: whether NumPy's generator draws another order for each pass.
        drop_last: whether to leave out a last batch that has fewer.
        collate_fn: makes arrays of the samples of a batch; :func:`default_collate_fn` when None.
        num_workers: how many processes make batches; 0 for a thread of this process.
        use_buffer_reader: where there are no processes, whether a thread reads ahead.
        use_shared_memory: whether what processes make comes through memory that is shared.
        timeout: seconds to wait for a batch of the processes; without end when 0.
        worker_init_fn: called in each process first, with its number.

    Raises:
        ArgumentError: an argument is of another kind, or two of them exclude each other.

    >>> class Rows(fluid.io.Dataset):
    ...     def __getitem__(self, number):
    ...         return np.full(2, number, "float32"), number
    ...
    ...     def __len__(self):
    ...         return 5
    >>> x, label = fluid.data("x", [None, 2]), fluid.data("label", [None], "int64")
    >>> loader = fluid.io.DataLoader(Rows(), feed_list=[x, label], batch_size=2, drop_last=True)
    >>> total = fluid.layers.reduce_sum(x)
    >>> [fluid.Executor().run(feed=feed, fetch_list=[total])[0].item() for feed in loader]
    [2.0, 10.0]
    """

    _shown = "feed_list=_variables places="

    def __init__(
        self,
        dataset: Samples | Iterable[Any],
        feed_list: Sequence[Variable] | None = None,
        places: Places = None,
        return_list: bool = False,
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
    ) -> None:
        self._site = caller()
        self._what = f"DataLoader made at {self._site}"
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
        self._timeout = timeout
        self.collate_fn: Callable[[list[Any]], Any] = collate_fn or default_collate_fn
        self._init, self._shared = worker_init_fn, use_shared_memory
        self._buffered = use_buffer_reader
        self._delivery = Delivery("DataLoader", feed_list, return_list, tensors=True)
        self._places = place_count("DataLoader", places)
        self._slots = Slots(None, self._what)
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
        self.batch_size: int = integer(self, "batch_size", batch_size)
        if batch_sampler is None and not self._in_order:
            batch_sampler = BatchSampler(
                indices=range(len(cast("Sized", dataset))),
                shuffle=bool(shuffle),
                batch_size=self.batch_size,
                drop_last=bool(drop_last),
            )
        self.batch_sampler: Any = batch_sampler

    def __len__(self) -> int:
        if self._in_order:
            raise ArgumentError(f"{self._what} reads a data set that does not know its length")
        return len(self.batch_sampler)

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        self._turn += 1
        return self._pass()

    def _pass(self) -> Iterator[Any]:
        if self.num_workers and not self._falls_back():
            batches = self._by_processes()
            ahead: Any = closing(batches)
        elif self._buffered:
            ahead = closing(Ahead(self._here, _BUFFERED, self._what))
        else:
            ahead = closing(self._here())
        with ahead as found:
            yield from self._delivery.steps(map(self._opened, found), self._places, True)

    def _here(self) -> Iterator[Any]:
        """Batches that are made in this process."""
        if self._in_order:
            yield from _lists(self.dataset, self.batch_size, self.drop_last, self.collate_fn)
            return
        for numbers in self.batch_sampler:
            yield self.collate_fn([self.dataset[number] for number in numbers])

    def _by_processes(self) -> Any:
        """Batches that processes make."""
        jobs = [self._job()] * (1 if self._in_order else self.num_workers)
        pool = WorkerPool(jobs, self._what, self._timeout, self._shared, self._turn)
        if self._in_order:
            return streamed(pool, _BUFFERED)
        return in_order(pool, map(list, self.batch_sampler))

    def _job(self) -> Any:
        if not self._in_order:
            return Fetch(self.dataset, self.collate_fn, self._init)
        return Stream(
            _Lists(self.dataset, self.batch_size, self.drop_last, self.collate_fn), self._init
        )

    def _falls_back(self) -> bool:
        """Whether processes cannot be used; says so once."""
        reason = why_not(self._job())
        if not self._told and (reason or (self._in_order and self.num_workers > 1)):
            self._told = True
            if reason:
                message = (
                    f"reads in a thread, in the place of {self.num_workers} processes: {reason}"
                )
            else:
                message = (
                    f"reads in one process, in the place of {self.num_workers}: several would read "
                    f"the same samples of a data set that is read in order"
                )
            warn(f"DataLoader {message}", self._site)
        return reason is not None

    def _opened(self, made: Any) -> Batch:
        """What the collate function made, as values."""
        names = self._delivery.names
        if isinstance(made, dict) and names is not None and set(names) <= set(made):
            made = [made[name] for name in names]
        values = self._slots.of_batch(made, copies=False)
        if names is not None and len(values) != len(names):
            raise FeedError(
                f"{self._what}: expected a batch of {len(names)} values ({', '.join(names)}), the "
                f"samples have {len(values)} fields"
            )
        return values

    @staticmethod
    def from_generator(
        feed_list: Sequence[Variable] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
    ) -> GeneratorLoader:
        """A loader of what a generator gives; see :class:`GeneratorLoader` for its methods.

        Args:
            feed_list: the variables that are fed.
            capacity: how many batches are read ahead at most.
            use_double_buffer: put the operator of a double buffer into the program, where the
                loader is part of one.
            iterable: whether the loader is looped over; else it is part of the program.
            return_list: give lists in the place of dictionaries.
            use_multiprocess: run the generator in a process.
            drop_last: with several places, whether to leave out a last round in which not each
                gets a batch.

        Raises:
            ArgumentError: the capacity is not positive, or there is no ``feed_list``.

        >>> x = fluid.data("x", [None, 2])
        >>> loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
        >>> total = fluid.layers.reduce_sum(x)
        >>> rows = [([1.0, 2.0],), ([3.0, 4.0],), ([5.0, 6.0],)]
        >>> _ = loader.set_sample_generator(lambda: iter(rows), batch_size=2, drop_last=False)
        >>> exe = fluid.Executor()
        >>> loader.start()
        >>> try:
        ...     while True:
        ...         print(exe.run(fetch_list=[total])[0])
        ... except fluid.core.EOFException:
        ...     loader.reset()
        [10.]
        [11.]
        """
        return GeneratorLoader(
            feed_list,
            capacity,
            use_double_buffer,
            iterable,
            return_list,
            use_multiprocess,
            drop_last,
        )

    @staticmethod
    def from_dataset(dataset: DatasetBase, places: Places, drop_last: bool = True) -> DatasetLoader:
        """A loader of the batches of files, as :class:`DatasetFactory` makes them.

        Args:
            dataset: an :class:`InMemoryDataset` or a :class:`QueueDataset`.
            places: a place or a list of them: each step of the loop has a batch for each.
            drop_last: whether to leave out a last round in which not each gets a batch.

        Raises:
            ArgumentError: it is no such data set.
        """
        return DatasetLoader(dataset, places, drop_last)


class DatasetLoader(Described):
    """Loops over the batches of files.  Made by :meth:`DataLoader.from_dataset`.

    Args:
        dataset: what reads the files.
        places: a place or a list of them.
        drop_last: whether to leave out a last round in which not each gets a batch.

    Raises:
        ArgumentError: it is no such data set.
    """

    def __init__(self, dataset: DatasetBase, places: Places, drop_last: bool) -> None:
        if not hasattr(dataset, "feeds"):
            raise ArgumentError(
                f"DataLoader.from_dataset: expected what DatasetFactory makes, got {dataset!r:.60}"
            )
        self._dataset, self._drop_last = dataset, drop_last
        self._places = place_count("DataLoader.from_dataset", places)

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        delivery = Delivery("DataLoader.from_dataset", self._dataset.names, False)
        batches = (list(feed.values()) for feed in self._dataset.feeds())
        return delivery.steps(batches, self._places, self._drop_last)


def _is_by_number(dataset: Any) -> bool:
    """Whether samples are asked for by number; else they are read in order.

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


__all__ = ["DataLoader", "DatasetLoader"]


api_boundaries(globals())
