"""Sequences of tensors inside a model: their lengths are known when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..forms import operator
from .shape import part_of


@dataclass(frozen=True)
class TensorSequence:
    """Tensors one after the other; no variable has it."""

    values: list[Any]


def _place(f: Any, sequence: TensorSequence, position: Any, room: int) -> int:
    """A position in a sequence, counted from the front; the last one where it is absent."""
    if position is None:
        return room - 1
    at = int(f.number(position, "a position in a sequence"))
    if not -len(sequence.values) <= at < room:
        raise UnsupportedError(f"expected a position below {room}, got {at}")
    return at + len(sequence.values) if at < 0 else at


@operator("SequenceEmpty")
def sequence_empty(f: Any, *, dtype: int = 1) -> Any:
    return TensorSequence([])


@operator("SequenceConstruct")
def sequence_construct(f: Any, *xs: Any) -> Any:
    return TensorSequence(list(xs))


@operator("SequenceInsert")
def sequence_insert(f: Any, sequence: Any, x: Any, position: Any = None) -> Any:
    values = list(sequence.values)
    values.insert(_place(f, sequence, position, len(values) + 1), x)
    return TensorSequence(values)


@operator("SequenceErase")
def sequence_erase(f: Any, sequence: Any, position: Any = None) -> Any:
    values = list(sequence.values)
    del values[_place(f, sequence, position, len(values))]
    return TensorSequence(values)


@operator("SequenceAt")
def sequence_at(f: Any, sequence: Any, position: Any) -> Any:
    return sequence.values[_place(f, sequence, position, len(sequence.values))]


@operator("SequenceLength")
def sequence_length(f: Any, sequence: Any) -> Any:
    return np.array(len(sequence.values), np.int64)


@operator("ConcatFromSequence")
def concat_from_sequence(f: Any, sequence: Any, *, axis: int, new_axis: int = 0) -> Any:
    if new_axis:
        return f.stack(sequence.values, axis=axis)
    return f.concat(sequence.values, axis=axis)


@operator("SplitToSequence")
def split_to_sequence(
    f: Any, x: Any, split: Any = None, *, axis: int = 0, keepdims: int = 1
) -> Any:
    axis %= f.ndim(x)
    size = f.known_sizes(x, [axis])[0]
    if split is None:
        lengths = [1] * size
    elif f.ndim(split) == 0:
        each = int(f.number(split, "the length of the parts"))
        if each < 1:
            raise UnsupportedError(f"expected parts of at least one element, got {each}")
        lengths = [min(each, size - begin) for begin in range(0, size, each)]
    else:
        lengths = f.numbers(split, "the lengths of the parts")
    values, begin = [], 0
    for length in lengths:
        part = part_of(f, x, axis, begin, begin + length)
        values.append(part if keepdims or split is not None else f.dropped(part, axis))
        begin += length
    return TensorSequence(values)
