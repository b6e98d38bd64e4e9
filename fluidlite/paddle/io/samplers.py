"""In which order samples are read, under paddle 2.6's arguments.

Orders are drawn by NumPy's own generator, ``np.random``, as paddle draws them: behind the same
``np.random.seed`` they are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ...ground.arguments import integer, need_one_of, truth
from ...ground.fields import from_fields
from ...ground.job_environment import launched
from ...readers.datasets import DrawingSampler, Groups, IterableDataset, Sampler, SequenceSampler
from ..creation import randperm

if TYPE_CHECKING:
    from ...functions.arguments import ArrayLike


class RandomSampler(DrawingSampler):
    """Numbers of samples in an order that is drawn anew for each pass.

    Args:
        data_source: the samples, which have a length.
        replacement: whether a sample may come several times.
        num_samples: with ``replacement``: how many are drawn; as many as there are when None.
        generator: an iterator of numbers, in place of what is drawn.

    Raises:
        ArgumentError: an argument is of another kind, or ``num_samples`` is given without
            ``replacement``.

    >>> np.random.seed(3)
    >>> list(fluid.paddle.io.RandomSampler(range(5)))
    [3, 4, 1, 0, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        super().__init__(data_source)
        truth("RandomSampler", "replacement", replacement)
        if num_samples is not None:
            if not replacement:
                raise ArgumentError(
                    f"RandomSampler: expected num_samples with replacement=True, got "
                    f"{num_samples!r:.60} without; every sample comes once"
                )
            integer(self, "num_samples", num_samples)
        self.replacement, self.generator = replacement, generator
        self._drawn = num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if self.generator is not None:
            given = self.generator
            return (number for _, number in zip(range(self.num_samples), iter(given)))
        if self.replacement:
            return iter(np.random.choice(count, self.num_samples).tolist())
        return iter(np.random.permutation(count).tolist())


class SubsetRandomSampler(Sampler):
    """Some numbers of samples, in an order that is drawn anew for each pass.

    Args:
        indices: they.

    Raises:
        ArgumentError: there are none.

    >>> sorted(fluid.paddle.io.SubsetRandomSampler([4, 7]))
    [4, 7]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__(indices)
        if len(indices) == 0:
            raise ArgumentError("SubsetRandomSampler: expected numbers of samples, got none")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return (self.indices[place] for place in randperm(len(self.indices)).tolist())


class WeightedRandomSampler(Sampler):
    """Numbers of samples that are drawn by their weights.

    Args:
        weights: how likely each sample is, beside the others: at least 0, and one above.
        num_samples: how many are drawn.
        replacement: whether a sample may come several times.

    Raises:
        ArgumentError: an argument is of another kind, or fewer samples can be drawn.

    >>> np.random.seed(3)
    >>> list(fluid.paddle.io.WeightedRandomSampler([0.1, 0.3, 0.5, 0.7, 0.2], 5))
    [3, 3, 2, 3, 4]
    """

    def __init__(self, weights: ArrayLike, num_samples: int, replacement: bool = True) -> None:
        super().__init__()
        self.num_samples: int = integer(self, "num_samples", num_samples)
        truth("WeightedRandomSampler", "replacement", replacement)
        self.weights, self.replacement = weights, replacement

    def __iter__(self) -> Iterator[int]:
        weights = np.asarray(self.weights, "float64").reshape(-1)
        count = int((weights > 0).sum())
        if not (weights >= 0).all() or not count:
            raise ArgumentError(
                f"WeightedRandomSampler: expected weights of 0 or more, and one above 0, got "
                f"{self.weights!r:.60}"
            )
        if not self.replacement and count < self.num_samples:
            raise ArgumentError(
                f"WeightedRandomSampler: expected num_samples up to {count}, which is how many "
                f"weights are above 0, got {self.num_samples}; or replacement=True"
            )
        shares = weights / weights.sum()
        drawn = np.random.choice(len(weights), self.num_samples, self.replacement, shares)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Groups):
    """Lists of numbers of samples: each is a batch.

    Args:
        dataset: the data set.
        sampler: gives numbers of samples, in place of a data set.
        shuffle: whether each pass over a data set has an order of its own.
        batch_size: how many a batch has.
        drop_last: whether to leave out a last batch that has fewer.

    Raises:
        ArgumentError: an argument is of another kind, or two of them exclude each other.

    >>> order = fluid.paddle.io.SequenceSampler(range(3))
    >>> list(fluid.paddle.io.BatchSampler(sampler=order, batch_size=2))
    [[0, 1], [2]]
    """

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Sampler | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        need_one_of("BatchSampler", dataset=dataset, sampler=sampler)
        if isinstance(dataset, IterableDataset):
            raise ArgumentError(
                f"BatchSampler: expected a data set with samples by number, got {dataset!r:.60}"
            )
        if sampler is not None and not isinstance(sampler, Sampler):
            raise ArgumentError(f"BatchSampler: expected a Sampler, got {sampler!r:.60}")
        if sampler is not None and shuffle is not False:
            raise ArgumentError("BatchSampler: expected shuffle=False with sampler, got both")
        truth("BatchSampler", "shuffle", shuffle)
        truth("BatchSampler", "drop_last", drop_last)
        if sampler is None:
            assert dataset is not None
            sampler = (RandomSampler if shuffle else SequenceSampler)(dataset)
        super().__init__(sampler, batch_size, drop_last)


@from_fields
class DistributedBatchSampler(BatchSampler):
    """Batches of this process's samples, where several share a data set.

    Args:
        dataset: the data set.
        batch_size: how many samples a batch of this process has.
        num_replicas: how many processes there are; those that were started together when None.
        rank: the number of this one.
        shuffle: whether each epoch has an order of its own, the same in all processes.
        drop_last: whether to leave out a last batch that has fewer.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> part = fluid.paddle.io.DistributedBatchSampler(range(10), 2, num_replicas=3, rank=1)
    >>> list(part)
    [[2, 3], [8, 9]]
    """

    dataset: Sized
    batch_size: int
    num_replicas: int | None = None
    rank: int | None = None
    shuffle: bool = False
    drop_last: bool = False

    def begin(self, given: dict[str, Any]) -> None:
        data, batch_size, replicas, rank, shuffle, drop_last = given.values()
        BatchSampler.__init__(self, data, None, shuffle, batch_size, drop_last)
        what = "DistributedBatchSampler"
        self.dataset, self.shuffle = data, shuffle
        self.nranks: int = integer(
            what, "num_replicas", launched().size if replicas is None else replicas
        )
        self.local_rank: int = integer(what, "rank", launched().rank if rank is None else rank, 0)
        self.epoch = 0
        self.num_samples: int = -(-len(data) // self.nranks)
        self.total_size: int = self.num_samples * self.nranks

    def set_epoch(self, epoch: int) -> None:
        """Have the order of another epoch.

        Args:
            epoch: its number; each pass goes on with the next one.
        """
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        self.sampler = self._share()
        yield from super().__iter__()

    def _share(self) -> list[int]:
        """Numbers of this process's samples: a batch of each round, and a part of what is left."""
        count = len(self.dataset)
        order: Any = np.resize(np.arange(count), self.total_size) if count else np.arange(0)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        size, rank = self.batch_size, self.local_rank
        whole = self.total_size // (size * self.nranks) * size * self.nranks
        rounds = order[:whole].reshape(-1, self.nranks, size)
        left = order[whole:].reshape(self.nranks, -1)
        return [*rounds[:, rank].reshape(-1).tolist(), *left[rank].tolist()]

    def __len__(self) -> int:
        rest = 0 if self.drop_last else self.batch_size - 1
        return (self.num_samples + rest) // self.batch_size


__all__ = [
    "BatchSampler", "DistributedBatchSampler", "RandomSampler", "SubsetRandomSampler",
    "WeightedRandomSampler",
]  # fmt: skip
