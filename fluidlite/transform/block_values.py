"""The values of a block: who makes each, who reads it, and which are needed outside."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..ir.analysis import (
    blocks_driven_by,
    fetched_names,
    read_by_gradients,
    reads_of,
    writes_of,
)
from ..ir.block import Block
from ..ir.operator import EMPTY, Names, Operator
from ..ir.program import Program
from .versions import may_stay

#: a name, and how often the block had written it
Value = tuple[str, int]
Slots = Mapping[str, tuple[Value | None, ...]]


class BlockValues:
    """The values of a block, as its operators are now.

    Args:
        block: whose operators are read.
        needed: names whose last values are read from outside, beside those that stay in the scope
            and those of blocks around this one.
        numbers: identity of an operator -> its position in the user's program, for messages.
    """

    def __init__(self, block: Block, needed: Collection[str], numbers: Mapping[int, int]) -> None:
        self.block = block
        self.ops: list[Operator] = block.ops
        self.inputs: list[Slots] = []
        self.outputs: list[Slots] = []
        self.maker: dict[Value, int] = {}
        self.readers: dict[Value, list[int]] = {}
        self.writes: dict[str, list[int]] = {}
        self._needed = needed
        self._numbers = numbers
        for position, op in enumerate(self.ops):
            self._add(position, op)

    def _add(self, position: int, op: Operator) -> None:
        writes, readers = self.writes, self.readers
        slots: dict[str, tuple[Value | None, ...]] = {}
        for slot, names in op.inputs.items():
            slots[slot] = self._now(names)
        self.inputs.append(slots)
        read: Iterable[Value | None]
        if op.attrs and blocks_driven_by(op):
            read = self._now(tuple(reads_of(op)))
        else:
            read = [value for values in slots.values() for value in values]
        written_names = writes_of(op)
        definition = op.definition
        if definition is None or definition.block_attributes or definition.fluid.updates:
            kept = tuple(name for name in written_names if may_stay(op, name))
            read = [*read, *self._now(kept)]
        for value in dict.fromkeys(read):
            if value is not None:
                readers.setdefault(value, []).append(position)
        for name in written_names:
            written = writes.setdefault(name, [])
            if not written or written[-1] != position:
                written.append(position)
                self.maker[name, len(written)] = position
        self.outputs.append({slot: self._now(names) for slot, names in op.outputs.items()})

    def _now(self, names: Names) -> tuple[Value | None, ...]:
        writes = self.writes
        return tuple(
            [None if name == EMPTY else (name, len(writes.get(name, ()))) for name in names]
        )

    def said(self, at: int) -> str:
        """An operator in a message: its position in the user's program, its type and line."""
        op = self.ops[at]
        where = "" if op.callsite is None else f" at {op.callsite}"
        block = f"block {self.block.idx}, " if self.block.idx else ""
        return f"{block}operator {self._numbers.get(id(op), at)}, {op.type}{where}"

    def is_needed(self, value: Value) -> bool:
        """Whether a value is still there when the block ends, and is read from outside."""
        name, version = value
        if version < len(self.writes.get(name, ())):
            return False
        variable = self.block.vars.get(name)
        return variable is None or variable.persistable or name in self._needed

    def rewritten_between(
        self, name: str, begin: int, end: int, but: Collection[int]
    ) -> int | None:
        """The position of an operator that writes a name; None where none does.

        Args:
            name: of a variable.
            begin, end: positions; the first one looked at, and the one behind the last.
            but: positions of operators that do not count.
        """
        written = self.writes.get(name, ())
        for at in range(bisect_left(written, begin), len(written)):
            if written[at] >= end:
                return None
            if written[at] not in but:
                return written[at]
        return None


def needed_names(program: Program, keep: Collection[str]) -> Iterator[set[str]]:
    """Block by block the names of its own variables whose last values are read from outside.

    Args:
        program: any.
        keep: names that are to be fetched.
    """
    drivers = {
        index: op for block in program.blocks for op in block.ops for index in blocks_driven_by(op)
    }
    of_gradients = read_by_gradients(program)
    for block in program.blocks:
        needed = {*keep, *of_gradients.get(block.idx, ())}
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
