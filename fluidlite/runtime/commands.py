"""Command sequences of a compiled segment: instructions in a row that one native call makes.

``recording.py`` finds them.  A sequence is recorded in its first run in some set of buffers, whose
arrays stay; the arrays that others come for in each run are given to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.commands import CommandBuffer, NativeCommand, Status
from ..opdef.prepared import KernelDeclined
from .graph import Instruction
from .value import Value

if TYPE_CHECKING:
    from .recording import Recording

#: statuses behind which instructions may run by themselves: nothing was written
_NOT_CALLED = (Status.UNFIT, Status.NOT_RECORDED)


def as_command(instruction: Instruction, arrays: Sequence[Any]) -> NativeCommand | None:
    """What an instruction is in a command buffer; None where it is none.

    Args:
        instruction: one of a plan.
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
        self.indexes = indexes
        self.views = views
        self.before = before
        self._order, self.functions = order, recording.functions
        #: numbers of the values that it makes
        self.made: set[int] = {v.number for index in indexes for v in order[index].results}
        read = {v.number: v for index in indexes for v in order[index].inputs}
        given = [v for n, v in read.items() if n not in self.made and v.constant is None]
        #: values that come from before: contiguous ones, and others
        self.inputs: list[Value] = [v for v in given if not recording.is_strided(v)]
        self.strided: list[Value] = [v for v in given if recording.is_strided(v)]
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
        self.run: Any = self.functions.run_free if is_long else self.functions.run
        self._placements: Sequence[Any] = ()
        self.buffer: int = -1  #: the number of its command buffer among the buffers of a run

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
        self._placements = placements
        self.buffer = len(makers)
        makers.append(CommandBuffer)

    def fallback(
        self, status: int, given: tuple[Any, ...], buffers: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Record the instructions where their buffer was not run, and run it; else run them.

        Args:
            status: what running the buffer gave.
            given: the arrays of inputs, outputs and what is strided; None for outputs that there
                are none for.
            buffers: of the run.

        Returns:
            the arrays.

        Raises:
            KernelDeclined: an element is not what it may be.
            RuntimeError: a library refused.
        """
        first, last = len(self.inputs), len(self.inputs) + len(self.outputs)
        if status in _NOT_CALLED:
            inputs = (np.require(array, requirements=["C", "A"]) for array in given[:first])
            pairs = zip(given[first:last], self.outputs, strict=True)
            outputs = (a if _is_writable(a) else np.empty(*v.stored) for a, v in pairs)
            given = (*inputs, *outputs, *given[last:])
            status = self.run(given, buffers[self.buffer])
        if status == Status.DONE:
            return given
        if status == Status.DECLINED:
            raise KernelDeclined
        if status not in _NOT_CALLED:
            titles = ", ".join(self._order[i].title for i in self.indexes if i not in self.views)
            raise RuntimeError(f"a library refused one of the commands {titles}: status {status}")
        values = [*self.inputs, *self.outputs, *self.strided]
        held = {v.number: array for v, array in zip(values, given, strict=True)}
        alone = len({id(array) for array in given}) == len(given)
        if status == Status.NOT_RECORDED and alone:
            commands = [self._command(index, held, buffers) for index in self.indexes]
            real = [c for index, c in zip(self.indexes, commands) if index not in self.views]
            if None not in real:
                buffers[self.buffer].record(real, given, (first, last), self.functions.primitive)
                return self.fallback(self.run(given, buffers[self.buffer]), given, buffers)
        for index in self.indexes:
            self._run_alone(index, held, buffers)
        return given

    def _command(
        self, index: int, held: dict[int, Any], buffers: Sequence[Any]
    ) -> NativeCommand | None:
        """What an instruction is in a command buffer; its results have their arrays then."""
        taken, targets = self._arrays_of(index, held, buffers)
        return None if targets is None else as_command(self._order[index], (*taken, *targets))

    def _run_alone(self, index: int, held: dict[int, Any], buffers: Sequence[Any]) -> None:
        """Run an instruction."""
        taken, targets = self._arrays_of(index, held, buffers)
        kernel = self._order[index].kernel
        if targets is None or kernel is None:
            return
        found = kernel.function(*taken, out=targets[0] if len(targets) == 1 else tuple(targets))
        arrays = found if type(found) is tuple else (found,)
        for target, made in zip(targets, arrays, strict=True):
            if made is not target:
                np.copyto(target, made)

    def _arrays_of(
        self, index: int, held: dict[int, Any], buffers: Sequence[Any]
    ) -> tuple[list[Any], list[Any] | None]:
        """What an instruction takes, and the arrays that its results have from here on; None in
        place of these where it only shows what it takes.
        """
        instruction, placement = self._order[index], self._placements[index]
        kernel = instruction.kernel
        assert kernel is not None
        taken = [None if v is None else _array(v, held) for v in instruction.operands]
        if index in self.views:
            shown = kernel.function(*taken)
            held[instruction.results[0].number] = shown[0] if type(shown) is tuple else shown
            return taken, None
        if placement.scratch is not None:
            taken.append(buffers[placement.scratch])
        targets = [
            buffers[target] if type(target) is int else held[v.number]
            for v, target in zip(instruction.results, placement.targets, strict=True)
        ]
        held.update((v.number, target) for v, target in zip(instruction.results, targets))
        return taken, targets


def _is_writable(array: Any) -> bool:
    """Whether a kernel may write to an array: a user may have set one in another
    order of memory."""
    return array is not None and bool(array.flags.carray)


def _array(value: Value, held: Mapping[int, Any]) -> Any:
    """The array of a value."""
    return held[value.number] if value.constant is None else value.constant
