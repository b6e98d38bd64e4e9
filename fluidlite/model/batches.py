"""Batches of what a model is trained and tested on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..eager.recording import TensorRecord
from ..errors import ArgumentError, FluidError
from ..ground.reprs import shown
from ..ground.seeding import seeds
from ..readers.datasets import Samples


class Batch(NamedTuple):
    """A batch, and what is done with it."""

    inputs: Sequence[Any]  #: arrays
    labels: Sequence[Any] | None = None
    train: bool = False  #: find gradients
    step: bool = False  #: use them, and drop them
    parts: int = 1  #: batches whose gradients are used together


def loss_of(loss: Callable[..., Any], outputs: Sequence[Any], labels: Sequence[Any]) -> Any:
    """The loss of outputs and labels.

    Args:
        loss: a function or a layer; one of outputs alone is allowed.
        outputs, labels: what it is given.

    Raises:
        ArgumentError: it takes labels, and there are none.
    """
    if labels:
        return loss(*outputs, *labels)
    try:
        return loss(*outputs)
    except TypeError as error:
        if isinstance(error, FluidError):
            raise
        raise ArgumentError(
            f"the loss {shown(loss)} was called without labels, since there are none: {error}; "
            f"give them behind the inputs, as in fit((x, y)), or labels=[...] of the Model"
        ) from error


#: what a model is trained and tested on
Data = np.ndarray[Any, Any] | TensorRecord | Samples | Callable[[], Iterable[Any]] | Iterable[Any]


class DataBatches:
    """Data, batch by batch, from the beginning whenever it is iterated over.

    Args:
        data: a tuple or list of arrays with one row for each sample; a data set with ``len`` and
            samples by number, as a list of samples; a reader: a function that yields samples; or
            another iterable, of batches, which come as they are.
        batch_size: samples in a batch.
        shuffle: in another order every time; as they come where ``data`` has batches.
        drop_last: leave out a last batch that is smaller.

    Raises:
        ArgumentError: it is nothing of this, or the arrays have different lengths.
    """

    def __init__(
        self, data: Any, batch_size: int = 1, shuffle: bool = False, drop_last: bool = False
    ) -> None:
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ArgumentError(f"expected batch_size to be a positive number, got {batch_size!r}")
        self._size, self._shuffle, self._drops = batch_size, shuffle, drop_last
        self._rng = np.random.default_rng(0 if shuffle else None)
        self._samples: Callable[[], Sequence[Any] | Iterator[Any]] | None = None
        self._arrays: list[Any] | None = None
        self._batches: Any = None
        arrays: Any = [data] if isinstance(data, (np.ndarray, TensorRecord)) else data
        if isinstance(arrays, (tuple, list)) and all(
            isinstance(each, (np.ndarray, TensorRecord)) for each in arrays
        ):
            self._arrays = [_array(each) for each in arrays]
            if len({len(each) for each in self._arrays}) != 1:
                lengths = [len(each) for each in self._arrays]
                raise ArgumentError(f"expected arrays of one length, got lengths {lengths}")
        elif callable(data):
            self._samples = lambda: iter(data())
        elif hasattr(data, "__getitem__") and hasattr(data, "__len__"):
            self._samples = lambda: data
        elif hasattr(data, "__iter__"):
            if iter(data) is data:
                raise ArgumentError(
                    "expected data that can be gone through again, got an iterator; make a list "
                    "of it, or give the function that makes it"
                )
            self._batches = data
        else:
            raise ArgumentError(
                f"expected arrays, a data set, a reader or an iterable of batches, got "
                f"{data!r:.60} of type {type(data).__name__}"
            )

    @property
    def count(self) -> int | None:
        """How many batches there are; None where that is known at the end."""
        if self._batches is not None:
            return len(self._batches) if hasattr(self._batches, "__len__") else None
        if self._arrays is not None:
            samples = len(self._arrays[0])
        else:
            assert self._samples is not None
            found: Any = self._samples()
            if not hasattr(found, "__len__"):
                return None
            samples = len(found)
        return samples // self._size if self._drops else -(-samples // self._size)

    def __iter__(self) -> Iterator[list[Any]]:
        if self._batches is not None:
            for batch in self._batches:
                fields = batch if isinstance(batch, (list, tuple)) else [batch]
                yield [_array(each) for each in fields]
        elif self._arrays is not None:
            order = np.arange(len(self._arrays[0]))
            for rows in self._numbers(order):
                yield [each[rows] for each in self._arrays]
        else:
            assert self._samples is not None
            samples = self._samples()
            if self._shuffle or not isinstance(samples, Iterator):
                listed: Any = list(samples) if isinstance(samples, Iterator) else samples
                for rows in self._numbers(np.arange(len(listed))):
                    yield _stacked([listed[int(row)] for row in rows])
                return
            while chunk := list(islice(samples, self._size)):
                if len(chunk) == self._size or not self._drops:
                    yield _stacked(chunk)

    def _numbers(self, order: Any) -> Iterator[Any]:
        if self._shuffle:
            order = (seeds.get().orders or self._rng).permutation(order)
        last = len(order) - len(order) % self._size if self._drops else len(order)
        for begin in range(0, last, self._size):
            yield order[begin : begin + self._size]


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, TensorRecord) else np.asarray(value)  # type: ignore[attr-defined]


def _stacked(samples: list[Any]) -> list[Any]:
    """Samples as arrays of their fields; numbers as columns of one."""
    rows = [each if isinstance(each, (list, tuple)) else (each,) for each in samples]
    fields = [np.stack([_array(value) for value in column]) for column in zip(*rows)]
    return [each.reshape(-1, 1) if each.ndim == 1 else each for each in fields]
