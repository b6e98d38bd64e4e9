"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions.creation import full
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ..shapes import cat, stack, transpose


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


list_public_names(globals())
api_boundaries(globals())
