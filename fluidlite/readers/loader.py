"""Loaders of data sets: samples are read by number, by several processes if requested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from ..errors import ArgumentError, FeedError
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..ground.place import Places
from ..ground.reprs import Described
from ..ground.spellings import Spelling
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .batches import BatchMaker
from .datasets import Samples
from .delivery import Delivery, place_count
from .files import DatasetBase
from .generator import GeneratorLoader
from .slots import Batch, Slots


@Family().like(BatchMaker)
@from_fields
class DataLoader(BatchMaker):
    """Batches of a data set.

    Args:
        dataset: has samples by number and a length, as :class:`Dataset` does; or gives samples in
            order, as :class:`IterableDataset` does.
        feed_list: the variables that are fed; when None, batches are lists of tensors.
        places: a place or a list of them: each step of the loop has a batch for each; the CPU when
            None.
        return_list: give lists in place of dictionaries.

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

    _shown = "feed_list= places="

    dataset: Samples | Iterable[Any]
    feed_list: Sequence[Variable] | None = None
    places: Places = None
    return_list: bool = False
    batch_sampler: Iterable[Sequence[int]] | None = None
    batch_size: int = 1
    shuffle: bool = False
    drop_last: bool = False
    collate_fn: Callable[[list[Any]], Any] | None = None
    num_workers: int = 0
    use_buffer_reader: bool = True
    use_shared_memory: bool = True
    timeout: float = 0
    worker_init_fn: Callable[[int], Any] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        own = ("feed_list", "places", "return_list")
        self.feed_list, self.places, self.return_list = (given.pop(name) for name in own)
        BatchMaker.__init__(self, **given)
        self._delivery = Delivery("DataLoader", self.feed_list, self.return_list, tensors=True)
        self._places = place_count("DataLoader", self.places)
        self._slots = Slots(None, self.what)

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        with self.batches() as made:
            yield from self._delivery.steps(map(self._opened, made), self._places, True)

    def _opened(self, made: Any) -> Batch:
        """What the collate function made, as values."""
        names = self._delivery.names
        if isinstance(made, dict) and names is not None and set(names) <= set(made):
            made = [made[name] for name in names]
        values = self._slots.of_batch(made, copies=False)
        if names is not None and len(values) != len(names):
            raise FeedError(
                f"{self.what}: expected a batch of {len(names)} values ({', '.join(names)}), the "
                f"samples have {len(values)} fields"
            )
        return values

    from_generator: ClassVar[Callable[..., GeneratorLoader]] = staticmethod(
        Spelling({})(
            GeneratorLoader,
            "from_generator",
            """A loader of what a generator gives; see :class:`GeneratorLoader` for its methods.

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
            """,
            fixed={"tensors": False},
        )
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


__all__ = ["DataLoader", "DatasetLoader"]


api_boundaries(globals())
