"""From samples to the arrays of a batch, as paddle 2.6 does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...eager.recording import TensorRecord
from ...errors import ArgumentError, FluidError
from ...readers.collation import stacked


class _UnevenError(FluidError, RuntimeError, ValueError):
    """Samples of a batch have different numbers of fields."""


def collated(batch: Sequence[Any]) -> Any:
    """The samples of a batch as one: tensors, arrays and numbers stacked, others part by part.

    Args:
        batch: samples of one kind.

    Raises:
        ArgumentError: they are of a kind of which no batch is made, or have different shapes.
    """
    first = batch[0]
    if isinstance(first, (TensorRecord, np.ndarray, np.number)):
        return stacked([as_arrays(each) for each in batch], "samples of a batch have")
    if isinstance(first, (bool, int, float)):
        return np.array(batch)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: collated([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        counts = sorted({len(sample) for sample in batch})
        if len(counts) > 1:
            raise _UnevenError(f"expected samples of as many fields as each other, got {counts}")
        return [collated(field) for field in zip(*batch)]
    raise ArgumentError(
        f"expected samples of tensors, arrays, numbers, texts, dictionaries and lists, got "
        f"{type(first).__name__}; give the loader a collate_fn"
    )


def as_arrays(sample: Any) -> Any:
    """A sample with its tensors as arrays.

    Args:
        sample: a tensor, or a list or a dictionary of them; others stay as they are.
    """
    if isinstance(sample, TensorRecord):
        return sample.array
    if isinstance(sample, Mapping):
        return {key: as_arrays(value) for key, value in sample.items()}
    if isinstance(sample, (list, tuple)):
        return [as_arrays(each) for each in sample]
    return sample


__all__ = ["as_arrays", "collated"]
