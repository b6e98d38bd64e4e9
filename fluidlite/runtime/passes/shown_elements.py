"""Instructions that only show elements of what they read, and who reads these."""

from __future__ import annotations

from collections.abc import Iterable

from ...opdef.view_analysis import look_of
from ..graph import Instruction
from ..value import Value


def shows(instruction: Instruction) -> bool:
    """Whether an instruction only shows elements of what it reads, in another shape or a part."""
    if instruction.op is None or instruction.phase or not instruction.results:
        return False
    if look_of(instruction.results[0]) is None or any(v.layout for v in instruction.inputs):
        return False
    if len(instruction.inputs) == 1 and instruction.parts.are_all:
        return True
    return not any(is_used(value) and look_of(value) is None for value in instruction.results[1:])


def is_used(value: Value) -> bool:
    """Whether anything reads a value, or the graph gives it back."""
    return bool(value.users) or value.is_output


class ShownElements:
    """Which instructions only show elements; each is looked at once, as nothing is rewritten."""

    def __init__(self) -> None:
        self._known: dict[Instruction, bool] = {}
        self._sources: dict[Value, Value] = {}
        self._readers: dict[Value, list[Instruction]] = {}

    def _has(self, instruction: Instruction) -> bool:
        known = self._known.get(instruction)
        if known is None:
            known = self._known[instruction] = shows(instruction)
        return known

    def readers(self, value: Value) -> list[Instruction]:
        """What reads a value, or a view of it."""
        readers = self._readers.get(value)
        if readers is None:
            readers = self._readers[value] = []
            for user in value.users:
                if self._has(user) and user.inputs[0] is value:
                    readers += [each for shown in user.results for each in self.readers(shown)]
                else:
                    readers.append(user)
        return readers

    def source(self, value: Value) -> Value:
        """The value of which another one only shows elements."""
        whole = self._sources.get(value)
        if whole is None:
            whole = value
            while (maker := whole.producer) is not None and maker.inputs and self._has(maker):
                whole = maker.inputs[0]
            self._sources[value] = whole
        return whole

    def read_outside(self, made: Iterable[Value], inside: set[Instruction]) -> list[Value]:
        """Those values that others than some instructions read, or that are given back."""
        return [value for value in made if self._is_read(value, inside)]

    def _is_read(self, value: Value, inside: set[Instruction]) -> bool:
        # no function within read_outside: that would be a cycle, which only the collector frees
        if value.is_output:
            return True
        for user in value.users:
            if user in inside:
                continue
            if not self._has(user) or user.inputs[0] is not value:
                return True
            for shown in user.results:
                if self._is_read(shown, inside):
                    return True
        return False
