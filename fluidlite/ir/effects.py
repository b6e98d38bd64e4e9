"""What the operators of a program do outside of the scope, and which of them nobody defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..opdef.effect import Effect
from .analysis import blocks_of
from .operator import Operator


class Place(NamedTuple):
    """An operator, and where it stands."""

    op: Operator
    index: int  #: in its block

    def __str__(self) -> str:
        site = "" if self.op.callsite is None else f", built at {self.op.callsite}"
        return f"operator {self.index} of block {self.op.block.idx}{site}"


def places_in(ops: Iterable[Operator]) -> Iterator[Place]:
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
            yield Place(op, numbers[id(op)])
            for block in blocks_of(op) if op.attrs else ():
                if block.idx not in seen:
                    seen.add(block.idx)
                    rows.append(block.ops)


def _numbers(row: list[Operator]) -> dict[int, int]:
    """The positions of operators in their block, by identity."""
    return {id(op): k for k, op in enumerate(row[0].block.ops)} if row else {}


class Deed(NamedTuple):
    """An operator with an effect."""

    place: Place
    effect: Effect
    target: str  #: the path, or the number of the function; empty where there is none

    @property
    def is_refused(self) -> bool:
        """Whether the operator is foreign, and nobody allowed its effect."""
        return self.effect.kind in self.place.op.foreign

    def __str__(self) -> str:
        return " ".join(filter(None, (self.place.op.type, self.effect.verb, self.target)))


def deed_of(place: Place) -> Deed | None:
    """The effect of an operator; None where it has none."""
    definition = place.op.definition
    effect = None if definition is None else definition.effect
    if definition is None or effect is None:
        return None
    value = place.op.attrs.get(effect.target) if effect.target else None
    return Deed(place, effect, "" if value is None else repr(value))


def unknown_in(places: Iterable[Place]) -> dict[str, list[Place]]:
    """The types that nobody defined, in order of their first place, and where they are."""
    found: dict[str, list[Place]] = {}
    for place in places:
        if place.op.definition is None:
            found.setdefault(place.op.type, []).append(place)
    return found
