"""A conditional block and its block of gradients as one block, for the next order."""

from __future__ import annotations

from ..errors import NoGradientError
from ..ir.analysis import blocks_driven_by, free_reads, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from .copying import BlockCopies
from .sweep import ReverseSweep, described


class Joined:
    """The block that does what a block and its block of gradients do one after the other.

    Args:
        sweep: over the block that both operators stand in.
        position: of the gradient operator.
        op: the gradient operator.

    Raises:
        NoGradientError: the forward operator no longer exists.
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
        copies = BlockCopies()
        copies.stands_for(forward, self.block)
        for name in [n for op in forward.ops for n in writes_of(op)]:
            if name not in forward.vars:
                self._make_local(name)
        inside = self._inside(forward, before)
        written = {
            n: self._local(n) for op in forward.ops for n in writes_of(op) if n not in forward.vars
        }
        for name in free_reads(forward):
            if name in written:
                self._assign(inside[name], written[name])
        copies.take(forward, self.block, {**inside, **written})
        self.inside: dict[str, str] = self._inside(gradients, position, forward)
        copies.take(gradients, self.block, self.inside)

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

    def _assign(self, source: str, target: str) -> None:
        """Append an assignment, of what need not be declared yet: a copy that is to come."""
        ins: dict[str, tuple[str, ...]] = {"X": (source,)}
        outs: dict[str, tuple[str, ...]] = {"Out": (target,)}
        self.block.take_op(Operator(self.block, "assign", ins, outs, {}))

    def _inside(self, block: Block, position: int, forward: Block | None = None) -> dict[str, str]:
        """What the joined block calls the outer values that a block reads."""
        renamed = {}
        for name in free_reads(block):
            if forward is None or name not in forward.vars:
                renamed[name] = self.sweep.value(name, position)
                self.outer[renamed[name]] = (name, position)
        return renamed
