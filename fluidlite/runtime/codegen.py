"""Code generation: the source of a Python function for a graph whose buffers are assigned.

The source reads as NumPy: a line for each instruction, behind it the operator and the user's line.
Of many instructions it is cut into functions that are called one after the other: what Python needs
to compile one grows with its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.quoting import python_comment, python_string
from .commands import CommandSequence
from .graph import Instruction
from .memory import BufferAssignment, Placement
from .updates import LateUpdates
from .value import Value


class GeneratedSource:
    """The source of a function for instructions whose values have their memory, and what it refers
    to.
    """

    def __init__(self, assigned: BufferAssignment) -> None:
        self._order, self._inputs, self._assigned = assigned.order, assigned.inputs, assigned
        #: what the source refers to, by name
        self.names: dict[str, Any] = dict(asarray=np.asarray, ndarray=np.ndarray, empty=np.empty)
        self._functions: dict[int, str] = {}
        self._remarks: dict[Any, str] = {}
        #: numbers of values that one function makes and another one reads; and which of what comes
        #: from outside each function reads
        self._crossing, self._taken = _crossing(assigned)
        self._places = {number: place for place, number in enumerate(assigned.donated)}
        self._lines = [
            self._instruction(index, instruction, placement)
            for index, (instruction, placement) in enumerate(
                zip(self._order, assigned.placements, strict=True)
            )
        ]
        self._results = [self._result(v) for v in assigned.outputs]
        #: by number of an instruction, the lines that stand in its place where nothing watches
        self._recorded: dict[int, list[str]] = {}
        for number, sequence in enumerate(assigned.sequences):
            self._recorded |= {index: [] for index in (*sequence.before, *sequence.indexes)}
            self._recorded[sequence.indexes[0]] = list(self._sequence(number, sequence))

    def written(
        self, watched: Mapping[int, Sequence[Value]] | None = None, late: LateUpdates | None = None
    ) -> Iterator[str]:
        """The source, function by function; the last one, ``run``, is what runs.

        Args:
            watched: by number of an instruction, what a further line behind it calls ``hook`` with,
                which the function then takes, beside the number.
            late: updates that are left to the caller, to whom their arrays are given behind the
                results.
        """
        arguments = ["B", "D", "G", *(f"v{v.number}" for v in self._inputs)]
        head = f"def run({', '.join(arguments + ([] if watched is None else ['*', 'hook']))}):"
        parts, called = self._assigned.parts, []
        if late is not None:
            early = range(late.sequence.indexes[0])
            called = [*self._body(early, watched), *(f"    {line}" for line in self._late(late))]
        elif len(parts) < 2:
            called = [line for part in parts for line in self._body(part, watched)]
        else:
            first = ["B", "D", "G", "V", *([] if watched is None else ["hook"])]
            called = ["    V = {}"]
            for number, (part, taken) in enumerate(zip(parts, self._taken, strict=True)):
                call = f"part{number}({', '.join([*first, *(f'v{n}' for n in taken)])})"
                yield "\n".join([f"def {call}:", *self._body(part, watched)]) + "\n"
                called.append(f"    {call}")
        given_back = [*self._results, *([] if late is None else ["late"])]
        comma = "," if len(given_back) == 1 else ""
        results = f"    return ({', '.join(given_back)}{comma})"
        yield "\n".join([head, *called, results]) + "\n"

    def _body(
        self, part: Iterable[int], watched: Mapping[int, Sequence[Value]] | None
    ) -> Iterator[str]:
        """The lines of instructions; those that watch stand before what was read is let go of."""
        for index in part:
            lines = self._lines[index]
            if watched is None:
                lines = self._recorded.get(index, lines)
            if watched is not None and index in watched:
                given = ", ".join([str(index), *map(self._value, watched[index])])
                last = len(lines) - lines[-1].startswith("del ")
                lines = [*lines[:last], f"hook({given})", *lines[last:]]
            for line in lines:
                yield f"    {line}"

    def _instruction(self, index: int, instruction: Instruction, placement: Placement) -> list[str]:
        """The lines of an instruction."""
        operands = [self._operand(a) for a in instruction.operands]
        if instruction.phase == "start" or instruction.kernel is not None:
            lines = self._with_kernel(index, instruction, placement, operands)
        else:
            lines = self._with_operator(index, instruction, operands)
        lines[0] += self._remark(instruction)
        dead = [v for v in placement.dead if placement.lets_go or v.number in self._crossing]
        if dead:
            lines.append(f"del {', '.join(map(self._value, dead))}")
        return lines

    def _with_operator(
        self, index: int, instruction: Instruction, operands: list[str]
    ) -> list[str]:
        """Lines that call the operator's own kernel."""
        op, function = f"o{index}", f"k{index}"
        self.names[op] = instruction.op
        self.names[function] = instruction.typed.calling.function
        rng = []
        if instruction.draws:
            self.names[f"key{index}"] = instruction.random_key
            rng.append(f"G(key{index})")
        call = f"{function}({', '.join([op, 'xp', *rng, *operands])})"
        slots = list(instruction.op.outputs)
        if len(slots) == 1 and not slots[0].many:
            name = self._value(instruction.result)
            if instruction.result.kind is not Kind.LOD_TENSOR:
                return [f"{name} = {call}"]
            return [f"{name} = {call}", f"if type({name}) is not ndarray: {name} = asarray({name})"]
        lines = [f"r = {op}.by_slot({call})"]
        for slot in slots:
            output = instruction.outs.get(slot.name)
            if isinstance(output, list):
                names = ", ".join(map(self._value, output))
                lines.append(f"{names}, = map(asarray, r[{python_string(slot.name)}])")
            elif output is not None:
                lines.append(f"{self._value(output)} = asarray(r[{python_string(slot.name)}])")
        return [*lines, "r = None"]

    def _with_kernel(
        self, index: int, instruction: Instruction, placement: Placement, operands: list[str]
    ) -> list[str]:
        """The line that calls a prepared kernel."""
        kernel = instruction.kernel
        assert kernel is not None
        called = getattr(kernel, instruction.phase or "function")
        function = self._functions.get(id(called))
        if function is None:
            function = self._functions[id(called)] = f"k{index}"
            self.names[function] = called
        results = instruction.results
        if placement.scratch is not None:
            operands = [*operands, f"B[{placement.scratch}]"]
        if any(target is not None for target in placement.targets):
            targets = [
                f"D[{self._places[v.number]}]"
                if target == "donated"
                else f"B[{target}]"
                if type(target) is int
                else "None"
                for v, target in zip(results, placement.targets, strict=True)
            ]
            out = targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
            operands = [*operands, f"out={out}"]
        call = f"{function}({', '.join(operands)})"
        if len(results) == 1 and not results[0].stored[0] and instruction.phase != "start":
            call = f"asarray({call})"  # NumPy gives a number of its own kind then
        return [f"{', '.join(map(self._value, results))} = {call}"]

    def _sequence(self, number: int, sequence: CommandSequence) -> Iterator[str]:
        """The lines that run a command buffer; as comments those that stand for its commands."""
        placements = self._assigned.placements
        for index in sequence.before:
            yield self._lines[index][0]
        for index in sequence.indexes:
            yield f"# {self._lines[index][0]}"
        donated = [self._places[v.number] for v in sequence.outputs if v.number in self._places]
        arguments = [self._value(value) for value in sequence.inputs]
        arguments += [f"*D[{donated[0]}:{donated[-1] + 1}]"] if donated else []
        for value in sequence.outputs[len(donated) :]:
            shape, self.names[f"t{value.number}"] = value.stored
            arguments.append(f"empty({tuple(shape)}, t{value.number})")
        arguments += map(self._value, sequence.strided)
        self.names |= {f"run{number}": sequence.run, f"fallback{number}": sequence.fallback}
        yield f"given = ({', '.join(arguments)},)"
        yield f"status = run{number}(given, B[{sequence.buffer}])"
        yield f"if status: given = fallback{number}(status, given, B)"
        if sequence.outputs:
            made = ", ".join(map(self._value, sequence.outputs))
            first = len(sequence.inputs)
            yield f"{made}, = given[{first}:{first + len(sequence.outputs)}]"
        for index in sequence.indexes:
            if index in sequence.views:
                if self._order[index].results[0].number in sequence.exposed:
                    yield self._lines[index][0]
                continue
            pairs = zip(self._order[index].results, placements[index].targets, strict=True)
            for value, target in pairs:
                if value.number in sequence.exposed and type(target) is int:
                    yield f"{self._value(value)} = B[{target}]"
        dead = [
            value
            for index in (*sequence.before, *sequence.indexes)
            for value in placements[index].dead
            if placements[index].lets_go or value.number in self._crossing
            if value.number not in sequence.made or value.number in sequence.exposed
        ]
        yield f"del {', '.join(['given', *map(self._value, dead)])}"

    def _late(self, late: LateUpdates) -> Iterator[str]:
        """The lines that bring together what late updates take, and have them recorded."""
        sequence = late.sequence
        self.names["record"] = late.record
        for value in sequence.outputs:
            name = self._value(value)
            if value.number in late.over:
                yield f"{name} = {self._value(late.over[value.number])}"
                continue
            shape, self.names[f"t{value.number}"] = value.stored
            target = f"D[{self._places[value.number]}]"
            yield f"{name} = {target}"
            yield f"if {name} is None or not {name}.flags.carray:"
            yield f"    {name} = empty({tuple(shape)}, t{value.number})"
        arguments = map(self._value, (*sequence.inputs, *sequence.outputs))
        yield f"late = ({', '.join(arguments)},)"
        yield f"if not B[{sequence.buffer}].is_recorded: record(B[{sequence.buffer}])"

    def _remark(self, it: Instruction) -> str:
        """What an instruction does, the user's line, and the library, as a comment."""
        callsite = None if it.origin is None else it.origin.op.callsite
        key = it.op.type, it.variant, it.phase, it.library, callsite
        remark = self._remarks.get(key)
        if remark is None:
            parts = [it.title]
            if callsite is not None:
                parts.append(str(callsite).rpartition("/")[2])
            if it.library:
                parts.append(it.library)
            remark = self._remarks[key] = f"  # {python_comment(', '.join(parts))}"
        return remark

    def _value(self, value: Value) -> str:
        number = value.number
        if value.constant is None:
            return f"V[{number}]" if number in self._crossing else f"v{number}"
        self.names[f"c{number}"] = value.constant
        return f"c{number}"

    def _result(self, value: Value) -> str:
        """A value that is given back: a copy where it may lie in a buffer."""
        return self._value(value) + (".copy()" if self._assigned.is_copied(value) else "")

    def _operand(self, value: Any) -> str:
        if value is None:
            return "None"
        if isinstance(value, list):
            return f"[{', '.join(self._operand(v) for v in value)}]"
        return self._value(value)


def _crossing(assigned: BufferAssignment) -> tuple[set[int], list[dict[int, None]]]:
    """The numbers of values that one function makes and another one reads; and for each function
    those of values from outside that it reads.
    """
    if len(assigned.parts) < 2:
        return set(), [{}]
    outside = {v.number for v in assigned.inputs}
    numbers = {v.number for v in assigned.outputs} - outside
    taken: list[dict[int, None]] = []
    own: set[int] = set()
    for part in assigned.parts:
        taken.append({})
        own.clear()
        for index in part:
            instruction = assigned.order[index]
            for value in instruction.inputs:
                number = value.number
                if number in own or value.constant is not None:
                    continue
                if number in outside:
                    taken[-1][number] = None
                else:
                    numbers.add(number)
            for value in instruction.results:
                own.add(value.number)
    return numbers, taken
