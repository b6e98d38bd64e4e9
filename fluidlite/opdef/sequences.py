"""How the rows of a value form sequences, as operators ask for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import LoDError, OutOfRangeError, ShapeError
from ..ground.advice import SEQUENCES
from ..ground.values import offsets_from
from .signature import Slot

Array = np.ndarray[Any, Any]


#: hidden outputs that have the rows of an input, and its sequences
_WITH_ROWS = frozenset({"Softmax", "IntermediateOut", "XShape"})


def has_no_sequences(slot: Slot) -> bool:
    """Whether an output is kept for the gradient alone, and so takes over no sequences.

    Args:
        slot: of the output.
    """
    return slot.hidden and slot.name not in _WITH_ROWS


def lod_of(value: Any) -> tuple[tuple[int, ...], ...]:
    """The offsets of each level, outermost first; no level where there are no sequences.

    Args:
        value: a LoDTensor, a value of a tape that holds one, or an array.
    """
    found: tuple[tuple[int, ...], ...] = getattr(value, "offsets", ())
    return found


def offsets_of(value: Any, slot: str, levels: int = 1) -> tuple[int, ...]:
    """The offsets of the innermost level.

    Args:
        value: as of :func:`lod_of`.
        slot: where the operator takes it.
        levels: how many levels there have to be at least.

    Raises:
        LoDError: there are fewer.
    """
    lod = lod_of(value)
    if len(lod) < levels:
        many = "sequences" if levels == 1 else f"sequences of {levels} levels"
        what = f"{len(lod)} level" if lod else "no LoD"
        raise LoDError(
            f"expected {slot} with {many}, got {what}; {SEQUENCES} "
            f"to a variable with lod_level={levels}"
        )
    return lod[-1]


def one_level_of(value: Any, slot: str) -> tuple[int, ...]:
    """The offsets of the only level.

    Args:
        value: as of :func:`lod_of`.
        slot: where the operator takes it.

    Raises:
        LoDError: there is none, or there are several.
    """
    offsets = offsets_of(value, slot)
    if len(lod_of(value)) > 1:
        raise LoDError(
            f"expected {slot} with sequences of 1 level, got lengths "
            f"{lengths_text(lod_of(value))}; lod_reset gives its rows the innermost level alone"
        )
    return offsets


def as_column(numbers: Any, like: Any) -> Array:
    """One number for each row, in a shape that combines with the rows.

    Args:
        numbers: [n].
        like: rows, [n, ...]; its number of dimensions and element type count.
    """
    return np.asarray(numbers).astype(like.dtype).reshape(-1, *(1,) * (len(like.shape) - 1))


def lengths_of(offsets: Any) -> Array:
    """The lengths of sequences, from their offsets."""
    return np.diff(np.asarray(offsets, np.int64))


def rows_in(offsets: Any, chosen: Any) -> Array:
    """The numbers of the rows of chosen sequences, one sequence behind the other.

    Args:
        offsets: of all sequences.
        chosen: numbers of sequences, in any order and also several times.

    >>> rows_in((0, 2, 5), [1, 0, 1])
    array([2, 3, 4, 0, 1, 2, 3, 4])
    """
    begins = np.asarray(offsets, np.int64)
    chosen = np.asarray(chosen, np.int64)
    lengths = begins[chosen + 1] - begins[chosen]
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(
        begins[chosen] - (ends - lengths), lengths
    )


def positions_in(offsets: Any) -> tuple[Array, Array]:
    """Of each row the number of its sequence, and its position there.

    >>> positions_in((0, 2, 5))
    (array([0, 0, 1, 1, 1]), array([0, 1, 0, 1, 2]))
    """
    begins = np.asarray(offsets, np.int64)
    lengths = np.diff(begins)
    number = np.repeat(np.arange(len(lengths)), lengths)
    return number, np.arange(begins[-1]) - begins[number]


def taken(lod: Any, chosen: Any) -> tuple[Array, tuple[tuple[int, ...], ...]]:
    """The rows of chosen sequences, and how these form sequences.

    Args:
        lod: offsets of all levels; the outermost is the one that is chosen from.
        chosen: numbers of sequences, or of rows where there is no level.

    >>> taken(((0, 2, 3), (0, 1, 3, 6)), [1, 0])
    (array([3, 4, 5, 0, 1, 2]), ((0, 1, 3), (0, 3, 4, 6)))
    """
    numbers, levels = np.asarray(chosen, np.int64), []
    for level in lod:
        levels.append(offsets_from(lengths_of(level)[numbers]))
        numbers = rows_in(level, numbers)
    return numbers, tuple(levels)


def lengths_text(lod: Any) -> str:
    """The lengths of sequences, of many the first ones.

    >>> lengths_text(((0, 2, 3), (0, 1, 3, 6)))
    '[[2, 1], [1, 2, 3]]'
    """
    levels = [np.diff(level).tolist() for level in lod]
    parts = [f"{str(level[:8])[:-1]}{', ...' if len(level) > 8 else ''}]" for level in levels]
    return f"[{', '.join(parts)}]"


def padded_lengths(given: Any, rows: int, width: int, what: str) -> Any:
    """Lengths of padded sequences, as a vector, after a look at their values.

    Args:
        given: one for each row.
        rows, width: of what is padded.
        what: the slot of the lengths.

    Raises:
        ShapeError: there are not as many lengths as rows.
        OutOfRangeError: a length is negative, or more than there is.
    """
    lengths = np.asarray(given).reshape(-1).astype(np.int64)
    if len(lengths) != rows:
        raise ShapeError(f"expected {what} of {rows} lengths, one a row, got {len(lengths)}")
    wrong = (lengths < 0) | (lengths > width)
    if wrong.any():
        raise OutOfRangeError(
            f"expected lengths in [0, {width}], the padded size, in {what}, got "
            f"{int(lengths[wrong][0])} for row {int(wrong.argmax())}"
        )
    return lengths
