"""The loader of data sets, under OneFlow's arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any, cast

from ....errors import ArgumentError
from ....readers.batches import BatchMaker
from ....readers.collation import Single
from ....readers.datasets import IterableDataset, Samples, SequenceSampler
from ....readers.worker_info import introduced
from ...generators import Generator
from .collation import collated, converted
from .samplers import BatchSampler, RandomSampler, need_generator


class DataLoader(BatchMaker):
    """BatchMaker of a data set, as tensors.

    Args:
        dataset: has samples by number and a length, or gives samples in order, as an
            :class:`IterableDataset` does.
        batch_size: how many samples a batch has; None: samples come one by one.
        shuffle: whether each pass has an order of its own.
        sampler: gives the numbers of the samples, in place of ``shuffle``.
        batch_sampler: gives the numbers of the samples of each batch, in place of all these
            and of ``drop_last``.
        num_workers: how many processes make batches; 0 for this one.
        collate_fn: makes a batch of a list of samples; when None, tensors, arrays and numbers are
            stacked, and lists and dictionaries of them part by part.
        pin_memory: accepted; tensors are on the CPU.
        drop_last: whether to leave out a last batch that has fewer.
        timeout: seconds to wait for a batch of the processes; without end when 0.
        worker_init_fn: called in each process first, with its number.
        multiprocessing_context: accepted, as None: processes are started as the program says by
            ``multiprocessing.set_start_method``.
        generator: draws the order where ``shuffle`` is said; as shuffling does when None.
        prefetch_factor: with processes: accepted; each has two batches at most.
        persistent_workers: with processes: accepted; each pass has its own.

    Raises:
        ArgumentError: an argument is of another kind, or two of them exclude each other.

    >>> rows = fluid.flow.utils.data.TensorDataset(fluid.flow.ones(3, 2), fluid.flow.arange(3))
    >>> for x, label in fluid.flow.utils.data.DataLoader(rows, batch_size=2):
    ...     print(list(x.shape), label)
    [2, 2] tensor([0, 1], dtype=oneflow.int64)
    [1, 2] tensor([2], dtype=oneflow.int64)
    """

    def __init__(
        self,
        dataset: Samples | Iterable[Any],
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int = 2,
        persistent_workers: bool = False,
    ) -> None:
        need_generator(generator)
        if multiprocessing_context is not None:
            raise ArgumentError(
                f"DataLoader: expected multiprocessing_context=None, got "
                f"{multiprocessing_context!r:.60}; call multiprocessing.set_start_method"
            )
        in_order = isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")
        _need_one_of(
            {
                "a data set that is read in order": in_order,
                "batch_sampler": batch_sampler is not None,
                "batch_size=None": batch_size is None,
                "batch_size": batch_size not in (1, None),
                "drop_last": drop_last,
                "num_workers=0": num_workers == 0,
                "persistent_workers": persistent_workers,
                "prefetch_factor": prefetch_factor != 2,
                "sampler": sampler is not None,
                "shuffle": shuffle,
            }
        )
        if sampler is None and not in_order:
            samples = cast("Sized", dataset)
            random = RandomSampler(samples, generator=generator) if shuffle else None
            sampler = random or SequenceSampler(samples)
        size = 1 if batch_size is None else batch_size
        numbers = batch_sampler
        if sampler is not None and batch_sampler is None:
            numbers = BatchSampler(sampler, size, drop_last)
        collate: Any = collate_fn or collated
        if batch_size is None and batch_sampler is None:
            collate = Single(collate_fn or converted)
        begin = introduced(dataset, num_workers, worker_init_fn)
        super().__init__(
            dataset,
            numbers,
            batch_size=size if in_order else 1,
            drop_last=drop_last and in_order,
            collate_fn=collate,
            num_workers=num_workers,
            use_buffer_reader=False,
            timeout=timeout,
            worker_init_fn=begin,
        )
        self.sampler = sampler
        if not in_order:  # what makes the batches has them already
            self.batch_size: Any = None if batch_sampler is not None else batch_size
            self.drop_last = drop_last

    def __iter__(self) -> Iterator[Any]:
        with self.batches() as made:
            yield from made


#: an argument -> those that it excludes
_EXCLUDED = {
    "a data set that is read in order": ("batch_sampler", "sampler", "shuffle"),
    "batch_sampler": ("batch_size", "batch_size=None", "drop_last", "sampler", "shuffle"),
    "batch_size=None": ("drop_last",),
    "num_workers=0": ("persistent_workers", "prefetch_factor"),
    "sampler": ("shuffle",),
}


def _need_one_of(given: dict[str, bool]) -> None:
    """Refuse arguments that exclude each other.

    Args:
        given: an argument -> whether the user gave it.
    """
    for name, others in _EXCLUDED.items():
        both = [other for other in others if given[name] and given[other]]
        if both:
            raise ArgumentError(f"DataLoader: {name} excludes {' and '.join(both)}, got both")
