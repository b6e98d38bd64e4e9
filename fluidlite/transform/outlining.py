"""Some operators of a program as a block of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..errors import ArgumentError
from ..ground.dtypes import Kind
from ..ir.analysis import free_reads, reads_of, writes_of
from ..ir.block import Block
from ..ir.block_order import order_blocks
from ..ir.operator import Operator, OpRole
from ..ir.program import Program, copy_operator
from ..ir.variable import Variable
from .blocks import ENDS, subtree
from .editing import verified
from .explaining import explained
from .inserting import FreeNames
from .selecting import Operators, operators_of, place_of, positions_of
from .versions import mentions

_ALWAYS = "always"  #: stem of the condition of a block that always runs


def outline(program: Program, operators: Operators, *, explain: bool = False) -> Program:
    """A program in which some operators are a block of their own.

    The block belongs to a ``conditional_block`` whose condition always holds, so that it runs, has
    gradients and is saved like any other; :func:`inline` takes it back.  Variables that others read
    stay where they are; those that only the block mentions move into it.  Random operators draw
    other numbers there.

    Args:
        program: stays as it is.
        operators: operators of one block.
        explain: print what came of each operator that is not as it was.

    Raises:
        ArgumentError: there are no such operators; they lie in several blocks, feed or fetch; or
            one between them needs their results, and they need its.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(fluid.layers.fc(x, 3, act="relu"), 2)
    >>> program = fluid.transform.outline(fluid.default_main_program(), [0, 1, 2])
    >>> [op.type for op in program.block(0).ops]
    ['fill_constant', 'conditional_block', 'mul', 'elementwise_add']
    >>> [op.type for op in program.block(1).ops]
    ['mul', 'elementwise_add', 'relu']
    """
    chosen = operators_of(program, operators)
    block = chosen[0].block
    for op in chosen:
        if op.block is not block:
            raise ArgumentError(
                f"expected operators of one block, got {place_of(chosen[0])} and {place_of(op)}"
            )
        if op.type in ENDS:
            raise ArgumentError(f"{place_of(op)} stays in block 0; leave it out")
    places = positions_of(chosen)
    before = _movable(block, chosen)
    changed = verified(program, partial(_outline, places=places, before=before))
    return explained(changed, explain, "outline", program)


def _movable(block: Block, chosen: Sequence[Operator]) -> set[int]:
    """The positions of the operators between the chosen ones that go in front of them; the others
    go behind.

    Raises:
        ArgumentError: one can go to neither.
    """
    ids = {id(op) for op in chosen}
    first, last = (positions_of(chosen)[k][1] for k in (0, -1))
    own, others = Touched(), Touched()  # by the chosen operators; by those that go behind them
    behind: list[Operator] = []
    before: set[int] = set()
    for position in range(first, last + 1):
        op = block.ops[position]
        if id(op) in ids:
            if others.order_counts(op):
                clash = next(each for each in behind if _depend(each, op))
                raise ArgumentError(
                    f"{place_of(clash)} lies between the operators, needs what one of them "
                    f"computes, and is needed by {place_of(op)}: take it in, too"
                )
            own.add(op)
        elif own.order_counts(op) or others.order_counts(op):
            behind.append(op)
            others.add(op)
        else:
            before.add(position)
    return before


class Touched:
    """What some operators read and write."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.written: set[str] = set()

    def add(self, op: Operator) -> None:
        """Count an operator among them."""
        self.read.update(reads_of(op))
        self.written.update(writes_of(op))

    def order_counts(self, op: Operator) -> bool:
        """Whether another operator may not go in front of them."""
        writes = writes_of(op)
        return not self.written.isdisjoint((*reads_of(op), *writes)) or not self.read.isdisjoint(
            writes
        )


def _depend(first: Operator, second: Operator) -> bool:
    touched = Touched()
    touched.add(first)
    return touched.order_counts(second)


def _outline(copied: Program, places: Sequence[tuple[int, int]], before: set[int]) -> None:
    block = copied.blocks[places[0][0]]
    positions = [position for _, position in places]
    chosen = [block.ops[position] for position in positions]
    first, last = positions[0], positions[-1]
    between = [i for i in range(first, last + 1) if i not in set(positions)]
    inside = copied.add_block(block.idx)
    results, own = _divided(block, chosen)
    for inner in subtree(copied, chosen):
        if inner.parent_idx == block.idx:
            inner.parent_idx = inside.idx
    inside.set_vars([v.copy_to(inside) for name, v in block.vars.items() if name in own])
    inside.set_ops([copy_operator(op, inside) for op in chosen])
    block.set_vars([v for v in block.vars.values() if v.name not in own])
    ops = [block.ops[i] for i in range(first)] + [block.ops[i] for i in between if i in before]
    rest = [block.ops[i] for i in between if i not in before] + block.ops[last + 1 :]
    block.set_ops(ops)
    _drive(block, inside, results, chosen)
    block.set_ops([*block.ops, *rest])
    order_blocks(copied)


def _divided(block: Block, chosen: Sequence[Operator]) -> tuple[list[str], set[str]]:
    """What operators write that others need, and the variables that nobody else mentions."""
    ids = {id(op) for op in chosen}
    within = {inner.idx for inner in subtree(block.program, chosen)}
    others: set[str] = set()
    for each in block.program.blocks:
        if each.idx not in within:
            for op in each.ops:
                if id(op) not in ids:
                    others.update(mentions(op))
    written = dict.fromkeys(name for op in chosen for name in writes_of(op))
    own = {
        name
        for op in chosen
        for name in mentions(op)
        if name in block.vars
        and name not in others
        and not block.vars[name].persistable
        and not block.vars[name].is_data
        and name in written
    }
    return [name for name in written if name not in own], own


def _drive(block: Block, inside: Block, results: Sequence[str], chosen: Sequence[Operator]) -> None:
    """Append what runs a block in any case."""
    names = FreeNames(block.program)
    condition = Variable(block, names(_ALWAYS), shape=[1], dtype="bool", stop_gradient=True)
    scope = Variable(block, names(f"{_ALWAYS}.scope"), kind=Kind.STEP_SCOPES)
    block.declare(condition)
    block.declare(scope)
    roles = {op.role & ~OpRole.LOSS for op in chosen}
    with block.program.as_role(roles.pop() if len(roles) == 1 else OpRole.FORWARD):
        block.append_op(
            "fill_constant", {}, {"Out": condition}, {"shape": [1], "dtype": "bool", "value": 1.0}
        )
        block.append_op(
            "conditional_block",
            {"Cond": condition, "Input": free_reads(inside)},
            {"Out": list(results), "Scope": scope},
            {"sub_block": inside, "is_scalar_condition": True},
        )
