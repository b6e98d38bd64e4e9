"""Foreign operators: those that came from a file or from bytes, and may not have every effect.

The mark of an operator is the set of kinds of effects that are refused when it runs.  The values of
its attributes carry the mark, too, where it has an effect: an operator with an effect that is made
of such values is foreign, no matter what makes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, suggestion
from ..ground import state
from ..opdef.definition import Op
from ..opdef.effect import KINDS

if TYPE_CHECKING:
    from .operator import Operator
    from .program import Program

Mark = frozenset[str]
Marks = Mark | tuple[Mark, ...]  #: of all operators of a program, or of each
OWN: Mark = frozenset()
#: stays in the mark when every effect is allowed: what files hold that such operators name is shown
#: by no error
FROM_OUTSIDE = "from outside"
_KEPT = 1 << 16  # digests

#: the kinds of effects that programs may have from the start, wherever they come from
allowed: state.StateSlot[Mark] = state.slot("allowed effects", frozenset)


class ForeignText(str):
    """A text from a foreign operator."""

    mark: Mark


class ForeignNumber(int):
    """A number from a foreign operator."""

    mark: Mark


class ForeignAttributes(dict[str, Any]):
    """The attributes of a foreign operator with an effect.

    One of them carries the mark into copies of the dictionary, with its default where all have
    theirs.
    """

    def __init__(self, definition: type[Op], attrs: Mapping[str, Any], mark: Mark) -> None:
        if not any(map(_takes_mark, attrs.values())):
            declared = (a for a in definition.attributes.values() if _takes_mark(a.default))
            attrs = {**attrs, **{a.name: a.default for a in itertools.islice(declared, 1)}}
        super().__init__({name: with_mark(value, mark) for name, value in attrs.items()})
        self.mark = mark

    def __reduce__(self) -> Any:
        return _rebuilt, (dict(self), self.mark)


def _rebuilt(attrs: dict[str, Any], mark: Mark) -> ForeignAttributes:
    made = ForeignAttributes.__new__(ForeignAttributes)
    made.update(attrs)
    made.mark = mark
    return made


def with_mark(value: Any, mark: Mark) -> Any:
    """The value of an attribute of a foreign operator: equal to the one given; texts and numbers
    carry the mark.
    """
    if not _takes_mark(value):
        return value
    made = ForeignText(value) if isinstance(value, str) else ForeignNumber(value)
    made.mark = mark
    return made


def _takes_mark(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


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


class WrittenDigests:
    """Digests of what this process wrote, with the marks of the operators in it: of the last many,
    in two generations.
    """

    def __init__(self) -> None:
        self._young: dict[bytes, Marks] = {}
        self._old: dict[bytes, Marks] = {}

    def find(self, key: bytes) -> Marks | None:
        """The marks under a digest; None where nothing was written that has it."""
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def keep(self, key: bytes, marks: Marks) -> None:
        """Remember marks."""
        if len(self._young) >= _KEPT:
            self._young, self._old = {}, self._young
        self._young[key] = marks


_written = state.slot("written programs", WrittenDigests)


def note_written(program: Program, data: bytes) -> None:
    """Remember that this process wrote a program as these bytes.

    Args:
        program: what was written.
        data: what describes it: a program file or a text.
    """
    note_operators(list(_operators(program)), data)


def note_operators(operators: Sequence[Operator], data: bytes) -> None:
    """Remember that this process wrote operators as these bytes; as of :func:`note_written`."""
    every = tuple([op.foreign for op in operators])
    marks: Marks = every if len(set(every)) > 1 else next(iter(every), OWN)  # one, nearly always
    written, key = _written.get(), _digest(data)
    before = written.find(key)
    if before is not None and before != marks:  # what any of them may, these bytes may
        count = len(operators)
        each = zip(_each(before, count), _each(marks, count), strict=True)
        marks = tuple([a & b for a, b in each])
    written.keep(key, marks)


def mark_read(program: Program, data: bytes) -> None:
    """Mark the operators of a program that was just read.

    Args:
        program: what was read.
        data: the bytes that describe it.
    """
    mark_operators(list(_operators(program)), data)


def mark_operators(operators: Sequence[Operator], data: bytes) -> None:
    """Mark operators that were just read from bytes; as of :func:`mark_read`."""
    known = _written.get().find(_digest(data))
    for op, mark in zip(operators, _each(known, len(operators)), strict=True):
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


def _each(marks: Marks | None, count: int) -> tuple[Mark, ...]:
    """The marks of so many operators; that of what is read where they are not known."""
    if isinstance(marks, tuple):
        return marks if len(marks) == count else (_of_outside(),) * count
    return (_of_outside() if marks is None else marks,) * count


def _digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(data, digest_size=32).digest()
