"""Foreign operators: those that came from a file or from bytes, and may not have every effect.

The mark of an operator is the set of kinds of effects that are refused when it runs.  The values of
its attributes carry the mark, too, where it has an effect: an operator with an effect that is made
of such values is foreign, whoever makes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import state
from ..errors import ArgumentError, suggestion
from ..opdef.definition import Op
from ..opdef.effect import KINDS

if TYPE_CHECKING:
    from .operator import Operator
    from .program import Program

Mark = frozenset[str]
OWN: Mark = frozenset()
#: stays in the mark when every effect is allowed: what files hold that such operators name is shown
#: by no error
FROM_OUTSIDE = "from outside"
_KEPT = 1 << 16  # digests

#: the kinds of effects that programs may have from the start, wherever they come from
allowed: state.StateSlot[Mark] = state.slot("allowed effects", frozenset)
#: digest of what this process wrote -> the mark of all operators, or that of each
_written: state.StateSlot[dict[bytes, Mark | tuple[Mark, ...]]] = state.slot("written", dict)


class ForeignText(str):
    """A text from a foreign operator."""

    mark: Mark


class ForeignNumber(int):
    """A number from a foreign operator."""

    mark: Mark


class ForeignAttributes(dict[str, Any]):
    """The attributes of a foreign operator with an effect: they may all have their default."""

    def __init__(self, attrs: Mapping[str, Any], mark: Mark) -> None:
        super().__init__({name: with_mark(value, mark) for name, value in attrs.items()})
        self.mark = mark


def with_mark(value: Any, mark: Mark) -> Any:
    """The value of an attribute of a foreign operator: equal to the one given; texts and numbers
    carry the mark.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return value
    made = ForeignText(value) if isinstance(value, str) else ForeignNumber(value)
    made.mark = mark
    return made


def mark_of(value: Any) -> Mark:
    """The mark that a value of an attribute carries."""
    return value.mark if isinstance(value, _MARKED) else OWN


_MARKED = (ForeignText, ForeignNumber, ForeignAttributes)


def mark_in(definition: type[Op] | None, attrs: Mapping[str, Any] | None) -> Mark:
    """The mark of an operator that is made with these attributes."""
    if attrs is None or not has_effect(definition):
        return OWN
    return mark_of(attrs).union(*map(mark_of, attrs.values()))


def has_effect(definition: type[Op] | None) -> bool:
    """Whether operators of a definition, if there is one, have an effect."""
    return definition is not None and definition.effect is not None


def _operators(program: Program) -> Iterator[Operator]:
    for block in program.blocks:
        yield from block.ops


def note_written(program: Program, data: bytes) -> None:
    """Remember that this process wrote a program as these bytes.

    Args:
        program: what was written.
        data: what describes it: a program file or a text.
    """
    marks: Any = tuple([op.foreign for op in _operators(program)])
    if len(set(marks)) <= 1:
        marks = marks[0] if marks else OWN
    written, key = _written.get(), _digest(data)
    before = written.pop(key, None)
    if before is not None and before != marks:
        size = program_size(program)
        marks = tuple([a & b for a, b in zip(_each(before, size), _each(marks, size), strict=True)])
    written[key] = marks
    while len(written) > _KEPT:
        written.pop(next(iter(written)), None)


def mark_read(program: Program, data: bytes) -> None:
    """Mark the operators of a program that was just read.

    Args:
        program: what was read.
        data: the bytes that describe it.
    """
    known = _written.get().get(_digest(data))
    marks = _of_outside() if known is None else known
    if marks:
        each = _each(marks, program_size(program))
        for op, mark in zip(_operators(program), each, strict=True):
            op.foreign = mark


def note_text(program: Program, text: str) -> None:
    """Remember that this process wrote a program as this text."""
    note_written(program, _bytes_of(text))


def mark_text(program: Program, text: str) -> None:
    """Mark the operators of a program that was just read from a text."""
    mark_read(program, _bytes_of(text))


def _bytes_of(text: str) -> bytes:
    return text.strip().encode("utf-8", "surrogatepass")


def allow_in(program: Program, kinds: Sequence[str]) -> None:
    """Let the operators of a program have effects of some kinds.

    Raises:
        ArgumentError: there is no effect of a kind.
    """
    permitted = checked_kinds(kinds)
    for op in _operators(program):
        op.foreign -= permitted


def checked_kinds(kinds: Sequence[str]) -> Mark:
    """Kinds of effects.

    Raises:
        ArgumentError: there is no effect of a kind, or none is given.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ArgumentError(
                f"expected kinds of effects ({', '.join(KINDS)}), got {kind!r}"
                f"{suggestion(str(kind), KINDS)}"
            )
    if not kinds:
        raise ArgumentError(f"expected kinds of effects ({', '.join(KINDS)}), got none")
    return frozenset(kinds)


def mark_all(program: Program) -> None:
    """Mark the operators of a program that was built as a file of another kind says."""
    mark = _of_outside()
    for op in _operators(program):
        op.foreign = mark


def _of_outside() -> Mark:
    """The mark of what is read."""
    return frozenset({*KINDS, FROM_OUTSIDE}) - allowed.get()


def program_size(program: Program) -> int:
    """How many operators a program has."""
    return sum(len(block.ops) for block in program.blocks)


def _each(marks: Mark | tuple[Mark, ...], count: int) -> tuple[Mark, ...]:
    return marks if isinstance(marks, tuple) else (marks,) * count


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
