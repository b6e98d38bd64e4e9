"""What a transformation did to each operator, told as :func:`rewrite` tells it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from ..ground.console import say
from ..ir.operator import Names, Operator
from ..ir.program import Program
from ..opdef.attribute import BlockRef
from .alignment import aligned, gaps
from .block_values import said_operator

#: a program, or several
T = TypeVar("T", bound=Any)


class TouchedOperator(NamedTuple):
    """An operator that a transformation added, changed, moved or left out."""

    op: Operator
    position: int  #: in its block, of the old program where it was there
    what: str


class SurgeryReport:
    """What a transformation did.

    Args:
        name: of the transformation.
        before: what it was given.
        after: what it gives, for all of it.
        left_out: why operators are left out.
    """

    def __init__(
        self, name: str, before: Iterable[Program], after: Iterable[Program], left_out: str = ""
    ) -> None:
        self.name = name
        self.touched: list[TouchedOperator] = []
        self.unchanged = 0
        self._left_out = f"left out{left_out and ': ' + left_out}"
        self._compare(_numbered(before), _numbered(after))

    def _compare(self, old: list[_Numbered], new: list[_Numbered]) -> None:
        regions = [(0, len(old), 0, len(new))]
        for key in _KEYS:
            rest: list[tuple[int, int, int, int]] = []
            for i, j, k, m in regions:
                found = aligned([key(op) for op, _ in old[i:j]], [key(op) for op, _ in new[k:m]])
                pairs = [(i + x, k + y) for x, y in found]
                rest += gaps(pairs, (i, j, k, m))
                for x, y in pairs:
                    self._tell_changes(*old[x], new[y][0])
            regions = rest
        gone = [each for i, j, _, _ in regions for each in old[i:j]]
        self._tell_moves(gone, [each for _, _, k, m in regions for each in new[k:m]])
        self.touched.sort(key=lambda each: (each.op.block.idx, each.position))

    def _tell_changes(self, op: Operator, position: int, other: Operator) -> None:
        if _key(op) == _key(other):
            self.unchanged += 1
        else:
            self.touched.append(TouchedOperator(op, position, "; ".join(_changes(op, other))))

    def _tell_moves(self, gone: Iterable[_Numbered], added: Iterable[_Numbered]) -> None:
        places: dict[object, list[_Numbered]] = {}
        for each in added:
            places.setdefault(_key(each[0]), []).append(each)
        for op, position in gone:
            there = places.get(_key(op))
            what = self._left_out
            if there:
                twin, at = there.pop(0)
                block = f"block {twin.block.idx}, " if twin.block.idx else ""
                what = f"moved to {block}operator {at}"
            self.touched.append(TouchedOperator(op, position, what))
        for left in places.values():
            self.touched += [TouchedOperator(op, position, "added") for op, position in left]

    def __str__(self) -> str:
        lines = [
            f"{said_operator(op.block.idx, position, op.type, op.callsite)}: {self.name}: {what}"
            for op, position, what in self.touched
        ]
        count = len(self.touched)
        told = f"{count} of {count + self.unchanged} operators changed"
        return "\n".join([*lines, told])


_Numbered = tuple[Operator, int]


def explained(result: T, explain: bool, name: str, *before: Program, left_out: str = "") -> T:
    """The result of a transformation, a program or several; prints what it did to each operator.

    Args:
        result: what the transformation gives.
        explain: whether to print.
        name, before, left_out: as of :class:`SurgeryReport`.
    """
    if explain:
        after = [result] if isinstance(result, Program) else result
        say(SurgeryReport(name, before, after, left_out))
    return result


def _numbered(programs: Iterable[Program]) -> list[_Numbered]:
    return [
        (op, position)
        for program in programs
        for block in program.blocks
        for position, op in enumerate(block.ops)
    ]


def _attributes(op: Operator) -> dict[str, str]:
    """Attributes in text, but for the numbers of blocks."""
    told = {name: value for name, value in op.attrs.items() if not isinstance(value, BlockRef)}
    more = {"op_role": int(op.role), "op_device": op.device, "op_namescope": op.namescope}
    return {name: repr(value) for name, value in {**told, **more}.items()}


def _key(op: Operator) -> tuple[object, ...]:
    """Equal for operators that are the same."""
    attributes = tuple(sorted(_attributes(op).items()))
    inputs, outputs = (tuple(sorted(side.items())) for side in (op.inputs, op.outputs))
    return op.type, inputs, outputs, attributes


#: what makes operators one, from the surest to the least sure
_KEYS: tuple[Callable[[Operator], Hashable], ...] = (
    _key,
    lambda op: (op.type, tuple(sorted(op.outputs.items()))),
    lambda op: (op.type, op.callsite),
)


def _changes(old: Operator, new: Operator) -> Iterator[str]:
    """How an operator differs from what it was."""
    for verb, mine, theirs in (
        ("reads", old.inputs, new.inputs),
        ("writes", old.outputs, new.outputs),
    ):
        for slot in {**mine, **theirs}:
            before, after = mine.get(slot, ()), theirs.get(slot, ())
            if before != after:
                yield f"{verb} {_listed(after)}, not {_listed(before)}"
    before_attributes, after_attributes = _attributes(old), _attributes(new)
    for name in {**before_attributes, **after_attributes}:
        was, now = before_attributes.get(name), after_attributes.get(name)
        if was != now:
            yield f"{name} is {_short(now)}, not {_short(was)}"


def _listed(names: Names) -> str:
    return ", ".join(map(repr, names)) or "nothing"


def _short(text: str | None) -> str:
    text = "the default" if text is None else text
    return text if len(text) <= 60 else f"{text[:57]}..."
