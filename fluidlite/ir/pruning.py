"""Taking out of a program what is not needed any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ground.quoting import escaping
from ..opdef.attribute import BlockRef
from .analysis import blocks_driven_by
from .operator import Operator, OpRole
from .variable import Parameter

if TYPE_CHECKING:
    from .program import Program

_NAMED = 3  # variables in a sentence
#: the bits of roles that no test needs, and what their operators are called
_NOT_FOR_TEST = {
    OpRole.BACKWARD: "backward",
    OpRole.OPTIMIZE: "optimizer",
    OpRole.LRSCHED: "learning-rate",
}


@dataclass(frozen=True)
class Dropped:
    """What ``clone(for_test=True)`` left out."""

    operators: tuple[tuple[str, int], ...]  #: "backward", "optimizer", ... and how many
    variables: tuple[str, ...]  #: that no other operator mentions

    def __bool__(self) -> bool:
        return bool(self.operators or self.variables)

    @escaping
    def __str__(self) -> str:
        if not self:
            return "nothing was left out"
        parts = [f"{count} {what} operator{'s' * (count > 1)}" for what, count in self.operators]
        if self.variables:
            some = ", ".join(self.variables[:_NAMED])
            more = ", ..." if len(self.variables) > _NAMED else ""
            what = "variables that no other operator mentions"
            parts.append(f"{len(self.variables)} {what}: {some}{more}")
        return "left out: " + "; ".join(parts)


def only_for_test(program: Program) -> Dropped:
    """Take out what a test does not need, and switch what is left to testing."""
    counts: dict[str, int] = {}
    gone: set[int] = set()
    for block in program.blocks:
        remaining = []
        for op in block.ops:
            what = next((word for bit, word in _NOT_FOR_TEST.items() if op.role & bit), None)
            if what is not None:
                counts[what] = counts.get(what, 0) + 1
                gone.update(blocks_driven_by(op))
                continue
            op.role &= ~OpRole.LOSS  # a mark of backward's
            remaining.append(op)
        block.set_ops(remaining)
    switch_to_test(program)
    before = [name for block in program.blocks for name in block.vars]
    drop_blocks(program, gone)
    others = (v for v in program.list_vars() if not isinstance(v, Parameter) and not v.is_data)
    drop_unused(program, [v.name for v in others] if counts else ())
    after = {name for block in program.blocks for name in block.vars}
    lost = tuple(name for name in dict.fromkeys(before) if name not in after)
    return Dropped(tuple(counts.items()), lost)


def switch_to_test(program: Program) -> None:
    """Let operators that work otherwise in training work as in tests."""
    for block in program.blocks:
        for op in block.ops:
            if "is_test" in getattr(op.definition, "attributes", ()):
                op.set_attr("is_test", True)


def drop_unused(program: Program, candidates: Iterable[str]) -> None:
    """Take out those of the named variables that no operator of the program mentions."""
    unused = set(candidates)
    if not unused:
        return
    used = {
        n
        for block in program.blocks
        for op in block.ops
        for n in (*op.input_arg_names, *op.output_arg_names)
    }
    unused -= used
    for block in program.blocks:
        block.set_vars([v for n, v in block.vars.items() if n not in unused])


def drop_blocks(program: Program, indices: Iterable[int]) -> None:
    """Take out blocks, those inside them included, and number the others anew.

    Args:
        program: nothing in it drives the blocks any more.
        indices: of the blocks.
    """
    gone = set(indices)
    if not gone:
        return
    for block in program.blocks:  # parents come first
        if block.parent_idx in gone or block.forward_block_idx in gone:
            gone.add(block.idx)
    numbers = {-1: -1}
    for block in program.blocks:
        if block.idx not in gone:
            numbers[block.idx] = len(numbers) - 1
    program.blocks = [block for block in program.blocks if block.idx not in gone]
    for block in program.blocks:
        block.idx = numbers[block.idx]
        block.parent_idx = numbers[block.parent_idx]
        block.forward_block_idx = numbers[block.forward_block_idx]
        for op in block.ops:
            renumber(op, numbers)
    program.touch()


def renumber(op: Operator, numbers: Mapping[int, int]) -> None:
    """Let an operator drive its blocks by their new numbers.

    Args:
        op: is changed.
        numbers: old number -> new number, of all blocks.
    """
    definition = op.definition
    if definition is not None:
        for name in definition.block_attributes:
            if name in op.attrs:
                op.set_attr(name, numbers[op.attrs[name]])
        return

    def renumbered(index: int) -> BlockRef:  # which may be of a block that is missing
        return BlockRef(numbers.get(index, index))

    for name, value in op.attrs.items():
        if isinstance(value, BlockRef):
            op.replace_attr(name, renumbered(value))
        elif isinstance(value, tuple) and any(isinstance(v, BlockRef) for v in value):
            op.replace_attr(name, tuple(map(renumbered, value)))
