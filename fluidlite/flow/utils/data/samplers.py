"""In which order samples are read, under OneFlow's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from ....errors import ArgumentError
from ....ground.arguments import integer, truth
from ....ground.docstrings import Family
from ....ground.job_environment import launched
from ....ground.seeding import shuffled
from ....readers.datasets import DrawingSampler, Groups, IterableDataset, Sampler, Samples, Subset
from ...generators import Generator


class RandomSampler(DrawingSampler):
    """Numbers of samples in an order that is drawn anew for each pass.

    Args:
        data_source: the samples, which have a length.
        replacement: whether a sample may come several times.
        num_samples: with ``replacement``: how many are drawn; as many as there are when None.
        generator: draws the order; as shuffling does when None.

    Raises:
        ArgumentError: an argument is of another kind, or ``num_samples`` is given without
            ``replacement``.

    >>> sorted(fluid.flow.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    >>> len(list(fluid.flow.utils.data.RandomSampler("abc", replacement=True, num_samples=5)))
    5
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(data_source)
        truth("RandomSampler", "replacement", replacement)
        if num_samples is not None:
            integer(self, "num_samples", num_samples)
            if not replacement:
                raise ArgumentError(
                    f"RandomSampler: expected num_samples with replacement=True, got {num_samples} "
                    f"without; every sample comes once"
                )
        self.replacement = replacement
        self._drawn = num_samples
        need_generator(generator)
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if not self.replacement:
            return iter(drawn_order(count, self.generator))
        return (drawn_order(count, self.generator)[0] for _ in range(self.num_samples))


class SubsetRandomSampler(Sampler):
    """Some numbers of samples, in an order that is drawn anew for each pass.

    Args:
        indices: they.
        generator: draws the order; as shuffling does when None.

    >>> sorted(fluid.flow.utils.data.SubsetRandomSampler([4, 7]))
    [4, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        super().__init__(indices)
        need_generator(generator)
        self.generator = generator
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        order = drawn_order(len(self.indices), self.generator)
        return iter([self.indices[place] for place in order])


@Family(raises="ArgumentError: an argument is of another kind.").like(Groups)
class BatchSampler(Groups):
    """
    >>> list(fluid.flow.utils.data.BatchSampler([7, 8, 9], batch_size=2, drop_last=False))
    [[7, 8], [9]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        truth("BatchSampler", "drop_last", drop_last)
        super().__init__(sampler, batch_size, drop_last)


class DistributedSampler(Sampler):
    """The numbers of this process's samples, where several share a data set.

    Args:
        dataset: the data set.
        num_replicas: how many processes there are; those that were started together when None.
        rank: the number of this one.
        shuffle: whether each epoch has an order of its own, the same in all processes.
        seed: what that is drawn from, with the number of the epoch.
        drop_last: whether to leave out last samples that are not enough for all; else the first
            ones come again.

    Raises:
        ArgumentError: there is no process of that number.

    >>> part = fluid.flow.utils.data.DistributedSampler(range(5), 2, 1, shuffle=False)
    >>> list(part)
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset)
        self.num_replicas: int = launched().size if num_replicas is None else num_replicas
        self.rank: int = launched().rank if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ArgumentError(
                f"DistributedSampler: expected rank from 0 to {self.num_replicas - 1}, got "
                f"{self.rank}"
            )
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Have the order of another epoch.

        Args:
            epoch: its number.
        """
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        order = np.arange(count)
        if self.shuffle:
            order = np.random.RandomState(self.seed + self.epoch).permutation(count)
        shared = np.resize(order, len(self) * self.num_replicas) if count else order
        return iter(shared[self.rank :: self.num_replicas].tolist())

    def __len__(self) -> int:
        count = len(self.data_source)
        return count // self.num_replicas if self.drop_last else -(-count // self.num_replicas)


def need_generator(generator: object) -> None:
    """Refuse what draws no orders.

    Raises:
        ArgumentError: it is neither a generator nor None.
    """
    if not isinstance(generator, (Generator, type(None))):
        raise ArgumentError(f"expected a Generator or None, got {generator!r:.60}")


def drawn_order(count: int, generator: Generator | None) -> list[int]:
    """The numbers below a count in random order.

    Args:
        count: how many.
        generator: draws it; the order that shuffling has when None.

    Raises:
        ArgumentError: it is no generator.
    """
    if generator is None:
        return list(shuffled(range(count)))
    need_generator(generator)
    return [int(number) for number in generator.stream.numpy.permutation(count)]


def random_split(
    dataset: Samples, lengths: Sequence[int], generator: Generator | None = None
) -> list[Subset]:
    """Parts of a data set whose samples are drawn.

    Args:
        dataset: the data set.
        lengths: how many samples each part has; together all.
        generator: draws them; as shuffling does when None.

    Raises:
        ArgumentError: the lengths are not those of the data set.

    >>> [len(part) for part in fluid.flow.utils.data.random_split(range(5), [3, 2])]
    [3, 2]
    """
    if sum(lengths) != len(dataset):
        raise ArgumentError(
            f"random_split: expected lengths that add up to {len(dataset)}, got {list(lengths)}"
        )
    order, ends = drawn_order(len(dataset), generator), [0, *accumulate(lengths)]
    return [Subset(dataset, order[begin:end]) for begin, end in pairwise(ends)]


class ChainDataset(IterableDataset):
    """The samples of data sets that are read in order, one after the other.

    Args:
        datasets: they.

    >>> list(fluid.flow.utils.data.ChainDataset([range(2), "ab"]))
    [0, 1, 'a', 'b']
    """

    def __init__(self, datasets: Iterable[Iterable[Any]]) -> None:
        self.datasets: list[Any] = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(map(len, self.datasets))
