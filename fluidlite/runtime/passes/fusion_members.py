"""Which instructions may be members of groups that become one loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...opdef.prepared import KernelLibrary, Scratch
from ..graph import Instruction
from ..value import Value
from .form import Context


class MemberRules:
    """Which instructions of a graph may be members; like ones are looked at once.

    Args:
        context: of the pass.
        library: makes kernels for groups.
    """

    def __init__(self, context: Context, library: KernelLibrary) -> None:
        self._context, self._library = context, library
        self._known: dict[Any, bool] = {}  # by what like instructions share
        self._repeating: dict[Instruction, bool] = {}

    def fits(self, instruction: Instruction) -> bool:
        """Whether an instruction may be part of a group."""
        return self.may_join(instruction) and self._library.trace(instruction) is not None

    def may_join(self, instruction: Instruction) -> bool:
        """Whether an instruction may be part of a group, if the library knows what it computes."""
        typed, fused = instruction.typed, instruction.fused
        if (typed is None and fused is None) or instruction.bodies or instruction.phase:
            return False
        if instruction in self._context.composed or (instruction.variant and fused is None):
            return False
        if not instruction.results:
            return False
        if typed is not None and tuple(instruction.slots) != typed.calling.slots:
            return False  # a kernel takes something else
        values = (*instruction.inputs, *instruction.results)
        if typed is None or any(value.layout for value in values):
            return self._may_be_one(instruction, values)
        known = self._known.get(typed)
        if known is None:  # plain values of the same shapes: so are those of like instructions
            known = self._known[typed] = self._may_be_one(instruction, values)
        return known

    def _may_be_one(self, instruction: Instruction, values: Sequence[Value]) -> bool:
        """What :meth:`may_join` says of an instruction, from its operator and values alone."""
        if instruction.draws or not all(value.is_static for value in values):
            return False
        if not _lies_alike(values, instruction):
            return False
        if instruction.op.reshapes() or instruction.op.is_view or instruction.op.copies():
            return False
        return not (joins(instruction) and any(value.layout for value in values))

    def repeats(self, instruction: Instruction) -> bool:
        """Whether the backward pass repeats an instruction, which then must not run earlier."""
        known = self._repeating.get(instruction)
        if known is None:
            plain = instruction.op.adds_all or joins(instruction)  # gradients are made of it, too
            known = instruction.rematerializes and not plain
            self._repeating[instruction] = known
        return known


def _lies_alike(values: Sequence[Value], instruction: Instruction) -> bool:
    """Whether values are plain, or those that are not lie alike.  Where zeros fill them up,
    that a library has NumPy work on them says that these stay zeros.
    """
    layouts = {v.layout for v in values if v.size > 1 or v.layout}
    others = layouts - {None}
    if not others:
        return True
    if len(layouts) == 1 and is_numpys(instruction):
        return True
    return len(others) == 1 and not next(iter(others)).padded


def is_numpys(instruction: Instruction) -> bool:
    """Whether a kernel of NumPy works on values as they lie."""
    kernel = instruction.kernel
    return kernel is not None and (kernel.scratch is None or type(kernel.scratch) is Scratch)


def joins(instruction: Instruction) -> bool:
    """Whether an instruction only puts values one after the other."""
    given = instruction.inputs
    return bool(given) and instruction.op.joins(given[0].spec) is not None
