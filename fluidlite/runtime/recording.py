"""What a first run shows of commands: which instructions are, how values lie, and which of them in
a row, with the views between them, are a command sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..backend.commands import CommandFunctions
from .commands import CommandSequence, as_command
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
        #: numbers of values that are not contiguous
        self._strided: set[int] = set()
        self._views: set[int] = set()
        #: numbers of values whose strides are the same in all runs
        self._fixed_strides: set[int] = set()

    def note(
        self, index: int, instruction: Instruction, taken: Sequence[Any], made: Sequence[Any]
    ) -> None:
        """Look at an instruction that was run.

        Args:
            index: its number.
            instruction: which was run.
            taken: what its kernel took.
            made: its results.
        """
        for value, array in zip(instruction.results, made, strict=True):
            if not (type(array) is np.ndarray and array.flags.c_contiguous):
                self._strided.add(value.number)
        for value, array in zip(instruction.operands, taken):
            if type(array) is np.ndarray and not array.flags.c_contiguous:
                self._strided.add(value.number)
        command = as_command(instruction, (*taken, *made))
        if command is not None:
            self.commands[index] = command.is_long
            self._fixed_strides.update(v.number for v in instruction.results)
        elif _may_view(instruction) and np.may_share_memory(taken[0], made[0]):
            self._views.add(index)
            if instruction.operands[0].number in self._fixed_strides:
                self._fixed_strides.add(instruction.results[0].number)

    def sequences(
        self,
        order: Sequence[Instruction],
        parts: Iterable[range],
        kept: set[int],
        fewest: int = FEWEST,
    ) -> list[CommandSequence]:
        """The instructions that are made by one call each time.

        Args:
            order: all instructions.
            parts: the numbers of those of one function each.
            kept: numbers of values that are given back.
            fewest: how many commands one call is made of.
        """
        sequences: list[CommandSequence] = []
        for part in parts:
            row = _Row(self, order, kept)
            for index in part:
                if not row.takes(index):
                    sequences += row.sequence(fewest)
                    row = _Row(self, order, kept)
                    row.takes(index)
            sequences += row.sequence(fewest)
        return sequences

    def is_view(self, index: int) -> bool:
        """Whether an instruction only shows what it reads."""
        return index in self._views

    def is_strided(self, value: Value) -> bool:
        """Whether a value is not contiguous."""
        return value.number in self._strided

    def may_be_given(self, value: Value) -> bool:
        """Whether a value from before a sequence may be given to its buffer."""
        return not self.is_strided(value) or value.number in self._fixed_strides


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

    def sequence(self, fewest: int) -> Iterator[CommandSequence]:
        """The sequence, if there is one of so many commands."""
        commands = [index for index in self._indexes if index not in self._views]
        if len(commands) >= fewest:
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
