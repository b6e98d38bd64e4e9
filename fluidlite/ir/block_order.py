"""The order of blocks: one comes behind those that it lies in and whose gradients it computes."""

from __future__ import annotations

from collections.abc import Sequence

from .analysis import blocks_driven_by
from .block import Block
from .program import Program, copy_operator
from .pruning import renumber


def order_blocks(program: Program) -> None:
    """Number blocks anew, where one comes before its parent or the block whose gradients it
    computes.

    Operators that drive blocks whose numbers change are replaced by copies.

    Args:
        program: is changed.
    """
    blocks = program.blocks
    if all(max(block.parent_idx, block.forward_block_idx) < block.idx for block in blocks):
        return
    order = _order(blocks)
    numbers = {-1: -1, **{old: new for new, old in enumerate(order)}}
    program.blocks = [blocks[old] for old in order]
    program.current_block_idx = numbers[program.current_block_idx]
    for block in program.blocks:
        block.idx = numbers[block.idx]
        block.parent_idx = numbers[block.parent_idx]
        block.forward_block_idx = numbers[block.forward_block_idx]
        ops = []
        for op in block.ops:
            if any(numbers.get(index, index) != index for index in blocks_driven_by(op)):
                op = copy_operator(op, block)
                renumber(op, numbers)
            ops.append(op)
        block.set_ops(ops)


def _order(blocks: Sequence[Block]) -> list[int]:
    """The old numbers of blocks in their new order: the old one, as far as it may stay."""
    order: dict[int, None] = {}
    for block in blocks:
        waiting = [block]
        while waiting:
            last = waiting[-1]
            first = [k for k in (last.parent_idx, last.forward_block_idx) if k >= 0]
            missing = [k for k in first if k not in order]
            if missing:
                waiting.append(blocks[missing[0]])
            else:
                order[waiting.pop().idx] = None
    return list(order)
