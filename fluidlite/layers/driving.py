"""What layers that drive blocks have in common: making a block, and finding out what it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import ArgumentError
from ..ground.dtypes import DType, Kind
from ..ir.analysis import free_reads, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator, OpRole
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..opdef.spec import size_of
from .layer import is_variable


@contextmanager
def new_block(driver: str, program: Program | None = None) -> Iterator[Block]:
    """Append to a new block inside a ``with`` block; after an error it is as if it had not been.

    Args:
        driver: the type of the operator that will drive it.
        program: where; the default main program when None.
    """
    program = default_main_program() if program is None else program
    count, current = len(program.blocks), program.current_block_idx
    block = program.create_block()
    block.driver = driver
    try:
        yield block
    except BaseException:
        del program.blocks[count:]
        program.current_block_idx = current
        program.touch()
        raise
    program.current_block_idx = current


def outer_writes(block: Block) -> list[str]:
    """The names of outer blocks that a block writes."""
    found = dict.fromkeys(n for op in block.ops for n in writes_of(op))
    parent = block.parent
    assert parent is not None
    return [n for n in found if n not in block.vars and parent.find_var_recursive(n) is not None]


def outer_reads(block: Block) -> list[str]:
    """The names of outer blocks that a block reads before it writes them."""
    return free_reads(block)


def append_conditional(
    parent: Block, block: Block, conditions: Sequence[Variable], scalar: bool
) -> Operator:
    """Append the operator that runs a block on conditions.

    Args:
        parent: where.
        block: the block, complete.
        conditions: what must hold.
        scalar: whether these are truths; else they must not be empty.
    """
    if scalar:
        _train_last(block)
    outs = outer_writes(block)
    reads = outer_reads(block)
    scope = parent.create_var(type=Kind.STEP_SCOPES)
    return parent.append_op(
        "conditional_block",
        inputs={"Cond": list(conditions), "Input": reads},
        outputs={"Out": outs, "Scope": scope},
        attrs={"sub_block": block, "is_scalar_condition": scalar},
    )


def _train_last(block: Block) -> None:
    """Put what ``minimize`` appended to a branch behind all else in it, as it is in fluid, which
    has a further block for it: what stands behind ``minimize`` still reads the old parameters.

    Where that would change what an operator reads, all stay where they are.
    """
    last = [op for op in block.ops if op.role & (OpRole.BACKWARD | OpRole.OPTIMIZE)]
    rest = [op for op in block.ops if not op.role & (OpRole.BACKWARD | OpRole.OPTIMIZE)]
    if not last or block.ops == [*rest, *last]:
        return
    read = {name for op in last for name in reads_of(op)}
    written = {name for op in last for name in writes_of(op)}
    behind = rest[block.ops.index(last[0]) :]
    changed = {name for op in behind for name in writes_of(op)}
    made = {name for name in written if name in block.vars}
    needed = {name for op in behind for name in reads_of(op)}
    if (read | written).isdisjoint(changed) and made.isdisjoint(needed):
        block.set_ops([*rest, *last])


def checked_condition(cond: Any, what: str) -> Variable:
    """A condition that a user gave.

    Raises:
        ArgumentError: it is no variable of truths, or is known to hold several.
    """
    if not is_variable(cond):
        raise ArgumentError(
            f"{what}: expected the condition to be a variable, got {cond!r:.60} of type "
            f"{type(cond).__name__}"
        )
    if cond.dtype is not DType.BOOL:
        raise ArgumentError(
            f"{what}: expected the condition {cond.name!r} to be of type bool, got {cond.dtype}; "
            "compare it: layers.less_than(...)"
        )
    if cond.has_shape and size_of(cond.shape) not in (1, -1):
        raise ArgumentError(
            f"{what}: expected the condition {cond.name!r} to have one element, got shape "
            f"{list(cond.shape)}; reduce it: layers.reduce_all(...)"
        )
    return cond


def checked_function(function: Any, what: str) -> Callable[..., Any]:
    """A function that a user gave.

    Raises:
        ArgumentError: it cannot be called.
    """
    if not callable(function):
        raise ArgumentError(
            f"expected {what} to be a function, got {function!r:.60} of type "
            f"{type(function).__name__}"
        )
    return function
