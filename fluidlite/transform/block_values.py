"""The values of a block: who makes each, who reads it, and which are needed outside."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil
from operator import add
from typing import Any, NamedTuple

from ..ground.callsite import CallSite
from ..ir.analysis import GradientReads, drivers_in, fetched_names, read_by_gradients
from ..ir.block import Block
from ..ir.operator import EMPTY, Names, Operator
from ..ir.program import Program
from ..opdef.definition import find
from .versions import Version, Versions

Value = Version
#: between replacements in front of one position
_STEP = 2.0**-32
Slots = Mapping[str, tuple[Value | None, ...]]


class Spelt(NamedTuple):
    """An operator of a program, as it is or as another one that computes the same there."""

    type: str
    inputs: Slots
    outputs: Slots
    attrs: Mapping[str, Any]


def _by_slot(slots: Mapping[str, Names], values: Sequence[Value]) -> Slots:
    """The values that names in slots mean; of one that is only mentioned, the first."""
    by_slot: dict[str, tuple[Value | None, ...]] = {}
    if len(values) == len(slots):  # mostly one for each
        for (slot, names), value in zip(slots.items(), values):
            if len(names) != 1 or names[0] != value[0]:
                break
            by_slot[slot] = (value,)
        else:
            return by_slot
    meant: dict[str, Value | None] = {EMPTY: None}
    for value in values:
        meant[value[0]] = value
    for slot, names in slots.items():
        try:
            by_slot[slot] = tuple(map(meant.__getitem__, names))
        except KeyError:
            by_slot[slot] = tuple([meant.get(name, (name, 0)) for name in names])
    return by_slot


class BlockValues(Versions):
    """The values of a block, as its operators are now.

    Args:
        block: whose operators are read.
        needed: names whose last values are read from outside, beside those that stay in the scope
            and those of blocks around this one.
        numbers: identity of an operator -> its position in the user's program, for messages.
    """

    def __init__(self, block: Block, needed: Collection[str], numbers: Mapping[int, int]) -> None:
        super().__init__(block)
        #: who makes a value: operators by their positions, replacements between them
        self.maker: dict[Value, float] = {**self.writer}
        #: the positions of operators that were replaced
        self.gone: set[int] = set()
        #: how many replacements stand in front of a position
        self._placed: dict[int, int] = {}
        self._moved_readers: dict[Value, list[float]] = {}
        self._moved_writes: dict[str, list[float]] = {}
        self._spelt: dict[int, Spelt] = {}
        self._needed = needed
        self._numbers = numbers

    @cached_property
    def readers(self) -> dict[Value, list[int]]:
        """The positions of the operators that read a value, or only name it."""
        readers: dict[Value, list[int]] = {}
        for position, read in enumerate(map(add, self.reads, self.passed_by)):
            for value in read:
                readers.setdefault(value, []).append(position)
        naming = {type: find(type) for type in {op.type for op in self.ops}}
        unread = {type: d.fluid.unread for type, d in naming.items() if d and d.fluid.unread}
        for position, op in enumerate(self.ops) if unread else ():
            for name in (n for slot in unread.get(op.type, ()) for n in op.inputs.get(slot, ())):
                value = (name, bisect_left(self.rebound.get(name, ()), position))
                insort(readers.setdefault(value, []), position)
        return readers

    @cached_property
    def rebound(self) -> dict[str, list[int]]:
        """Where each name is written."""
        rebound: dict[str, list[int]] = {}
        for (name, _), position in self.writer.items():
            rebound.setdefault(name, []).append(position)
        return rebound

    def spelt(self, at: int) -> Spelt:
        """The operator at a position as it is, with values by slot; None in an empty place of a
        list.
        """
        spelt = self._spelt.get(at)
        if spelt is None:
            op = self.ops[at]
            inputs = _by_slot(op.inputs, self.reads[at])
            outputs = _by_slot(op.outputs, self.writes[at])
            spelt = self._spelt[at] = Spelt(op.type, inputs, outputs, op.attrs)
        return spelt

    def said(self, at: float) -> str:
        """An operator in a message: its position in the user's program, its type and line; that
        which a replacement stands in front of.
        """
        at = ceil(at)
        op = self.ops[at]
        return said_operator(self.block.idx, self._numbers.get(id(op), at), op.type, op.callsite)

    def why_needed(self, value: Value) -> str:
        """Why a value has to be there, under its name, when the block ends; empty where it need not
        be.
        """
        name, version = value
        if version < self.last.get(name, 0):
            return ""
        variable = self.block.vars.get(name)
        if variable is None:
            return "belongs to a block around this one"
        if variable.persistable:
            return "stays in the scope"
        return "is kept, fetched, or read from another block" if name in self._needed else ""

    def readers_of(self, value: Value) -> Iterator[float]:
        """Where a value is read now: positions of operators, and those of replacements."""
        gone = self.gone
        for at in self.readers.get(value, ()):
            if at not in gone:
                yield at
        yield from self._moved_readers.get(value, ())

    def rewritten_between(
        self, name: str, begin: float, end: float, but: Collection[int]
    ) -> float | None:
        """Where a name is written first between two positions; None where it is not.

        Args:
            name: of a variable.
            begin, end: what lies between them counts.
            but: positions of operators that do not count.
        """
        written = self.rebound.get(name)
        if written and written[-1] > begin:  # most names are written once
            for at in range(bisect_right(written, begin), len(written)):
                if written[at] >= end:
                    break
                if written[at] not in but and written[at] not in self.gone:
                    return written[at]
        moved = self._moved_writes.get(name)
        if not moved or moved[-1] <= begin:
            return None
        first = bisect_right(moved, begin)
        return moved[first] if moved[first] < end else None

    def next_at(self, position: int) -> float:
        """Where a replacement stands that is put in front of a position now: behind those that were
        put there before.
        """
        return position - 0.5 + self._placed.get(position, 0) * _STEP

    def replace(
        self,
        position: int,
        removed: Collection[int],
        reads: Iterable[Value],
        writes: Iterable[Value],
    ) -> None:
        """Note that operators were replaced.

        Args:
            position: in front of which the replacement stands.
            removed: positions of the operators.
            reads, writes: of the replacement.
        """
        at = self.next_at(position)
        self._placed[position] = self._placed.get(position, 0) + 1
        self.gone.update(removed)
        for each in removed if self._spelt else ():
            self._spelt.pop(each, None)
        readers, moved = self._moved_readers, self._moved_writes
        for value in reads:
            there = readers.get(value)
            if there is None:
                readers[value] = [at]
            else:
                there.append(at)
        for value in writes:
            self.maker[value] = at
            before = moved.get(value[0])
            if before is None:
                moved[value[0]] = [at]
            else:
                insort(before, at)


def said_operator(block: int, position: int, type: str, site: CallSite | None) -> str:
    """An operator in a message: where it is, its type and its line."""
    where = "" if site is None else f" at {site}"
    return f"{f'block {block}, ' if block else ''}operator {position}, {type}{where}"


def needed_names(program: Program, keep: Collection[str]) -> Iterator[set[str]]:
    """Block by block the names of its own variables whose last values are read from outside.

    Args:
        program: any.
        keep: names that are to be fetched.
    """
    drivers = {
        index: op for block in program.blocks for op, all in drivers_in(block) for index in all
    }
    of_gradients = read_by_gradients(program)
    for block in program.blocks:
        needed = {*keep, *of_gradients.get(block.idx, GradientReads()).own}
        driver = drivers.get(block.idx)
        if driver is not None:
            needed |= _read_by_driver(driver, block)
        if block.idx == 0:
            needed.update(fetched_names(block))
        yield needed


def _read_by_driver(driver: Operator, block: Block) -> set[str]:
    """What an operator reads of the block that it drives; all of it where nobody defined it."""
    if driver.definition is None:
        return set(block.vars)
    kept = set(driver.instance().kept_names(driver.inputs))
    return kept | set(driver.output_arg_names) | set(driver.input_arg_names)
