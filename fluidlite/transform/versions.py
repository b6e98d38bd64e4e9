"""The values that the names of a block hold in turn."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import cached_property
from typing import TypeAlias

from ..errors import ArgumentError
from ..ir.analysis import reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..opdef.definition import Op, find
from .blocks import ENDS
from .selecting import ValueAt, ValueLike, name_of, operator_of, place_of

#: a name, and how many operators of the block have written it: 0 for the value that it begins with
Version: TypeAlias = tuple[str, int]


class _Current(dict[str, Version]):
    """The value that each name holds now: one object for all who read it."""

    def __missing__(self, name: str) -> Version:
        self[name] = first = (name, 0)
        return first


class Versions:
    """What each operator of a block reads and writes, as values.

    An operator that may leave a variable as it is (it drives a block, updates an array, or nobody
    defined it) reads the value before, too.  Operators that feed and fetch do neither: what they
    feed is there when the block begins.

    Args:
        block: is gone through once.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops: list[Operator] = block.ops
        self.reads: list[list[Version]] = []
        self.writes: list[list[Version]] = []
        #: what an operator would leave as it is
        self.passed_by: list[list[Version]] = []
        self.writer: dict[Version, int] = {}
        now = _Current()
        plain = {type: _plain_slots(type) for type in {op.type for op in self.ops}}
        for position, op in enumerate(self.ops):
            passed_by: list[Version] = []
            slots = plain[op.type]
            if slots and op.inputs.keys() <= slots[0] and op.outputs.keys() <= slots[1]:
                read = [n for names in op.inputs.values() for n in names if n != EMPTY]
                wrote = [n for names in op.outputs.values() for n in names if n != EMPTY]
                self.reads.append([now[name] for name in _each_once(read)])
            else:
                is_end = op.type in ENDS
                read, wrote = ([], []) if is_end else (reads_of(op), writes_of(op))
                self.reads.append([now[name] for name in _each_once(read)])
                passed_by = [now[name] for name in _each_once(wrote) if may_stay(op, name)]
            self.passed_by.append(passed_by)
            written = [(n, now[n][1] + 1 if n in now else 1) for n in _each_once(wrote)]
            for version in written:
                now[version[0]] = version
                self.writer[version] = position
            self.writes.append(written)
        self.last: dict[str, int] = {name: count for name, count in now.values() if count}

    @cached_property
    def read_first(self) -> set[str]:
        """Names whose first value is read."""
        return {name for read in self.reads for name, version in read if not version}

    def may_be_unset(self, version: Version) -> bool:
        """Whether a value is that of an operator that may not run the block which computes it."""
        name, number = version
        variable = self.block.find_var_recursive(name)
        if number != 1 or (variable is not None and (variable.persistable or variable.is_data)):
            return False
        op = self.block.ops[self.writer[version]]
        return bool(getattr(op.definition, "condition_slot", "")) and not runs_always(op)

    def is_absent(self, version: Version) -> bool:
        """Whether the operator that would compute a value never does, as its attributes say."""
        op = self.ops[self.writer[version]] if version in self.writer else None
        if op is None or op.definition is None or _gives_all(op.definition):
            return False
        absent = op.instance().absent_outputs()
        return any(version[0] in op.outputs.get(slot, ()) for slot in absent)

    def at(self, name: str, position: int) -> Version:
        """The value that a name holds in front of a position."""
        count = sum(
            1 for writes in self.writes[:position] for written, _ in writes if written == name
        )
        return name, count

    def meant(self, program: Program, value: ValueAt) -> Version:
        """The value that a user chose by a place.

        Raises:
            ArgumentError: there is no such operator, it lies in another block, or two places are
                given.
        """
        name = name_of(value)
        if (value.after is None) == (value.before is None):
            raise ArgumentError(f"expected after= or before= of the value of {name!r}, got {value}")
        where = value.after if value.before is None else value.before
        assert where is not None
        op = operator_of(program, where)
        if op.block is not self.block:
            raise ArgumentError(
                f"expected a value of block {self.block.idx}, {place_of(op)} lies elsewhere"
            )
        return self.at(name, op.idx + (value.before is None))


def _plain_slots(type: str) -> tuple[Set[str], Set[str]] | None:
    """The slots of operators of a type that read and write just what these say, and that whole;
    None of others.
    """
    definition = find(type)
    if definition is None or definition.block_attributes or type in ENDS:
        return None
    form = definition.fluid
    if form.unread or form.idle or form.updates:
        return None
    return definition.input_slots.keys(), definition.output_slots.keys()


def _gives_all(definition: type[Op]) -> bool:
    """Whether operators of a type give all their outputs values, whatever their attributes."""
    return definition.absent_outputs is Op.absent_outputs


def _each_once(names: list[str]) -> Iterable[str]:
    return names if len(names) == 1 else dict.fromkeys(names)


def block_of(program: Program, value: ValueLike) -> Block | None:
    """The block whose values a place tells of; None for a variable alone."""
    if not isinstance(value, ValueAt):
        return None
    where = value.after if value.before is None else value.before
    return None if where is None else operator_of(program, where).block


def runs_always(op: Operator) -> bool:
    """Whether an operator is a ``conditional_block`` whose condition is known to hold."""
    if not op.type.startswith("conditional_block") or not op.input("Cond"):
        return False
    for name in op.input("Cond"):
        writers = [each for each in op.block.ops if each.writes(name)]
        if len(writers) != 1 or not _is_true(writers[0]):
            return False
    return True


def _is_true(op: Operator) -> bool:
    return op.type == "fill_constant" and not op.inputs and bool(op.attr("value"))


def may_stay(op: Operator, name: str) -> bool:
    """Whether an operator may leave a variable that it writes as it was, or as it was in part."""
    definition = op.definition
    if definition is None or definition.block_attributes:
        return True
    updates = definition.fluid.updates
    return bool(updates) and any(name in op.outputs.get(slot, ()) for slot in updates)


def mentions(op: Operator) -> list[str]:
    """All names in the slots of an operator."""
    return [n for n in (*op.input_arg_names, *op.output_arg_names) if n != EMPTY]
