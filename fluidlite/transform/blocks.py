"""Moving operators and blocks within a program and between programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import ArgumentError
from ..ground.dtypes import Kind
from ..ir.analysis import blocks_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program, copy_operator
from ..ir.pruning import drop_blocks, renumber
from ..ir.variable import Variable

#: operators that feed and fetch, and the kinds of variables that they take values from and put them
ENDS = ("feed", "fetch")
_HOLDERS = (Kind.FEED_MINIBATCH, Kind.FETCH_LIST)


def holders_in(program: Program) -> set[str]:
    """The names of the variables that hold what is fed and fetched."""
    return {v.name for v in program.global_block().vars.values() if v.kind in _HOLDERS}


def remove_ends(program: Program) -> None:
    """Take out the operators that feed and fetch, and what holds their values."""
    block = program.global_block()
    held = holders_in(program)
    block.set_ops([op for op in block.ops if op.type not in ENDS])
    block.set_vars([v for v in block.vars.values() if v.name not in held])


def append_blocks(program: Program, other: Program, index: int = 0) -> int:
    """Append what block 0 of another program has to a block, and the blocks behind it.

    Args:
        program: is changed; its variables stand for those of the same name.
        other: is taken apart.
        index: the block's; what stays between runs goes to block 0.

    Returns:
        how many operators were appended to the block.
    """
    block, others = program.blocks[index], other.global_block()
    numbers = {-1: -1, 0: index}
    for inner in other.blocks[1:]:
        numbers[inner.idx] = program.num_blocks + inner.idx - 1
    for inner in other.blocks:
        for op in inner.ops:
            renumber(op, numbers)
    for variable in others.vars.values():
        owner = program.global_block() if variable.persistable else block
        if owner.find_var_recursive(variable.name) is None:
            owner.declare(variable.copy_to(owner))
    for inner in other.blocks[1:]:
        added = program.add_block(numbers[inner.parent_idx], numbers[inner.forward_block_idx])
        added.carried, added.driver = inner.carried, inner.driver
        added.set_vars([variable.copy_to(added) for variable in inner.vars.values()])
        added.set_ops([copy_operator(op, added) for op in inner.ops])
    block.set_ops([*block.ops, *(copy_operator(op, block) for op in others.ops)])
    return len(others.ops)


def subtree(program: Program, ops: Iterable[Operator]) -> list[Block]:
    """The blocks that operators drive, those within them included, in the program's order."""
    driven: set[int] = set()
    rows = [list(ops)]
    while rows:
        blocks = [block for op in rows.pop() for block in blocks_of(op) if block.idx not in driven]
        driven.update(block.idx for block in blocks)
        rows += [block.ops for block in blocks]
    return [program.blocks[index] for index in sorted(driven)]


def keep_only(
    program: Program, block: Block, ops: Sequence[Operator], variables: Iterable[Variable]
) -> None:
    """Let some operators of a block be block 0 of their program, and leave out all else.

    Args:
        program: is changed.
        block: has the operators.
        ops: in order.
        variables: what block 0 is to hold.

    Raises:
        ArgumentError: a block of gradients is kept whose forward block is not.
    """
    inside = subtree(program, ops)
    numbers = {inner.idx for inner in inside}
    for inner in inside:
        if inner.forward_block_idx >= 0 and inner.forward_block_idx not in numbers:
            raise ArgumentError(
                f"block {inner.idx} holds the gradients of block {inner.forward_block_idx}, which "
                "the part has not; cut so that both are in it, or neither"
            )
        if inner.parent_idx == block.idx:
            inner.parent_idx = 0
    whole = program.global_block()
    whole.set_vars([variable.copy_to(whole) for variable in variables])
    whole.set_ops([op if op.block is whole else copy_operator(op, whole) for op in ops])
    drop_blocks(program, [k for k in range(1, program.num_blocks) if k not in numbers])
    program.current_block_idx = 0
