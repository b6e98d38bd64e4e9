"""Facts about a block, computed at the first use: reads, writes, versions, last uses."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import VerifyError
from ..ground.dtypes import Kind
from ..opdef.attribute import BlockRef
from .block import Block
from .operator import EMPTY, Operator

if TYPE_CHECKING:
    from .program import Program
    from .variable import Variable


def reads_of(op: Operator) -> list[str]:
    """What an operator reads, what the blocks that it drives read of outer values included."""
    definition, inputs = op.definition, op.inputs
    # a file's operator may have slots that its definition lacks: it runs without them
    takes: Container[str] = inputs if definition is None else definition.input_slots
    unread = () if definition is None else definition.fluid.unread
    reads = [
        n
        for slot, names in inputs.items()
        if slot in takes and slot not in unread
        for n in names
        if n != EMPTY
    ]
    if definition is None or definition.block_attributes:
        blocks = blocks_of(op)
        if blocks:
            bound = set(() if definition is None else op.instance().bound_names(op.inputs))
            reads += [n for block in blocks for n in free_reads(block) if n not in bound]
    return reads


def parameters_of(program: Program) -> list[Variable]:
    """The parameters of a program; of one that was saved to infer, which files say only to be
    persistable, the persistable variables that its operators read.

    Args:
        program: any.
    """
    known: list[Variable] = list(program.all_parameters())
    if known:
        return known
    read = {name for block in program.blocks for op in block.ops for name in op.input_arg_names}
    tensors = (v for v in program.list_vars() if v.persistable and v.kind is Kind.LOD_TENSOR)
    return [v for v in tensors if v.name in read]


def writes_of(op: Operator) -> list[str]:
    """What an operator writes."""
    definition, outputs = op.definition, op.outputs
    gives: Container[str] = outputs if definition is None else definition.output_slots
    idle = () if definition is None else definition.fluid.idle
    return [
        n
        for slot, names in outputs.items()
        if slot in gives and slot not in idle
        for n in names
        if n != EMPTY
    ]


def blocks_of(op: Operator) -> list[Block]:
    """The blocks that an operator drives.

    Raises:
        VerifyError: one is missing.
    """
    blocks = op.block.program.blocks
    driven = []
    for index in blocks_driven_by(op):
        if not 0 <= index < len(blocks):
            raise VerifyError(f"{op.type} drives block {index}, which is missing")
        driven.append(blocks[index])
    return driven


def blocks_driven_by(op: Operator) -> list[int]:
    """The indices of the blocks that an operator drives, nobody need have defined it."""
    definition = op.definition
    if definition is not None:
        names = definition.block_attributes
        return [op.attrs[name] for name in names if name in op.attrs] if names else []
    values = [
        v for value in op.attrs.values() for v in (value if isinstance(value, tuple) else (value,))
    ]
    found = [int(value) for value in values if isinstance(value, BlockRef)]
    # it may also only name blocks: one that is missing, or that it lies in, it does not drive
    return [k for k in found if 0 <= k < op.block.program.num_blocks and not _lies_in(op, k)]


def drivers_in(block: Block) -> Iterator[tuple[Operator, list[int]]]:
    """The operators of a block that may drive others, with the indices of the blocks."""
    without: set[str] = set()  # types that drive none
    for op in block.ops:
        if op.type in without:
            continue
        definition = op.definition
        if definition is not None and not definition.block_attributes:
            without.add(op.type)
        else:
            yield op, blocks_driven_by(op)


def _lies_in(op: Operator, index: int) -> bool:
    """Whether an operator lies in a block, or in one within it."""
    block: Block | None = op.block
    while block is not None and block.idx != index:
        block = block.parent
    return block is not None


def undeclared_inside(program: Program) -> dict[int, set[str]]:
    """For each block that is driven, the names that its operator gives values to and that it does
    not declare: a variable of that name around it may hold something of another shape.
    """
    names: dict[int, set[str]] = {}
    for block in program.blocks:
        for op, driven in drivers_in(block):
            for index in driven if op.definition is not None else ():
                inside = program.blocks[index].vars
                bound = op.instance().bound_names(op.inputs)
                names.setdefault(index, set()).update(n for n in bound if n not in inside)
    return names


def driver_of(block: Block) -> tuple[str, int]:
    """The type of the operator that drives a block, or will, and its position in the block around
    it.
    """
    around = block.parent
    if around is None:
        return "", 0
    for position, op in enumerate(around.ops):
        if block.idx in blocks_driven_by(op):
            return op.type, position
    return block.driver, len(around.ops)


def free_reads(block: Block) -> list[str]:
    """The outer values that a block reads: names that belong to an outer block and that it reads
    before it writes them.

    What a block of gradients reads of its forward block is no outer value: it gets it from there.
    """
    inside = set(block.vars)
    if block.forward_block_idx >= 0:
        inside.update(block.program.blocks[block.forward_block_idx].vars)
    reads: dict[str, None] = {}
    for op in block.ops:
        for name in reads_of(op):
            if name not in inside:
                reads[name] = None
        inside.update(writes_of(op))
    return list(reads)


class GradientReads(NamedTuple):
    """What blocks of gradients read of the passes of a block."""

    own: frozenset[str] = frozenset()  #: variables of the block
    #: outer tensors that the block writes, as they were before: in programs of Paddle 2, whose
    #: passes have copies of them
    overwritten: frozenset[str] = frozenset()


def read_by_gradients(program: Program) -> dict[int, GradientReads]:
    """For each block that has a block of gradients, what that reads of the block's passes.

    Returns:
        index of the forward block -> names.
    """
    by_block: dict[int, GradientReads] = {}
    for block in program.blocks:
        if block.forward_block_idx < 0:
            continue
        forward = program.blocks[block.forward_block_idx]
        earlier = by_block.get(forward.idx, GradientReads())
        by_block[forward.idx] = GradientReads(
            earlier.own.union(n for op in block.ops for n in reads_of(op) if n in forward.vars),
            earlier.overwritten.union(_overwritten(forward, block)),
        )
    return by_block


def _overwritten(forward: Block, gradients: Block) -> set[str]:
    """Outer tensors that a block writes, and its gradients read but do not write."""
    outer = {n for op in forward.ops for n in writes_of(op)} - forward.vars.keys()
    outer.difference_update(n for op in gradients.ops for n in writes_of(op))
    if outer:
        outer.intersection_update(n for op in gradients.ops for n in _values_read(op))
    return {name for name in outer if _is_tensor(forward, name)}


def _values_read(op: Operator) -> list[str]:
    """What an operator reads; of one that drives blocks what these read: its inputs are names."""
    blocks = blocks_of(op)
    return [n for inside in blocks for n in free_reads(inside)] if blocks else reads_of(op)


def _is_tensor(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    return variable is not None and variable.kind is Kind.LOD_TENSOR


def last_uses(ops: Sequence[Operator], kept: Iterable[str]) -> list[list[str]]:
    """For each operator the names that nothing after it reads and that are not ``kept``."""
    return last_mentions([(*reads_of(op), *writes_of(op)) for op in ops], kept)


def last_mentions(mentions: Sequence[Iterable[str]], kept: Iterable[str]) -> list[list[str]]:
    """For each group of names those that no group after it has and that are not ``kept``."""
    seen = set(kept)
    freed: list[list[str]] = []
    for names in reversed(mentions):
        dead = []
        for name in names:
            if name not in seen:
                seen.add(name)
                dead.append(name)
        freed.append(dead)
    freed.reverse()
    return freed


def fed_names(block: Block) -> list[str]:
    """What the operators of a block feed, in the order in which a model takes it."""
    feeds = [op for op in block.ops if op.type == "feed"]
    return [name for op in sorted(feeds, key=_column) for name in op.output("Out")]


def fetched_names(block: Block) -> list[str]:
    """What the operators of a block fetch, in the order in which a model gives it."""
    fetches = [op for op in block.ops if op.type == "fetch"]
    return [name for op in sorted(fetches, key=_column) for name in op.input("X")]


def _column(op: Operator) -> int:
    column = op.attrs.get("col", 0)
    return column if isinstance(column, int) else 0
