"""Sequences of tensors inside a model: their lengths are known when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..forms import operator
from .gathering import gather
from .shape import part_of


@dataclass(frozen=True)
class TensorSequence:
    """Tensors one after the other; no variable has it."""

    values: list[Any]


@dataclass(frozen=True)
class GrowingSequence:
    """What a loop carries whose passes are not known: each puts a tensor behind the others."""

    values: tuple[Any, ...] = ()  #: of this pass


@dataclass(frozen=True)
class StackedSequence:
    """Tensors of one shape, as many as passes of a loop: one variable with them side by side."""

    stacked: Any


def _place(f: Any, sequence: TensorSequence, position: Any, room: int) -> int:
    """A position in a sequence, counted from the front; the last one where it is absent."""
    if position is None:
        return room - 1
    at = int(f.number(position, "a position in a sequence"))
    if not -len(sequence.values) <= at < room:
        raise UnsupportedError(f"expected a position below {room}, got {at}")
    return at + len(sequence.values) if at < 0 else at


def _listed(sequence: Any) -> TensorSequence:
    """A sequence whose tensors are known one by one.

    Raises:
        UnsupportedError: it is another one.
    """
    if not isinstance(sequence, TensorSequence):
        raise UnsupportedError(
            "how often the loop around runs must be known when the model is loaded; if an input "
            "of the model says it, give it: constants={name: array}"
        )
    return sequence


@operator("SequenceEmpty", unread=["dtype"])
def sequence_empty(f: Any) -> Any:
    return TensorSequence([])


@operator("SequenceConstruct")
def sequence_construct(f: Any, *xs: Any) -> Any:
    return TensorSequence(list(xs))


@operator("SequenceInsert")
def sequence_insert(f: Any, sequence: Any, x: Any, position: Any = None) -> Any:
    if isinstance(sequence, GrowingSequence) and position is None:
        return GrowingSequence((*sequence.values, x))
    sequence = _listed(sequence)
    values = list(sequence.values)
    values.insert(_place(f, sequence, position, len(values) + 1), x)
    return TensorSequence(values)


@operator("SequenceErase")
def sequence_erase(f: Any, sequence: Any, position: Any = None) -> Any:
    sequence = _listed(sequence)
    values = list(sequence.values)
    del values[_place(f, sequence, position, len(values))]
    return TensorSequence(values)


@operator("SequenceAt")
def sequence_at(f: Any, sequence: Any, position: Any) -> Any:
    if isinstance(sequence, StackedSequence):
        return gather(f, sequence.stacked, position, axis=0)
    sequence = _listed(sequence)
    return sequence.values[_place(f, sequence, position, len(sequence.values))]


@operator("SequenceLength")
def sequence_length(f: Any, sequence: Any) -> Any:
    if isinstance(sequence, StackedSequence):
        return f.reshaped(f.size_of(sequence.stacked, 0), [])
    return np.array(len(_listed(sequence).values), np.int64)


@operator("ConcatFromSequence")
def concat_from_sequence(f: Any, sequence: Any, *, axis: int, new_axis: int = 0) -> Any:
    if isinstance(sequence, StackedSequence):
        x = sequence.stacked
        order = list(range(1, f.ndim(x)))
        axis %= f.ndim(x) if new_axis else f.ndim(x) - 1
        order.insert(axis, 0)
        x = f.transposed(x, order)
        return x if new_axis else _merged(f, x, axis)
    values = _listed(sequence).values
    return f.stack(values, axis=axis) if new_axis else f.concat(values, axis=axis)


def _merged(f: Any, x: Any, axis: int) -> Any:
    """A value with two neighbouring dimensions as one."""
    sizes = f.sizes(x)
    shape = [*sizes[:axis], -1, *sizes[axis + 2 :]]
    if shape.count(-1) == 1:
        return f.reshaped(x, shape)
    f.known_sizes(x, [i for i in range(len(sizes)) if i not in (axis, axis + 1)])
    return x


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
