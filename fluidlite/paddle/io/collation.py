"""From samples to a batch, as paddle 2.6 does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...eager.recording import TensorRecord
from ...errors import ArgumentError, FluidError
from ...readers.collation import stacked

_SAMPLES = "samples of a batch have"


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
    if isinstance(first, TensorRecord):
        return first.results(stacked([each.array for each in batch], _SAMPLES))
    if isinstance(first, (np.ndarray, np.number)):
        return stacked(batch, _SAMPLES)
    if isinstance(first, (bool, int, float)):
        return np.array(batch)
    if isinstance(first, (str, bytes)):
        return batch
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


def converted(sample: Any) -> Any:
    """A sample that is no part of a batch: its sequences as lists, all else as it is.

    Args:
        sample: of any kind.
    """
    if isinstance(sample, Mapping):
        return {key: converted(value) for key, value in sample.items()}
    if isinstance(sample, (list, tuple)):
        return [converted(each) for each in sample]
    return sample


__all__ = ["collated", "converted"]
