"""Making tensors whose rows form sequences: of arrays, of lists, of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import ArgumentError
from .ground.missing_names import answer
from .ground.place import Place
from .ground.public_names import list_public_names
from .ground.tracebacks import api_boundaries
from .ground.values import LoDTensor


def create_lod_tensor(
    data: LoDTensor | np.ndarray[Any, Any] | Sequence[Any],
    recursive_seq_lens: Sequence[Sequence[int]],
    place: Place | None = None,
) -> LoDTensor:
    """A tensor whose rows form sequences.

    Args:
        data: an array, a LoDTensor, or a list of sequences of numbers, or of arrays of one shape:
            these are the rows, with one more dimension of size 1.
        recursive_seq_lens: lengths of the sequences of each level, outermost first.
        place: accepted for old scripts; there is one place.

    Raises:
        ArgumentError: the lengths do not fit the rows, or the sequences of a list.

    >>> import numpy as np
    >>> create_lod_tensor(np.ones([5, 1]), [[2, 3]]).lod()
    [[0, 2, 5]]
    """
    lengths = recursive_seq_lens
    if not isinstance(lengths, Sequence) or not all(hasattr(each, "__iter__") for each in lengths):
        raise ArgumentError(
            f"expected recursive_seq_lens to be a list of lengths for each level, such as "
            f"[[2, 3]], got {lengths!r:.60}"
        )
    if isinstance(data, LoDTensor):
        data = data.data
    elif isinstance(data, (list, tuple)):
        data = _rows_of_list(data, recursive_seq_lens)
    made = LoDTensor(np.array(data))
    made.set_recursive_sequence_lengths(recursive_seq_lens)
    return made


def _rows_of_list(sequences: Sequence[Any], lengths: Sequence[Sequence[int]]) -> Any:
    """The rows of all sequences of a list, as a column.

    Raises:
        ArgumentError: they are of several shapes, or of other lengths than those.
    """
    if not all(hasattr(each, "__len__") for each in sequences):
        raise ArgumentError(
            f"expected a list of sequences, one list of rows for each; got {sequences!r:.80}"
        )
    found = [len(each) for each in sequences]
    if not len(lengths) or found != [int(n) for n in lengths[-1]]:
        given = [int(n) for n in lengths[-1]] if len(lengths) else "none"
        raise ArgumentError(f"the sequences have lengths {found}, the lengths given are {given}")
    try:
        none = np.zeros(0, "int64")
        rows = np.concatenate([np.asarray(each) for each in sequences if len(each)] or [none])
    except ValueError:
        raise ArgumentError(
            f"expected rows of one shape in all sequences, got {sequences!r:.80}"
        ) from None
    return rows[..., np.newaxis]


def create_random_int_lodtensor(
    recursive_seq_lens: Sequence[Sequence[int]],
    base_shape: Sequence[int],
    place: Place | None,
    low: int,
    high: int,
) -> LoDTensor:
    """A tensor of random integers in [low, high] whose rows form sequences.

    Args:
        recursive_seq_lens: lengths of the sequences of each level.
        base_shape: the shape of one row.
        place: accepted for old scripts.
        low, high: bounds, both included.

    >>> x = fluid.create_random_int_lodtensor([[2, 1]], [1], fluid.CPUPlace(), 0, 9)
    >>> x.shape()
    [3, 1]
    """
    if not hasattr(base_shape, "__len__"):
        raise ArgumentError(f"expected base_shape to be a list of sizes, got {base_shape!r:.40}")
    rows = sum(recursive_seq_lens[-1])
    data = np.random.default_rng().integers(low, high + 1, [rows, *base_shape]).astype("int64")
    return create_lod_tensor(data, recursive_seq_lens, place)


list_public_names(globals())
api_boundaries(globals())
answer(globals())
