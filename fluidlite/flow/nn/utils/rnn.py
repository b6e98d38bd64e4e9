"""Sequences of different lengths in one tensor: padded to one length, or packed, step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....eager.engine import located
from ....errors import ArgumentError
from ....functions.creation import full
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...shapes import cat, index_select, reshape, stack, transpose
from ...tensor import tensor


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0) -> Any:
    """Sequences behind which a number stands until all have one length.

    Args:
        sequences: tensors [T, ...] that differ in T alone.
        batch_first: give [N, T, ...] instead of [T, N, ...].
        padding_value: the number.

    Raises:
        ArgumentError: there are none.

    >>> a, b = fluid.flow.tensor([1.0, 2.0]), fluid.flow.tensor([3.0])
    >>> fluid.flow.nn.utils.rnn.pad_sequence([a, b], batch_first=True).tolist()
    [[1.0, 2.0], [3.0, 0.0]]
    """
    listed = list(sequences)
    if not listed:
        raise located(ArgumentError, "expected sequences, got none")
    longest = max(len(each) for each in listed)
    rows = []
    for each in listed:
        missing = [longest - len(each), *each.array.shape[1:]]
        behind = each.results(full(missing, padding_value, each.array.dtype).array)
        rows.append(cat([each, behind]) if missing[0] else each)
    made = stack(rows)
    return made if batch_first else transpose(made, 0, 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences again that :func:`pad_sequence` was given.

    Args:
        padded_sequences: [T, N, ...].
        lengths: of each sequence.
        batch_first: it is [N, T, ...].
    """
    rows = padded_sequences if batch_first else transpose(padded_sequences, 0, 1)
    return [row[: int(length)] for row, length in zip(rows, np.asarray(lengths))]


class PackedSequence(NamedTuple):
    """Sequences, those with more steps first, as one tensor without padding: all first steps,
    then all second ones, and so on.

    Recurrent layers take it, and give their outputs as another one.
    """

    data: Any
    """The steps, [steps of all sequences, ...]."""
    batch_sizes: Any
    """How many sequences have each step, a tensor of int64."""
    sorted_indices: Any = None
    """Which sequence each of the sorted ones was; None where they were sorted already."""
    unsorted_indices: Any = None
    """Where each sequence stands among the sorted ones."""

    @property
    def lengths(self) -> np.ndarray:
        """The steps of each of the sorted sequences."""
        sizes = np.asarray(self.batch_sizes)
        return (sizes[:, None] > np.arange(sizes[0])).sum(0)

    def padded(self, padding_value: float = 0.0, steps: int | None = None) -> Any:
        """The sorted sequences side by side, [T, N, ...].

        Args:
            padding_value: stands behind the end of each.
            steps: how many there are; those of the longest sequence when None.
        """
        there = steps_there(self.lengths, steps)
        place = np.full(there.shape, there.sum())
        place[there] = np.arange(there.sum())
        rest = [int(n) for n in self.data.array.shape[1:]]
        behind = self.data.results(full([1, *rest], padding_value, self.data.array.dtype).array)
        rows = _picked(cat([self.data, behind]), 0, place.reshape(-1))
        return reshape(rows, [*there.shape, *rest])

    def sorted(self, rows: Any) -> Any:
        """Rows for all sequences, [K, N, ...], in the order that these are packed in."""
        return rows if self.sorted_indices is None else _in_order(rows, self.sorted_indices)

    def unsorted(self, rows: Any) -> Any:
        """Such rows in the order that the sequences had."""
        return rows if self.unsorted_indices is None else _in_order(rows, self.unsorted_indices)

    def like(self, rows: Any) -> PackedSequence:
        """The same sequences of other steps, given as [T, N, ...]."""
        return self._replace(data=packed_rows(rows, self.lengths))


def steps_there(lengths: np.ndarray, steps: int | None = None) -> np.ndarray:
    """Which sequences have which step, [T, N]."""
    return np.arange(lengths.max() if steps is None else steps)[:, None] < lengths


def _picked(x: Any, axis: int, places: np.ndarray) -> Any:
    """What lies at places along a dimension, of a tensor or a variable."""
    return index_select(x, axis, x.results(places))


def _in_order(rows: Any, order: Any) -> Any:
    return _picked(rows, 1, np.asarray(order))


def packed_rows(rows: Any, lengths: np.ndarray) -> Any:
    """The steps that sequences have, of [T, N, ...], one after the other."""
    place = np.flatnonzero(steps_there(lengths))
    flat = reshape(rows, [-1, *(int(n) for n in rows.array.shape[2:])])
    return _picked(flat, 0, place)


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Sequences without their padding.

    Args:
        input: [T, N, ...].
        lengths: the steps of each sequence, from 1 to T.
        batch_first: ``input`` is [N, T, ...].
        enforce_sorted: refuse sequences of which one has more steps than another before it.

    Raises:
        ArgumentError: lengths do not fit, or are not sorted.

    >>> rnn = fluid.flow.nn.utils.rnn
    >>> rows = fluid.flow.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]])
    >>> packed = rnn.pack_padded_sequence(rows, [3, 1], batch_first=True)
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1.0, 4.0, 2.0, 3.0], [2, 1, 1])
    """
    rows = transpose(input, 0, 1) if batch_first else input
    longest, count = (int(n) for n in rows.array.shape[:2])
    sizes = np.asarray(getattr(lengths, "array", lengths))
    fit = sizes.dtype.kind in "iu" and sizes.shape == (count,) and count
    if not fit or not (0 < sizes.min() <= sizes.max() <= longest):
        raise located(
            ArgumentError,
            f"expected lengths of {count} sequences, from 1 to {longest}, got {sizes.tolist()}",
        )
    order = np.argsort(-sizes, kind="stable")
    indices = {}
    if enforce_sorted and (np.diff(sizes) > 0).any():
        raise located(
            ArgumentError,
            f"expected lengths of which none is above the one before, got {sizes.tolist()}; "
            f"enforce_sorted=False sorts the sequences",
        )
    if not enforce_sorted:
        indices = dict(sorted_indices=tensor(order), unsorted_indices=tensor(np.argsort(order)))
        rows, sizes = _picked(rows, 1, order), sizes[order]
    counts = steps_there(sizes).sum(1)
    return PackedSequence(packed_rows(rows, sizes), tensor(counts), **indices)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """Sequences in the order that they were packed from, padded, and their lengths.

    Args:
        sequence: the packed ones.
        batch_first: give [N, T, ...] instead of [T, N, ...].
        padding_value: stands behind the end of each.
        total_length: T; the steps of the longest sequence when None.

    Raises:
        ArgumentError: a sequence has more than ``total_length`` steps.
    """
    lengths = sequence.lengths
    if total_length is not None and total_length < lengths.max():
        raise located(
            ArgumentError,
            f"expected total_length of at least {lengths.max()}, got {total_length!r:.60}",
        )
    rows = sequence.unsorted(sequence.padded(padding_value, total_length))
    if sequence.unsorted_indices is not None:
        lengths = lengths[np.asarray(sequence.unsorted_indices)]
    return transpose(rows, 0, 1) if batch_first else rows, tensor(lengths)


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of different lengths, packed.

    Args:
        sequences: tensors [T, ...] that differ in T alone.
        enforce_sorted: refuse those of which one is longer than another before it.

    Raises:
        ArgumentError: there are none, one is empty, or they are not sorted.

    >>> a, b = fluid.flow.tensor([1.0]), fluid.flow.tensor([2.0, 3.0])
    >>> packed = fluid.flow.nn.utils.rnn.pack_sequence([a, b], enforce_sorted=False)
    >>> packed.data.tolist(), packed.sorted_indices.tolist()
    ([2.0, 1.0, 3.0], [1, 0])
    """
    listed = list(sequences)
    lengths = [len(each) for each in listed]
    return pack_padded_sequence(pad_sequence(listed), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


list_public_names(globals())
api_boundaries(globals())
