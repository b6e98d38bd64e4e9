"""Code generation: the source of a Python function for a graph whose buffers are assigned.

The source reads as NumPy: a line for each instruction, behind it the operator and the user's line.
Of many instructions it is cut into functions that are called one after the other: what Python needs
to compile one grows with its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import Kind
from .graph import Instruction
from .memory import BufferAssignment, Placement
from .value import Value


class GeneratedSource:
    """The source of a function for instructions whose values have their memory, and what it refers
    to.
    """

    def __init__(self, assigned: BufferAssignment) -> None:
        self._order, self._inputs, self._assigned = assigned.order, assigned.inputs, assigned
        #: what the source refers to, by name
        self.names: dict[str, Any] = {"asarray": np.asarray, "ndarray": np.ndarray}
        self._functions: dict[int, str] = {}
        self._lines = [
            self._instruction(index, instruction, placement)
            for index, (instruction, placement) in enumerate(
                zip(self._order, assigned.placements, strict=True)
            )
        ]
        self._parts = assigned.parts
        name = "v{}" if len(self._parts) < 2 else "V[{}]"
        self._results = [self._result(v, name) for v in assigned.outputs]
        self._kept = {v.number for v in assigned.outputs}

    def written(self, after: Mapping[int, str] | None = None) -> Iterator[str]:
        """The source, function by function; the last one, ``run``, is what runs.

        Args:
            after: a further line behind the instruction of a number, before what it read is let go
                of; the function then takes ``hook``, which such lines may call.
        """
        arguments = ["B", "D", "G", *(f"v{v.number}" for v in self._inputs)]
        head = f"def run({', '.join(arguments + ([] if after is None else ['*', 'hook']))}):"
        if len(self._parts) < 2:
            body = [head]
            if self._assigned.donated:
                body.append(f"    {', '.join(f'd{n}' for n in self._assigned.donated)}, = D")
            if self._assigned.makers:
                names = ", ".join(f"b{k}" for k in range(len(self._assigned.makers)))
                body.append(f"    {names}, = B")
            body += self._body(range(len(self._lines)), after)
            yield _function(body, self._results)
            return
        call = f"(B, D, G, V{'' if after is None else ', hook'})"
        crossing = _crossing(self._order, self._parts, self._kept)
        for number, (part, (takes, gives)) in enumerate(zip(self._parts, crossing, strict=True)):
            body = [f"def part{number}{call}:", *self._memory_of(part)]
            body += [
                f"    v{value} = {f'V.pop({value})' if is_last else f'V[{value}]'}"
                for value, is_last in takes.items()
            ]
            body += self._body(part, after)
            body += [f"    V[{value}] = v{value}" for value in gives]
            yield _function(body)
        body = [head]
        body.append(f"    V = {{{', '.join(f'{v.number}: v{v.number}' for v in self._inputs)}}}")
        body += [f"    part{number}{call}" for number in range(len(self._parts))]
        yield _function(body, self._results)

    def _memory_of(self, part: range) -> list[str]:
        """Lines that name the donated arrays and the buffers of a part."""
        places = {number: place for place, number in enumerate(self._assigned.donated)}
        donated: dict[int, None] = {}
        buffers: dict[int, None] = {}
        for index in part:
            placement = self._assigned.placements[index]
            for value, target in zip(self._order[index].results, placement.targets):
                if type(target) is int:
                    buffers[target] = None
                elif target is not None:
                    donated[value.number] = None
            if placement.scratch is not None:
                buffers[placement.scratch] = None
        return [
            *(f"    d{number} = D[{places[number]}]" for number in donated),
            *(f"    b{number} = B[{number}]" for number in buffers),
        ]

    def _body(self, part: Iterable[int], after: Mapping[int, str] | None) -> Iterator[str]:
        """The lines of instructions."""
        for index in part:
            lines = self._lines[index]
            extra = None if after is None else after.get(index)
            if extra is not None:
                last = len(lines) - lines[-1].startswith("del ")
                lines = [*lines[:last], extra, *lines[last:]]
            for line in lines:
                yield f"    {line}"

    def _instruction(self, index: int, instruction: Instruction, placement: Placement) -> list[str]:
        """The lines of an instruction."""
        operands = [self._operand(a) for a in instruction.operands]
        if instruction.phase == "start" or instruction.kernel is not None:
            lines = self._with_kernel(index, instruction, placement, operands)
        else:
            lines = self._with_operator(index, instruction, operands)
        lines[0] += _remark(instruction)
        if placement.freed:
            lines.append(f"del {', '.join(f'v{v.number}' for v in placement.freed)}")
        return lines

    def _with_operator(
        self, index: int, instruction: Instruction, operands: list[str]
    ) -> list[str]:
        """Lines that call the operator's own kernel."""
        op, function = f"o{index}", f"k{index}"
        self.names[op] = instruction.op
        self.names[function] = instruction.typed.calling.function
        rng = [f"G({instruction.random_key!r})"] if instruction.draws else []
        call = f"{function}({', '.join([op, 'xp', *rng, *operands])})"
        slots = list(instruction.op.outputs)
        if len(slots) == 1 and not slots[0].many:
            name = f"v{instruction.result.number}"
            if instruction.result.kind is not Kind.LOD_TENSOR:
                return [f"{name} = {call}"]
            return [f"{name} = {call}", f"if type({name}) is not ndarray: {name} = asarray({name})"]
        lines = [f"r = {op}.by_slot({call})"]
        for slot in slots:
            made = instruction.outs.get(slot.name)
            if isinstance(made, list):
                names = ", ".join(f"v{v.number}" for v in made)
                lines.append(f"{names}, = map(asarray, r[{slot.name!r}])")
            elif made is not None:
                lines.append(f"v{made.number} = asarray(r[{slot.name!r}])")
        return [*lines, "r = None"]

    def _with_kernel(
        self, index: int, instruction: Instruction, placement: Placement, operands: list[str]
    ) -> list[str]:
        """The line that calls a prepared kernel."""
        kernel = instruction.kernel
        assert kernel is not None
        called = getattr(kernel, instruction.phase or "function")
        function = self._functions.setdefault(id(called), f"k{index}")
        self.names[function] = called
        results = instruction.results
        if placement.scratch is not None:
            operands = [*operands, f"b{placement.scratch}"]
        if any(target is not None for target in placement.targets):
            targets = [
                "None" if t is None else f"b{t}" if type(t) is int else f"d{v.number}"
                for v, t in zip(results, placement.targets, strict=True)
            ]
            out = targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
            operands = [*operands, f"out={out}"]
        call = f"{function}({', '.join(operands)})"
        if len(results) == 1 and not results[0].stored[0] and instruction.phase != "start":
            call = f"asarray({call})"  # NumPy gives a number of its own kind then
        return [f"{', '.join(f'v{v.number}' for v in results)} = {call}"]

    def _value(self, value: Value, name: str = "v{}") -> str:
        if value.constant is None:
            return name.format(value.number)
        name = f"c{value.number}"
        self.names[name] = value.constant
        return name

    def _result(self, value: Value, name: str) -> str:
        """A value that is given back: a copy where it may lie in a buffer."""
        return self._value(value, name) + (".copy()" if self._assigned.is_copied(value) else "")

    def _operand(self, value: Any) -> str:
        if value is None:
            return "None"
        if isinstance(value, list):
            return f"[{', '.join(self._operand(v) for v in value)}]"
        return self._value(value)


def _remark(instruction: Instruction) -> str:
    """What an instruction does, the user's line, and the library, as a comment."""
    text = f"  # {instruction.title}"
    callsite = None if instruction.origin is None else instruction.origin.op.callsite
    if callsite is not None:
        text += f", {str(callsite).rpartition('/')[2]}"
    return f"{text}, {instruction.library}" if instruction.library else text


def _crossing(
    order: Sequence[Instruction], parts: Sequence[range], kept: set[int]
) -> list[tuple[dict[int, bool], dict[int, None]]]:
    """Of each part the values that it takes from outside, and whether nothing behind it reads them;
    and those that it makes for others.
    """
    part_of = [number for number, part in enumerate(parts) for _ in part]
    maker: dict[int, int] = {}
    last_reader: dict[int, int] = {}
    for index, instruction in enumerate(order):
        for value in instruction.inputs:
            last_reader[value.number] = part_of[index]
        for value in instruction.results:
            maker[value.number] = part_of[index]
    found: list[tuple[dict[int, bool], dict[int, None]]] = [({}, {}) for _ in parts]
    for index, instruction in enumerate(order):
        part = part_of[index]
        for value in instruction.inputs:
            number = value.number
            if value.constant is not None or maker.get(number) == part:
                continue
            is_last = number in maker and last_reader[number] == part and number not in kept
            found[part][0][number] = is_last
            if number in maker:
                found[maker[number]][1][number] = None
        for value in instruction.results:
            if value.number in kept:
                found[part][1][value.number] = None
    return found


def _function(body: list[str], results: list[str] | None = None) -> str:
    if results is not None:
        body.append(f"    return ({', '.join(results)}{',' if len(results) == 1 else ''})")
    return "\n".join(body) + "\n"
