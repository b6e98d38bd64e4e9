"""The loader of data sets, under paddle 2.6's arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...eager.recording import TensorRecord
from ...errors import ArgumentError, FeedError
from ...functions.creation import to_tensor
from ...ground.place import Places
from ...ground.values import LoDTensor
from ...readers import loader
from ...readers.batches import BatchMaker
from ...readers.collation import Single
from ...readers.datasets import Samples
from ...readers.delivery import place_count
from ...readers.generator import GeneratorLoader
from ...readers.worker_info import introduced
from ..modes import in_dynamic_mode
from .collation import collated, converted
from .samplers import BatchSampler

if TYPE_CHECKING:
    from ...ir.variable import Variable


class DataLoader(BatchMaker):
    """Batches of a data set, as tensors; in static mode as values to be fed.

    Args:
        dataset: has samples by number and a length; or gives samples in order, as an
            ``IterableDataset`` does.
        feed_list: variables that are fed, or their names; they name the fields in static mode.
        places: a place or a list of them: in static mode, each step has a batch for each.
        return_list: in static mode: give fields in their order; False: dictionaries by the names of
            ``feed_list``, one for each place.
        batch_sampler: gives the numbers of the samples of each batch, in place of
            ``batch_size``, ``shuffle`` and ``drop_last``.
        batch_size: how many samples a batch has; None: samples come one by one.
        shuffle: whether each pass has an order of its own.
        drop_last: whether to leave out a last batch that has fewer.
        collate_fn: makes a batch of a list of samples; when None, tensors, arrays and numbers are
            stacked, and lists and dictionaries of them part by part.
        num_workers: how many processes make batches; 0 for this one.
        use_buffer_reader: where there are no processes, whether a thread reads ahead.
        prefetch_factor: how many batches each process reads ahead.
        use_shared_memory: whether what processes make comes through memory that is shared.
        timeout: seconds to wait for a batch of the processes; without end when 0.
        worker_init_fn: called in each process first, with its number.
        persistent_workers: whether the processes stay from pass to pass.

    Raises:
        ArgumentError: an argument is of another kind, or two of them exclude each other.

    >>> rows = fluid.paddle.io.TensorDataset([fluid.paddle.arange(3)])
    >>> [x.tolist() for (x,) in fluid.paddle.io.DataLoader(rows, batch_size=2)]
    [[0, 1], [2]]
    """

    _shown = "feed_list= places="

    def __init__(
        self,
        dataset: Samples | Iterable[Any],
        feed_list: Sequence[Variable] | None = None,
        places: Places | str = None,
        return_list: bool = True,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        if not (return_list or in_dynamic_mode() or feed_list):
            raise ArgumentError("DataLoader: expected feed_list with return_list=False")
        alone = batch_size is None and batch_sampler is None
        collate: Any = Single(collate_fn or converted) if alone else collate_fn or collated
        begins = introduced(dataset, num_workers, worker_init_fn)
        super().__init__(
            dataset,
            batch_sampler,
            1 if batch_size is None else batch_size,
            shuffle,
            drop_last,
            collate,
            num_workers,
            use_buffer_reader,
            use_shared_memory,
            timeout,
            begins,
            prefetch_factor,
            persistent_workers,
            shares_streams=True,
        )
        if alone:
            self.batch_size = None
        #: 1 where the data set gives its samples in an order of its own
        self.dataset_kind: int = int(self._in_order)
        self.return_list = return_list
        self.feed_list = feed_list
        self._places = 1 if isinstance(places, str) else place_count("DataLoader", places)

    def _sampled(self, shuffle: bool, batch_size: int, drop_last: bool) -> BatchSampler:
        return BatchSampler(
            self.dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last
        )

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers and not self.has_processes:
            np.random.randint(np.iinfo("int64").max)  # as paddle does for seeds of processes
        with self.batches() as batches:
            if in_dynamic_mode():
                for batch in batches:
                    yield _mapped(batch, _tensor)
                return
            step: list[Any] = []
            for batch in batches:
                step.append(self._fed(batch))
                if len(step) == self._places:
                    single = self._places == 1 and self.return_list
                    yield step[0] if single else step
                    step = []
            if step and not self.return_list:
                yield step

    def _fed(self, batch: Any) -> Any:
        """A batch as values of static mode."""
        if self.return_list or self.feed_list is None:
            return _mapped(batch, _value)
        names = [str(getattr(each, "name", each)) for each in self.feed_list]
        fields = list(batch.values()) if isinstance(batch, Mapping) else batch
        fields = list(fields) if isinstance(fields, (list, tuple)) else [fields]
        if len(fields) != len(names):
            raise FeedError(
                f"{self.what}: expected a batch of {len(names)} values ({', '.join(names)}), the "
                f"samples have {len(fields)} fields"
            )
        return {name: _value(field) for name, field in zip(names, fields)}

    @staticmethod
    @functools.wraps(loader.DataLoader.from_generator)
    def from_generator(*args: Any, **kwargs: Any) -> GeneratorLoader:
        return GeneratorLoader(*args, **{**kwargs, "tensors": in_dynamic_mode()})

    from_dataset: Final = staticmethod(loader.DataLoader.from_dataset)


def _mapped(batch: Any, function: Callable[[Any], Any]) -> Any:
    """A batch with a function of its arrays; fields that are lists or tuples become lists."""
    if isinstance(batch, (np.ndarray, TensorRecord)):
        return function(batch)
    if isinstance(batch, Mapping):
        return {key: _mapped(value, function) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_mapped(each, function) for each in batch]
    return batch


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorRecord) else to_tensor(value)


def _value(value: Any) -> Any:
    return LoDTensor(value.numpy() if isinstance(value, TensorRecord) else value)  # type: ignore[attr-defined]


__all__ = ["DataLoader"]
