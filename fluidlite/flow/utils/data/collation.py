"""From samples to batches of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....eager.recording import TensorRecord
from ....errors import ArgumentError
from ....functions.mixing import default_float
from ...shapes import stack
from ...tensor import tensor


def collated(batch: Sequence[Any]) -> Any:
    """The samples of a batch as one: tensors, arrays and numbers stacked, others part by part.

    Args:
        batch: samples of one kind.

    Raises:
        ArgumentError: they are of a kind of which no batch is made, or have different lengths.
    """
    first = batch[0]
    if isinstance(first, TensorRecord):
        return stack(list(batch))
    if isinstance(first, np.ndarray):
        return stack([tensor(_numbers(each)) for each in batch])
    if isinstance(first, (bool, int, np.generic)):
        numbers = _numbers(np.stack(batch))
        return tensor(numbers, dtype=default_float() if numbers.dtype.kind == "f" else None)
    if isinstance(first, float):
        return tensor(list(batch), dtype="float64")
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: collated([sample[key] for sample in batch]) for key in first}
    if not isinstance(first, Sequence):
        raise _refused(type(first).__name__)
    counts = sorted({len(sample) for sample in batch})
    if len(counts) > 1:
        raise ArgumentError(f"expected samples of as many fields as each other, got {counts}")
    fields = [collated(field) for field in zip(*batch)]
    return type(first)(*fields) if hasattr(first, "_fields") else fields


def converted(sample: Any) -> Any:
    """A sample with its arrays as tensors.

    Args:
        sample: a tensor, an array, or a list or a dictionary of them.
    """
    if isinstance(sample, (np.ndarray, np.generic)):
        return tensor(_numbers(np.asarray(sample)))
    if isinstance(sample, Mapping):
        return {key: converted(value) for key, value in sample.items()}
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*map(converted, sample))
    if isinstance(sample, Sequence) and not isinstance(sample, (str, bytes)):
        return [converted(each) for each in sample]
    return sample


def _numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.kind not in "biuf":
        raise _refused(f"arrays of {array.dtype}")
    return array


def _refused(kind: str) -> ArgumentError:
    return ArgumentError(
        f"expected samples of tensors, arrays, numbers, texts, dictionaries and lists, got {kind}; "
        f"give the loader a collate_fn"
    )


__all__ = ["collated", "converted"]
