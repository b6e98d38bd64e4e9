"""A conditional block and its block of gradients as one block, for the next order."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from ..errors import NoGradientError
from ..ir.analysis import blocks_driven_by, free_reads, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from .sweep import ReverseSweep, described


class Joined:
    """The block that does what a block and its block of gradients do one after the other.

    Args:
        sweep: over the block that both operators stand in.
        position: of the gradient operator.
        op: the gradient operator.

    Raises:
        NoGradientError: the forward operator is not there any more.
    """

    def __init__(self, sweep: ReverseSweep, position: int, op: Operator) -> None:
        self.sweep = sweep
        program = sweep.block.program
        gradients = program.blocks[op.attrs["sub_block"]]
        forward = program.blocks[gradients.forward_block_idx]
        before = self._position_of(forward, op)
        self.block: Block = program.add_block(sweep.target.idx)
        #: outer values that the block reads: its name for them -> the name, and before which
        #: operator they are read
        self.outer: dict[str, tuple[str, int]] = {}
        self._copies = {forward.idx: self.block.idx}
        for name in [n for op in forward.ops for n in writes_of(op)]:
            if name not in forward.vars:
                self._make_local(name)
        inside = self._inside(forward, before)
        written = {
            n: self._local(n) for op in forward.ops for n in writes_of(op) if n not in forward.vars
        }
        for name in free_reads(forward):
            if name in written:
                self.block.append_op("assign", {"X": inside[name]}, {"Out": written[name]})
        self._take(forward, self.block, {**inside, **written})
        self.inside: dict[str, str] = self._inside(gradients, position, forward)
        self._take(gradients, self.block, self.inside)

    def _position_of(self, forward: Block, op: Operator) -> int:
        for position, other in enumerate(self.sweep.block.ops):
            if other.type != op.type and forward.idx in blocks_driven_by(other):
                return position
        raise NoGradientError(
            f"the operator whose gradient {op.type!r} is is not in its block{described(op)}"
        )

    def _local(self, name: str) -> str:
        return f"{name}@LOCAL_{self.block.idx}"

    def _make_local(self, name: str) -> None:
        twin = self.sweep.block.var_recursive(name).copy_to(self.block)
        twin.name, twin.persistable = self._local(name), False
        self.block.declare(twin)

    def _inside(self, block: Block, position: int, forward: Block | None = None) -> dict[str, str]:
        """What the joined block calls the outer values that a block reads."""
        renamed = {}
        for name in free_reads(block):
            if forward is None or name not in forward.vars:
                renamed[name] = self.sweep.value(name, position)
                self.outer[renamed[name]] = (name, position)
        return renamed

    def _take(self, source: Block, target: Block, renamed: Mapping[str, str]) -> None:
        """Copy variables and operators of a block, those of the blocks it drives included."""
        for variable in source.vars.values():
            target.declare(variable.copy_to(target))
        for op in source.ops:
            copied = copy.copy(op)
            copied.block = target
            copied.rename(renamed)
            for name in () if op.definition is None else op.definition.block_attributes:
                inner = source.program.blocks[op.attrs[name]]
                forward = self._copies.get(inner.forward_block_idx, inner.forward_block_idx)
                twin_block = source.program.add_block(target.idx, forward)
                self._copies[inner.idx] = twin_block.idx
                self._take(inner, twin_block, renamed)
                copied.set_attr(name, twin_block.idx)
            target.take_op(copied)
