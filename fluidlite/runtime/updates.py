"""Late updates: steps of optimizers at the end of a plan, which may write over what they replace.

A run that fails or is stopped must leave all parameters as they were, so a plan writes to the
second of two sets of them.  Steps that cannot fail do without: they are put behind all others, and
one native call makes them as the run commits (``in_place.py``).  Python's lock is held meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..opdef.prepared import carved, size_of_carved
from .commands import CommandSequence, as_command
from .graph import Graph, Instruction
from .value import Value

if TYPE_CHECKING:
    from .memory import BufferAssignment, Observation

SMALLEST = 1 << 25  #: bytes that are written over in a run, from which on it is worth while
SMALLEST_ARRAY = 4096  #: bytes; smaller ones have a second array


def updates_last(
    order: Sequence[Instruction], replaced: Mapping[int, Value]
) -> tuple[list[Instruction], list[Instruction], dict[int, Value]]:
    """Instructions in two parts: the second one has those that may write over what they replace.

    Args:
        order: the instructions.
        replaced: by number of a result, the value in whose variable it goes.

    Returns:
        the two parts, and what is written over by number of a result.
    """
    overwritten = {step: olds for step in order if (olds := _written_over(step, replaced))}
    late = {s: olds for s, olds in overwritten.items() if not _is_read(s, olds, overwritten)}
    over = {number: old for olds in late.values() for number, old in olds.items()}
    if sum(old.nbytes for old in over.values()) < SMALLEST:
        return list(order), [], {}
    return [step for step in order if step not in late], list(late), over


def _written_over(instruction: Instruction, replaced: Mapping[int, Value]) -> dict[int, Value]:
    """By number of a result, the operand that it may be written over; empty where the instruction
    may fail, has results that are read, or reads more than it replaces.
    """
    kernel, operands = instruction.kernel, instruction.operands
    if kernel is None or kernel.command is None or not kernel.over or kernel.scratch is not None:
        return {}
    if not all(isinstance(v, Value) for v in operands):
        return {}
    if any(v.users or v.number not in replaced for v in instruction.results):
        return {}
    numbers = {operands[place].number for place in kernel.over}
    pairs = {
        v.number: old
        for v in instruction.results
        if (old := replaced[v.number]).number in numbers and v.nbytes >= SMALLEST_ARRAY
    }
    computed = sum(v.nbytes for v in instruction.inputs if v.producer is not None)
    return pairs if sum(old.nbytes for old in pairs.values()) > computed else {}


def _is_read(
    instruction: Instruction, olds: Mapping[int, Value], others: Mapping[Instruction, Any]
) -> bool:
    """Whether another instruction among some reads what one writes over, or the plan gives it."""
    return any(
        old.is_output or any(each is not instruction and each in others for each in old.users)
        for old in olds.values()
    )


class LateUpdates:
    """The last instructions of a plan as commands, which are run when everything else is done.

    Args:
        sequence: the commands.
        over: by number of a result, the value that it is written over.
        order: all instructions.
        graph: theirs.
    """

    def __init__(
        self,
        sequence: CommandSequence,
        over: Mapping[int, Value],
        order: Sequence[Instruction],
        graph: Graph,
    ) -> None:
        self.sequence = sequence
        self.over = over
        self._instructions = [order[index] for index in sequence.indexes]
        names = {value.number: name for name, value in graph.outputs.items()}
        #: of the variables whose arrays are written over, and of those that get other results
        self.names: list[str] = [names[number] for number in over]
        self.others: set[str] = {names[v.number] for v in sequence.outputs if v.number not in over}
        self._names = names

    def is_safe(self, observed: Observation) -> bool:
        """Whether nothing that the commands read shares memory with what they write over, as a
        first run has shown.
        """
        written = {old.number for old in self.over.values()}
        for instruction in self._instructions:
            own = {self.over[v.number].number for v in instruction.results if v.number in self.over}
            pending = [v.number for v in instruction.inputs if v.number not in own]
            while pending:
                number = pending.pop()
                if number in written:
                    return False
                pending += observed.shared.get(number, ())
        return not (self.sequence.views or self.sequence.before or self.sequence.strided)

    def computed(self, given: Sequence[Any]) -> dict[str, Any]:
        """What the steps make in new arrays, by name of a variable; of the inputs of commands."""
        held = {v.number: array for v, array in zip(self.sequence.inputs, given)}
        return {self._names[number]: a for number, a in computed(self._instructions, held)}

    def record(self, buffer: Any) -> None:
        """Record the commands without running them."""
        sequence = self.sequence
        values = [*sequence.inputs, *sequence.outputs]
        wanted = [value.stored for value in values]
        # one piece that nothing touches: the heads of many would lie in pages given back before
        arrays = carved(np.empty(size_of_carved(*wanted), "uint8"), *wanted)
        held = {value.number: array for value, array in zip(values, arrays, strict=True)}
        commands = [_command(each, held) for each in self._instructions]
        outputs = len(sequence.inputs), len(arrays)
        if None not in commands:
            buffer.record(commands, arrays, outputs, sequence.functions.primitive)


def late_updates(
    graph: Graph,
    assigned: BufferAssignment,
    first: int,
    over: Mapping[int, Value],
    observed: Observation,
) -> LateUpdates | None:
    """The late updates of a plan; None if there are none, or a first run has shown that they are no
    commands, or read what they write over.

    Args:
        graph: of the plan.
        assigned: the memory of the plan.
        first: the number of the first of them.
        over: by number of a result, the value that it is written over.
        observed: how values lay in a run.
    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None  # others may read what is half written
    indexes = list(range(first, len(assigned.order)))
    last = assigned.sequences[-1] if assigned.sequences else None
    if not over or last is None or list(last.indexes) != indexes or len(assigned.parts) > 1:
        return None
    late = LateUpdates(last, over, assigned.order, graph)
    return late if late.is_safe(observed) else None


def computed(
    instructions: Sequence[Instruction], held: Mapping[int, Any]
) -> Iterator[tuple[int, Any]]:
    """What late updates make in new arrays: numbers of values, and these.

    Args:
        instructions: the updates.
        held: by number, the values that they read.
    """
    for update in instructions:
        assert update.kernel is not None
        made = update.kernel.function(*(held.get(v.number, v.constant) for v in update.operands))
        arrays = made if type(made) is tuple else (made,)
        yield from zip((value.number for value in update.results), arrays, strict=True)


def untouched(left: Iterable[Instruction]) -> dict[Instruction, list[tuple[Value, Any]]]:
    """By instruction, what it makes and arrays of that form, which nothing touches."""
    values = [value for instruction in left for value in instruction.results]
    wanted = [value.stored for value in values]
    # one piece: the heads of many would be touched
    memory = carved(np.empty(size_of_carved(*wanted), "uint8"), *wanted)
    arrays = {value.number: array for value, array in zip(values, memory, strict=True)}
    return {each: [(value, arrays[value.number]) for value in each.results] for each in left}


def _command(instruction: Instruction, held: Mapping[int, Any]) -> Any:
    values = (*instruction.operands, *instruction.results)
    return as_command(instruction, [held.get(v.number, v.constant) for v in values])
