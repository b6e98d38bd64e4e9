"""Data sets that are made of others, under paddle 2.6's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ...errors import ArgumentError
from ...readers import datasets
from ...readers.datasets import Dataset, IterableDataset, Samples, Subset
from ..creation import randperm


class TensorDataset(datasets.TensorDataset):
    """Rows of tensors: sample ``k`` is the ``k``-th row of each.

    Args:
        tensors: tensors with as many rows each.

    Raises:
        ArgumentError: there are none, or their numbers of rows differ.

    >>> x = fluid.paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.paddle.io.TensorDataset([x])[1][0].tolist()
    [3.0, 4.0]
    """

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        return tuple(each[number] for each in self.tensors)


class ConcatDataset(datasets.ConcatDataset):
    """Data sets, one after the other.

    Args:
        datasets: they, each with samples by number.

    Raises:
        ArgumentError: there are none, or one is read in order.

    >>> joined = fluid.paddle.io.ConcatDataset([["a", "b"], ["c"]])
    >>> joined[2], joined[-3], joined.cumulative_sizes
    ('c', 'a', [2, 3])
    """

    def __init__(self, datasets: Iterable[Samples]) -> None:
        super().__init__(datasets)
        for each in self.datasets:
            if isinstance(each, IterableDataset):
                raise ArgumentError(
                    f"ConcatDataset: expected data sets with samples by number, got {each!r:.60}; "
                    f"ChainDataset joins those that are read in order"
                )

    def __getitem__(self, number: int) -> Any:
        if number < -len(self):
            raise ArgumentError(f"ConcatDataset: expected a number from {-len(self)}, got {number}")
        return super().__getitem__(number)

    @staticmethod
    def cumsum(sequence: Iterable[Sequence[Any]]) -> list[int]:
        """How many samples there are up to the end of each data set.

        Args:
            sequence: the data sets.
        """
        return list(accumulate(map(len, sequence)))


class ComposeDataset(Dataset):
    """Data sets side by side: a sample has the fields of the samples of all.

    Args:
        datasets: they, of one length.

    Raises:
        ArgumentError: there are none, one is no data set with samples by number, or lengths differ.

    >>> x = fluid.paddle.io.TensorDataset([fluid.paddle.zeros([3, 2])])
    >>> y = fluid.paddle.io.TensorDataset([fluid.paddle.arange(3)])
    >>> len(fluid.paddle.io.ComposeDataset([x, y])[0])
    2
    """

    def __init__(self, datasets: Iterable[Samples]) -> None:
        self.datasets: list[Any] = _listed("ComposeDataset", datasets, Dataset)
        for each in self.datasets:
            if isinstance(each, IterableDataset):
                raise ArgumentError(
                    f"ComposeDataset: expected data sets with samples by number, got {each!r:.60}"
                )
        lengths = [len(each) for each in self.datasets]
        if len(set(lengths)) > 1:
            raise ArgumentError(f"ComposeDataset: expected data sets of one length, got {lengths}")

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        fields: list[Any] = []
        for each in self.datasets:
            sample = each[number]
            fields.extend(sample if isinstance(sample, (list, tuple)) else [sample])
        return tuple(fields)

    def __len__(self) -> int:
        return len(self.datasets[0])


class ChainDataset(IterableDataset):
    """Data sets that are read in order, one after the other.

    Args:
        datasets: they.

    Raises:
        ArgumentError: there are none, or one is not read in order.

    >>> class Two(fluid.paddle.io.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> [each for each in fluid.paddle.io.ChainDataset([Two(), Two()])]
    [1, 2, 1, 2]
    """

    def __init__(self, datasets: Iterable[IterableDataset]) -> None:
        self.datasets: list[Any] = _listed("ChainDataset", datasets, IterableDataset)

    def __iter__(self) -> Iterator[Any]:
        for each in self.datasets:
            yield from each


def _listed(what: str, datasets: Iterable[Any], kind: type) -> list[Any]:
    """Data sets of a kind.

    Raises:
        ArgumentError: there are none, or one is of another kind.
    """
    single = isinstance(datasets, (Dataset, Mapping)) or not isinstance(datasets, Iterable)
    listed = [] if single else list(datasets)
    if not listed:
        raise ArgumentError(f"{what}: expected a list of data sets, got {datasets!r:.60}")
    for each in listed:
        if not isinstance(each, kind):
            raise ArgumentError(f"{what}: expected each to be a {kind.__name__}, got {each!r:.60}")
    return listed


def random_split(
    dataset: Samples, lengths: Sequence[int], generator: object = None
) -> list[Subset]:
    """Parts of a data set whose samples are drawn as :func:`randperm` draws.

    Args:
        dataset: the data set.
        lengths: how many samples each part has; together all.
        generator: accepted; ``paddle.seed`` decides.

    Raises:
        ArgumentError: the lengths are not those of the data set.

    >>> [len(part) for part in fluid.paddle.io.random_split(range(5), [3, 2])]
    [3, 2]
    """
    if sum(lengths) != len(dataset):
        raise ArgumentError(
            f"random_split: expected lengths that add up to {len(dataset)}, got {list(lengths)}"
        )
    order = randperm(len(dataset)).tolist()
    ends = accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]


__all__ = ["ChainDataset", "ComposeDataset", "ConcatDataset", "TensorDataset", "random_split"]
