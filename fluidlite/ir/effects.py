"""What the operators of a program do outside of the scope, and which of them nobody defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..ground.quoting import escaping
from ..opdef.effect import Effect
from .analysis import blocks_of
from .operator import Operator

if TYPE_CHECKING:
    from .program import Program


class OperatorPlace(NamedTuple):
    """An operator, and where it stands."""

    op: Operator
    position: int  #: in its block

    @escaping
    def __str__(self) -> str:
        site = "" if self.op.callsite is None else f", built at {self.op.callsite}"
        return f"operator {self.position} of block {self.op.block.idx}{site}"


def places_in(ops: Iterable[Operator]) -> Iterator[OperatorPlace]:
    """Operators, and those of the blocks that they drive, each once.

    Args:
        ops: of one block, in their order.
    """
    seen: set[int] = set()
    rows: list[list[Operator]] = [list(ops)]
    while rows:
        row = rows.pop()
        numbers = _numbers(row)
        for op in row:
            yield OperatorPlace(op, numbers[id(op)])
            for block in blocks_of(op) if op.attrs else ():
                if block.idx not in seen:
                    seen.add(block.idx)
                    rows.append(block.ops)


def _numbers(row: list[Operator]) -> dict[int, int]:
    """The positions of operators in their block, by identity."""
    return {id(op): k for k, op in enumerate(row[0].block.ops)} if row else {}


class Deed(NamedTuple):
    """An operator with an effect."""

    place: OperatorPlace
    effect: Effect
    target: str | int | None  #: the path, or the number of the function

    @property
    def is_refused(self) -> bool:
        """Whether the operator is foreign, and nobody allowed its effect."""
        return self.effect.kind in self.place.op.foreign

    @escaping
    def __str__(self) -> str:
        return deed_text(self.place.op.type, self.effect.verb, self.target)


def deed_text(operator: str, verb: str, target: str | int | None) -> str:
    """What an operator does, in words."""
    return f"{operator} {verb}" + ("" if target is None else f" {target!r}")


def deed_of(place: OperatorPlace) -> Deed | None:
    """The effect of an operator; None where it has none."""
    definition = place.op.definition
    effect = None if definition is None else definition.effect
    if definition is None or effect is None:
        return None
    return Deed(place, effect, _target(place.op, effect.target))


def _target(op: Operator, name: str) -> str | int | None:
    """The value of the attribute that names the target of an effect, without a mark."""
    if not name or not op.has_attr(name):
        return None
    value = op.attrs.get(name, op.definition.attributes[name].default)  # type: ignore[union-attr]
    return str(value) if isinstance(value, str) else int(value) if isinstance(value, int) else None


def every_place(program: Program) -> list[OperatorPlace]:
    """All operators of a program, those of blocks that nothing drives, too."""
    return [OperatorPlace(op, k) for block in program.blocks for k, op in enumerate(block.ops)]


def unknown_types(program: Program) -> list[str]:
    """The types of a program's operators that nobody defined."""
    return list(unknown_in(every_place(program)))


def unknown_in(places: Iterable[OperatorPlace]) -> dict[str, list[OperatorPlace]]:
    """The types that nobody defined, in order of their first place, and where they are."""
    unknown: dict[str, list[OperatorPlace]] = {}
    for place in places:
        if place.op.definition is None:
            unknown.setdefault(place.op.type, []).append(place)
    return unknown
