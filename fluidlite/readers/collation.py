"""From samples to the arrays of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError

_NUMBERS = (int, float, bool, np.generic)


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """The samples of a batch, field by field.

    Args:
        batch: samples: tuples or lists of arrays and numbers, dictionaries of them, or arrays
            alone.

    Returns:
        a list of arrays, one for each field, the number of samples in front; a dictionary where the
        samples are dictionaries.

    Raises:
        ArgumentError: the samples have different fields, or a field has different shapes.

    >>> fluid.io.default_collate_fn([([1, 2], 0), ([3, 4], 1)])
    [array([[1, 2],
           [3, 4]]), array([0, 1])]
    """
    first = batch[0]
    if isinstance(first, Mapping):
        return {key: _stacked(repr(key), [sample[key] for sample in batch]) for key in first}
    if isinstance(first, (np.ndarray, *_NUMBERS)):
        return [_stacked("0", batch)]
    if not isinstance(first, Sequence) or isinstance(first, (str, bytes)):
        raise ArgumentError(
            f"expected samples to be tuples of arrays and numbers, got {first!r:.60} of type "
            f"{type(first).__name__}; give the loader a collate_fn that makes arrays of them"
        )
    if any(len(sample) != len(first) for sample in batch):
        counts = sorted({len(sample) for sample in batch})
        raise ArgumentError(f"expected samples of as many fields as each other, got {counts}")
    return [_stacked(str(k), field) for k, field in enumerate(zip(*batch))]


def _stacked(field: str, values: Sequence[Any]) -> Any:
    arrays = [np.asarray(value) for value in values]
    return stacked(arrays, f"field {field} of the samples of a batch has")


def stacked(arrays: Sequence[Any], what: str) -> Any:
    """Arrays of one shape as one.

    Args:
        arrays: they.
        what: how the error begins where they have others.
    """
    shapes = {np.shape(array) for array in arrays}
    if len(shapes) > 1:
        one, other = sorted(map(list, shapes))[:2]
        raise ArgumentError(
            f"{what} shapes {one} and {other}; pad them in the data set, or give the loader a "
            f"collate_fn that does"
        )
    return np.stack(arrays)


class Single(NamedTuple):
    """Makes what a loader gives of a batch of one sample; goes to another process.

    ``function`` is called with the sample.
    """

    function: Callable[[Any], Any]

    def __call__(self, batch: Sequence[Any]) -> Any:
        """What the function makes of the sample."""
        return self.function(batch[0])


__all__ = ["Single", "default_collate_fn"]
