"""Batches of examples of different sizes, padded to few shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..errors import ArgumentError, FeedError
from ..ground.dtypes import DType
from ..ir.variable import Variable

Batch: TypeAlias = dict[str, np.ndarray[Any, Any]]


def bucketed(
    reader: Callable[[], Iterable[Any]],
    feed_list: Sequence[Variable],
    batch_size: int,
    buckets: Mapping[str, Sequence[int]],
    drop_last: bool = False,
    fill: Mapping[str, float] | None = None,
) -> Callable[[], Iterator[Batch]]:
    """A reader of batches that have few shapes: sizes that have names are padded to the smallest
    bucket, and examples of one shape make a batch.

    A program is compiled once for each shape, so at most once for each combination of buckets, and
    for the last batches, which are smaller.

    Args:
        reader: gives examples: an array for each variable, without the batch's dimension.
        feed_list: the variables, the first dimension of each that of the batch.
        batch_size: how many examples make a batch.
        buckets: name of a size (``fluid.data("x", ["batch", "time", 8])``) -> the sizes to pad to.
        drop_last: whether to leave out last batches that are smaller.
        fill: by name of a variable the number to pad with; 0 for others.

    Returns:
        a reader of dictionaries to feed. It raises a ``FeedError`` where an example does not fit.

    Raises:
        ArgumentError: no variable has a size of such a name, or an argument is of another kind.

    >>> words = fluid.data("words", ["batch", "time"], "int64")
    >>> examples = [([1, 2, 3],), ([4],), ([5, 6, 7, 8],), ([9, 9],)]
    >>> read = fluid.io.bucketed(lambda: examples, [words], 2, {"time": [2, 4]})
    >>> [batch["words"].tolist() for batch in read()]
    [[[1, 2, 3, 0], [5, 6, 7, 8]], [[4, 0], [9, 9]]]
    """
    if not callable(reader):
        raise ArgumentError(f"bucketed: expected a reader, a function, got {reader!r:.60}")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ArgumentError(f"bucketed: expected batch_size to be at least 1, got {batch_size!r}")
    if not feed_list or not all(isinstance(each, Variable) for each in feed_list):
        raise ArgumentError(f"bucketed: expected variables in feed_list, got {feed_list!r:.60}")
    columns = [_Column(variable, (fill or {}).get(variable.name, 0)) for variable in feed_list]
    sizes = {name: _sorted_sizes(name, columns, given) for name, given in buckets.items()}

    def batches() -> Iterator[Batch]:
        waiting: dict[tuple[tuple[int, ...], ...], list[list[Any]]] = {}
        for number, example in enumerate(reader()):
            arrays = _arrays(number, example, columns)
            extents = _extents(number, arrays, columns)
            padded = {name: _bucket(number, name, extents[name], sizes[name]) for name in sizes}
            shapes = tuple(c.padded_shape(array, padded) for c, array in zip(columns, arrays))
            group = waiting.setdefault(shapes, [])
            group.append(arrays)
            if len(group) == batch_size:
                yield _batch(columns, waiting.pop(shapes), shapes)
        if not drop_last:
            for shapes, group in waiting.items():
                yield _batch(columns, group, shapes)

    return batches


class _Column:
    """What stands in one place of all examples.

    Args:
        variable: is fed with it.
        fill: what it is padded with.
    """

    def __init__(self, variable: Variable, fill: float) -> None:
        self.name: str = variable.name
        self.dtype: DType = variable.dtype
        self.fill = fill
        self.names = (variable.size_names or (None,) * variable.ndim)[1:]

    def padded_shape(self, array: Any, padded: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of an array when it is padded."""
        return tuple(padded.get(name or "", n) for name, n in zip(self.names, array.shape))


def _sorted_sizes(name: str, columns: Sequence[_Column], given: Sequence[int]) -> list[int]:
    known = [n for column in columns for n in column.names if n is not None]
    if name not in known:
        raise ArgumentError(
            f"bucketed: no variable of feed_list has a size {name!r} behind that of the batch; "
            f"they have {', '.join(dict.fromkeys(known)) or 'no names'}"
        )
    are_sizes = isinstance(given, (list, tuple, range)) and all(
        isinstance(n, (int, np.integer)) and n > 0 for n in given
    )
    if not given or not are_sizes:
        raise ArgumentError(f"bucketed: expected sizes to pad {name!r} to, got {given!r:.60}")
    return sorted(given)


def _arrays(number: int, example: Any, columns: Sequence[_Column]) -> list[Any]:
    """The arrays of an example."""
    parts = example if isinstance(example, (list, tuple)) else (example,)
    if len(parts) != len(columns):
        raise FeedError(
            f"example {number} has {len(parts)} parts, feed_list has {len(columns)} variables"
        )
    arrays = [np.asarray(part, column.dtype.dtype) for part, column in zip(parts, columns)]
    for array, column in zip(arrays, columns):
        if array.ndim != len(column.names):
            raise FeedError(
                f"example {number}: expected {len(column.names)} dimensions of {column.name!r} "
                f"without that of the batch, got shape {list(array.shape)}"
            )
    return arrays


def _extents(number: int, arrays: Sequence[Any], columns: Sequence[_Column]) -> dict[str, int]:
    """The sizes that have names, of one example.

    Raises:
        FeedError: sizes of one name differ.
    """
    extents: dict[str, tuple[int, str]] = {}
    for array, column in zip(arrays, columns):
        for name, n in zip(column.names, array.shape):
            if name is not None:
                known, other = extents.setdefault(name, (n, column.name))
                if known != n:
                    raise FeedError(
                        f"example {number}: size {name!r} is {known} in {other!r} and {n} in "
                        f"{column.name!r}; sizes of one name are equal"
                    )
    return {name: n for name, (n, _) in extents.items()}


def _bucket(number: int, name: str, n: int, sizes: Sequence[int]) -> int:
    """The smallest bucket that holds a size."""
    bucket = next((size for size in sizes if size >= n), None)
    if bucket is None:
        raise FeedError(
            f"example {number}: size {name!r} is {n}, the largest bucket is {sizes[-1]}"
        )
    return bucket


def _batch(
    columns: Sequence[_Column], group: Sequence[Sequence[Any]], shapes: Sequence[tuple[int, ...]]
) -> Batch:
    """Examples of one shape, padded."""
    batch: Batch = {}
    for place, (column, shape) in enumerate(zip(columns, shapes)):
        whole = np.full((len(group), *shape), column.fill, column.dtype.dtype)
        for row, arrays in zip(whole, group):
            array = arrays[place]
            row[tuple(slice(n) for n in array.shape)] = array
        batch[column.name] = whole
    return batch
