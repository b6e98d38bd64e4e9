"""Command buffers of a compiled segment: instructions in a row that one native call makes.

A first run shows which instructions are commands.  Those in a row, and the views between them, are
a command sequence.  It is recorded in its first run in some set of buffers, whose arrays stay; the
arrays that others come for in each run are given to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..backend.commands import NOT_RECORDED, UNFIT, CommandBuffer, CommandFunctions, NativeCommand
from ..opdef.prepared import Declined
from .graph import Instruction
from .value import Value

FEWEST = 2  #: commands that one call is made of


class Recording:
    """What a first run shows of commands.

    Args:
        functions: those that run command buffers.
    """

    def __init__(self, functions: CommandFunctions) -> None:
        self.functions = functions
        #: numbers of instructions that are commands; whether Python's lock is let go of meanwhile
        self.commands: dict[int, bool] = {}
        #: numbers of values that do not lie one element behind the other
        self._scattered: set[int] = set()
        self._views: set[int] = set()
        #: numbers of values that lie alike in all runs
        self._steady: set[int] = set()

    def note(
        self, index: int, instruction: Instruction, taken: Sequence[Any], made: Sequence[Any]
    ) -> None:
        """Look at an instruction that was run.

        Args:
            index: its number.
            instruction: it.
            taken: what its kernel took.
            made: its results.
        """
        for value, array in zip(instruction.results, made, strict=True):
            if not (type(array) is np.ndarray and array.flags.c_contiguous):
                self._scattered.add(value.number)
        for value, array in zip(instruction.operands, taken):
            if type(array) is np.ndarray and not array.flags.c_contiguous:
                self._scattered.add(value.number)
        command = as_command(instruction, (*taken, *made))
        if command is not None:
            self.commands[index] = command.is_long
            self._steady.update(v.number for v in instruction.results)
        elif _may_view(instruction) and np.may_share_memory(taken[0], made[0]):
            self._views.add(index)
            if instruction.operands[0].number in self._steady:
                self._steady.add(instruction.results[0].number)

    def sequences(
        self, order: Sequence[Instruction], parts: Iterable[range], kept: set[int]
    ) -> list[CommandSequence]:
        """The instructions that are made by one call each time.

        Args:
            order: all instructions.
            parts: the numbers of those of one function each.
            kept: numbers of values that are given back.
        """
        found: list[CommandSequence] = []
        for part in parts:
            row = _Row(self, order, kept)
            for index in part:
                if not row.takes(index):
                    found += row.sequence()
                    row = _Row(self, order, kept)
                    row.takes(index)
            found += row.sequence()
        return found

    def is_view(self, index: int) -> bool:
        """Whether an instruction only shows what it reads."""
        return index in self._views

    def is_scattered(self, value: Value) -> bool:
        """Whether a value does not lie one element behind the other."""
        return value.number in self._scattered

    def may_be_given(self, value: Value) -> bool:
        """Whether a value from before a sequence may be given to its buffer."""
        return not self.is_scattered(value) or value.number in self._steady


class _Row:
    """Instructions in a row that may become a sequence."""

    def __init__(self, recording: Recording, order: Sequence[Instruction], kept: set[int]) -> None:
        self._recording, self._order, self._kept = recording, order, kept
        self._indexes: list[int] = []
        self._views: set[int] = set()
        self._before: list[int] = []
        self._made: set[int] = set()

    def takes(self, index: int) -> bool:
        """Take an instruction, if it fits."""
        instruction = self._order[index]
        if index in self._recording.commands:
            given = [v for v in instruction.inputs if v.number not in self._made]
            if not all(map(self._recording.may_be_given, given)):
                return False
        elif self._indexes and self._recording.is_view(index):
            (base,) = instruction.inputs
            if base.number not in self._made:
                self._before.append(index)
                return True
            if base.number in self._kept:
                return False  # its array is another one in each run
            self._views.add(index)
        else:
            return False
        self._indexes.append(index)
        self._made.update(v.number for v in instruction.results)
        return True

    def sequence(self) -> Iterator[CommandSequence]:
        """The sequence, if there is one."""
        commands = [index for index in self._indexes if index not in self._views]
        if len(commands) >= FEWEST:
            yield CommandSequence(
                self._recording, self._order, self._indexes, self._views, self._before, self._kept
            )


def _may_view(instruction: Instruction) -> bool:
    """Whether an instruction is of such a form that its first result may only show what its first
    operand is, and nothing uses another one.
    """
    kernel, operands, results = instruction.kernel, instruction.operands, instruction.results
    if kernel is None or kernel.out or instruction.phase or kernel.scratch is not None:
        return False
    if not results or any(value.users or value.is_output for value in results[1:]):
        return False
    return isinstance(operands[0], Value) and all(other is None for other in operands[1:])


def as_command(instruction: Instruction, arrays: Sequence[Any]) -> NativeCommand | None:
    """What an instruction is in a command buffer; None where it is none.

    Args:
        instruction: it.
        arrays: what its kernel takes, and behind that the results.
    """
    kernel = instruction.kernel
    if kernel is None or kernel.command is None or not kernel.out or instruction.phase:
        return None
    if not all(value.is_static and value.size for value in instruction.results):
        return None
    command: NativeCommand | None = kernel.command(*arrays)
    return command


class CommandSequence:
    """Instructions in a row that one call makes.

    Args:
        recording: what a first run has shown.
        order: all instructions.
        indexes: the numbers of those that are of the sequence, in order.
        views: the numbers of those of them that are no commands, but views of results.
        before: the numbers of views of other values, which are made before.
        kept: numbers of values that the segment gives back.
    """

    def __init__(
        self,
        recording: Recording,
        order: Sequence[Instruction],
        indexes: Sequence[int],
        views: set[int],
        before: Sequence[int],
        kept: set[int],
    ) -> None:
        self.indexes, self.views, self.before = indexes, views, before
        self._order, self._functions = order, recording.functions
        #: numbers of the values that it makes
        self.made = {v.number for index in indexes for v in order[index].results}
        read = {v.number: v for index in indexes for v in order[index].inputs}
        given = [v for n, v in read.items() if n not in self.made and v.constant is None]
        #: values that come from before: those that lie one element behind the other, and others
        self.inputs = [v for v in given if not recording.is_scattered(v)]
        self.scattered = [v for v in given if recording.is_scattered(v)]
        self._kept = [v for i in indexes for v in order[i].results if v.number in kept]
        #: results that the segment gives back, those that are written to donated arrays first
        self.outputs: list[Value] = []
        #: numbers of results that have names behind it
        self.exposed: set[int] = set()
        inside = {order[index] for index in indexes}
        for index in reversed(indexes):
            for value in order[index].results:
                is_read = value.number in kept or not inside.issuperset(value.users)
                if is_read or value.number in self.exposed:
                    self.exposed.add(value.number)
                    if index in views:
                        self.exposed.add(order[index].inputs[0].number)
        is_long = any(recording.commands[i] for i in indexes if i not in views)
        #: of a tuple of arrays and a command buffer: 0, or why it was not run
        self.run: Any = self._functions.run_free if is_long else self._functions.run
        self._placements: Sequence[Any] = ()
        self.buffer = -1  #: the number of its command buffer among the buffers of a run

    def place(
        self, placements: Sequence[Any], donated: Mapping[int, Any], makers: list[Any]
    ) -> None:
        """Take note of where instructions write, and have a command buffer made for each run.

        Args:
            placements: of all instructions.
            donated: the numbers of results that are written to donated arrays.
            makers: of buffers.
        """
        self.outputs = sorted(self._kept, key=lambda value: value.number not in donated)
        self._placements, self.buffer = placements, len(makers)
        makers.append(CommandBuffer)

    def otherwise(
        self, status: int, given: tuple[Any, ...], buffers: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Run the instructions where their buffer was not run, and record it.

        Args:
            status: what running the buffer gave.
            given: the arrays of inputs, outputs and what is scattered; None for outputs that there
                are none for.
            buffers: of the run.

        Returns:
            the arrays.

        Raises:
            Declined: an element is not what it may be.
        """
        first, last = len(self.inputs), len(self.inputs) + len(self.outputs)
        if status in (UNFIT, NOT_RECORDED):
            inputs = (np.require(array, requirements=["C", "A"]) for array in given[:first])
            pairs = zip(given[first:last], self.outputs, strict=True)
            outputs = (a if _is_writable(a) else np.empty(*v.stored) for a, v in pairs)
            given = (*inputs, *outputs, *given[last:])
            status = self.run(given, buffers[self.buffer])
        if not status:
            return given
        if status not in (UNFIT, NOT_RECORDED):
            raise Declined
        values = [*self.inputs, *self.outputs, *self.scattered]
        held = {v.number: array for v, array in zip(values, given, strict=True)}
        commands = [self._ran(index, held, buffers) for index in self.indexes]
        real = [c for index, c in zip(self.indexes, commands) if index not in self.views]
        arrays = {id(array) for array in given}
        if status == NOT_RECORDED and None not in real and len(arrays) == len(given):
            buffers[self.buffer].record(real, given, (first, last), self._functions.primitive)
        return given

    def _ran(
        self, index: int, held: dict[int, Any], buffers: Sequence[Any]
    ) -> NativeCommand | None:
        """Run an instruction: what it is in a command buffer."""
        instruction, placement = self._order[index], self._placements[index]
        kernel = instruction.kernel
        assert kernel is not None
        taken = [None if v is None else _array(v, held) for v in instruction.operands]
        if index in self.views:
            shown = kernel.function(*taken)
            first = instruction.results[0].number
            held[first] = shown[0] if type(shown) is tuple else shown
            return None
        if placement.scratch is not None:
            taken.append(buffers[placement.scratch])
        targets = [
            buffers[target] if type(target) is int else held[v.number]
            for v, target in zip(instruction.results, placement.targets, strict=True)
        ]
        found = kernel.function(*taken, out=targets[0] if len(targets) == 1 else tuple(targets))
        arrays = found if type(found) is tuple else (found,)
        for value, target, made in zip(instruction.results, targets, arrays, strict=True):
            if made is not target:
                np.copyto(target, made)
            held[value.number] = target
        return as_command(instruction, (*taken, *targets))


def _is_writable(array: Any) -> bool:
    """Whether a kernel may write to an array: a user may have set one that lies otherwise."""
    return array is not None and bool(array.flags.carray)


def _array(value: Value, held: Mapping[int, Any]) -> Any:
    """The array of a value."""
    return held[value.number] if value.constant is None else value.constant
