"""Data sets whose samples are read by number, and the order of reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import accumulate, islice
from typing import Any, Protocol

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..ground.arguments import integer, need_one_of, refused, truth
from ..ground.protected import answers
from ..ground.reprs import Described
from ..ground.seeding import shuffled


class Samples(Protocol):
    """What has samples by number: a data set, a list, an array."""

    def __getitem__(self, number: int, /) -> Any: ...

    def __len__(self) -> int: ...


class Dataset(Described):
    """The base of data sets: samples by number, and how many there are.

    >>> class Squares(fluid.io.Dataset):
    ...     def __getitem__(self, number):
    ...         return [np.float32(number**2)]
    ...
    ...     def __len__(self):
    ...         return 3
    >>> loader = fluid.io.DataLoader(Squares(), return_list=True, batch_size=2)
    >>> [np.array(batch[0]).tolist() for (batch,) in loader]
    [[0.0, 1.0], [4.0]]
    """

    def __getitem__(self, number: int) -> Any:
        """The sample of a number."""
        raise UnsupportedError(
            f"class {type(self).__name__} is to define __getitem__, which gives a sample"
        )

    def __len__(self) -> int:
        raise UnsupportedError(
            f"class {type(self).__name__} is to define __len__, which says how many samples it has"
        )

    def __add__(self, other: Samples) -> ConcatDataset:
        """This data set, and another one behind it."""
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """The base of data sets that are read from the beginning to the end.

    >>> class Three(fluid.io.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([[1], [2], [3]])
    >>> [np.array(b[0]).tolist() for (b,) in fluid.io.DataLoader(Three(), return_list=True)]
    [[1], [2], [3]]
    """

    def __iter__(self) -> Iterator[Any]:
        raise UnsupportedError(
            f"class {type(self).__name__} is to define __iter__, which gives its samples"
        )

    def __getitem__(self, number: int) -> Any:
        raise UnsupportedError(f"class {type(self).__name__} is read in order, not by number")

    def __len__(self) -> int:
        raise UnsupportedError(f"class {type(self).__name__} does not know how many samples it has")


class TensorDataset(Dataset):
    """Rows of tensors: sample ``k`` is the ``k``-th row of each.

    Args:
        tensors: tensors or arrays with as many rows each.

    Raises:
        ArgumentError: there are none, or their numbers of rows differ.

    >>> rows = fluid.io.TensorDataset([np.zeros([3, 2]), np.arange(3)])
    >>> len(rows), int(rows[1][1])
    (3, 1)
    """

    def __init__(self, tensors: Iterable[Samples]) -> None:
        self.tensors: list[Any] = list(tensors)
        counts = [len(each) for each in self.tensors]
        if len(set(counts)) != 1:
            raise ArgumentError(
                f"TensorDataset: expected tensors with as many rows each, got {counts}"
            )

    def __getitem__(self, number: int) -> Any:
        return tuple(np.asarray(each[number]) for each in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """Some samples of a data set.

    Args:
        dataset: the data set.
        indices: their numbers.

    >>> len(fluid.io.Subset("abc", [0, 2])), fluid.io.Subset("abc", [0, 2])[1]
    (2, 'c')
    """

    def __init__(self, dataset: Samples, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, number: int) -> Any:
        return self.dataset[self.indices[number]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """Data sets, one after the other.

    Args:
        datasets: they.

    Raises:
        ArgumentError: there are none.

    >>> "".join(fluid.io.ConcatDataset(["ab", "c"])[k] for k in range(3))
    'abc'
    """

    def __init__(self, datasets: Iterable[Samples]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise ArgumentError("ConcatDataset: expected data sets, got none")

    @property
    def cumulative_sizes(self) -> list[int]:
        """How many samples there are up to the end of each data set."""
        return list(accumulate(map(len, self.datasets)))

    def __getitem__(self, number: int) -> Any:
        at = number + len(self) if number < 0 else number
        for each in self.datasets:
            if 0 <= at < len(each):
                return each[at]
            at -= len(each)
        raise IndexError(f"ConcatDataset: sample {number} of {len(self)}")

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


def random_split(dataset: Samples, lengths: Sequence[int], generator: None = None) -> list[Subset]:
    """Parts of a data set whose samples are drawn by NumPy's generator.

    Args:
        dataset: the data set.
        lengths: how many samples each part has; together all.
        generator: accepted, as None.

    Raises:
        ArgumentError: the lengths are not those of the data set, or there is a generator.

    >>> [len(part) for part in fluid.io.random_split(range(5), [3, 2])]
    [3, 2]
    """
    if generator is not None:
        raise ArgumentError("random_split: expected generator=None; call np.random.seed")
    if sum(lengths) != len(dataset):
        raise ArgumentError(
            f"random_split: expected lengths that add up to {len(dataset)}, got {list(lengths)}"
        )
    order, begin, parts = shuffled(range(len(dataset))), 0, []
    for length in lengths:
        parts.append(Subset(dataset, order[begin : begin + length]))
        begin += length
    return parts


class Sampler(Described):
    """The base of what says in which order samples are read.

    Args:
        data_source: the samples, which have a length.

    >>> class Reversed(fluid.io.Sampler):
    ...     def __iter__(self):
    ...         return iter(range(len(self.data_source) - 1, -1, -1))
    >>> [*Reversed(["a", "b", "c"])]
    [2, 1, 0]
    """

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source: Any = data_source

    def __iter__(self) -> Iterator[int]:
        raise UnsupportedError(
            f"class {type(self).__name__} is to define __iter__, which gives numbers of samples"
        )

    def __len__(self) -> int:
        return len(self.data_source)


class DrawingSampler(Sampler):
    """The base of samplers that draw a given number, or as many as there are samples."""

    _drawn: int | None = None

    @property
    def num_samples(self) -> int:
        """How many numbers a pass has."""
        return len(self.data_source) if self._drawn is None else self._drawn

    def __len__(self) -> int:
        return self.num_samples


class SequenceSampler(Sampler):
    """Numbers of samples in order.

    >>> list(fluid.io.SequenceSampler("abc"))
    [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))


class RandomSampler(Sampler):
    """Numbers of samples in an order that NumPy's generator draws for each pass.

    >>> sorted(fluid.io.RandomSampler("abc"))
    [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(shuffled(range(len(self.data_source))))


class Groups(Described):
    """Lists of the numbers that a sampler gives: each is a batch.

    Args:
        sampler: gives the numbers.
        batch_size: how many a batch has.
        drop_last: whether to leave out a last batch that has fewer.

    Raises:
        ArgumentError: an argument is of another kind.
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        self.sampler: Iterable[int] = sampler
        self.batch_size: int = integer(self, "batch_size", batch_size)
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        if not isinstance(self.sampler, Sized):
            raise TypeError(f"object of type {type(self.sampler).__name__!r} has no len()")
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


@answers(indices=lambda self: list(self.sampler))
class BatchSampler(Groups):
    """Lists of numbers of samples: each is a batch.

    Args:
        dataset: the data set.
        indices: numbers of samples, in place of a data set: a list, or a sampler.
        shuffle: whether NumPy's generator draws another order for each pass.
        batch_size: how many a batch has.
        drop_last: whether to leave out a last batch that has fewer.

    Raises:
        ArgumentError: an argument is of another kind, or both or neither of the first two are
            given.

    >>> list(fluid.io.BatchSampler(indices=[7, 8, 9], batch_size=2))
    [[7, 8], [9]]
    """

    def __init__(
        self,
        dataset: Dataset | None = None,
        indices: Sequence[int] | Sampler | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        need_one_of("BatchSampler", dataset=dataset, indices=indices)
        if dataset is not None and not hasattr(dataset, "__len__"):
            raise ArgumentError(f"BatchSampler: expected a Dataset, got {dataset!r:.60}")
        if indices is not None and not isinstance(indices, (list, tuple, range, Sampler)):
            raise refused("BatchSampler", "indices", "a list or a sampler", indices)
        truth(self, "shuffle", shuffle)
        truth(self, "drop_last", drop_last)
        numbers: Any = range(len(dataset)) if dataset is not None else indices
        super().__init__(list(numbers) if shuffle else numbers, batch_size, drop_last)
        self.shuffle = shuffle

    def __iter__(self) -> Iterator[list[int]]:
        if self.shuffle:
            #: drawn anew from the order of the pass before, as fluid 1.8 does it
            self.sampler = shuffled(self.sampler)
        yield from super().__iter__()


__all__ = [
    "BatchSampler", "Dataset", "IterableDataset", "RandomSampler", "Sampler", "SequenceSampler",
]  # fmt: skip
