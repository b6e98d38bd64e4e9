"""The blocks around that of a loss: a branch hands its sweep on to what was computed before it.

A branch runs at most once, and what it reads of the blocks around it still holds the value that it
had before.  So the gradients of what was computed there can be computed in the branch, behind those
of the branch.  A loop has no such end: what one pass reads another one may have written.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable

from ..ground.callsite import caller
from ..ir.analysis import driver_of, reads_of, writes_of
from ..ir.block import Block
from ..ir.nesting import check_nesting
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..opdef.gradient import is_constant
from .history import name_of
from .sweep import ReverseSweep

_BRANCH = "conditional_block"
_NAMED = 3  # parameters in a warning


def ways_out(block: Block) -> list[tuple[Block, int]]:
    """A block and the blocks around it that a gradient gets to, each with the position behind the
    last operator that counts.
    """
    ways = [(block, len(block.ops))]
    while True:
        driver, position = driver_of(ways[-1][0])
        around = ways[-1][0].parent
        if around is None or driver != _BRANCH:
            return ways
        ways.append((around, position))


def sweep_of(block: Block, no_grad: Container[str]) -> ReverseSweep:
    """A sweep over a block that goes on, where the block is a branch, through the block around it.

    Args:
        block: which gradient operators are appended to.
        no_grad: names at which gradients stop.
    """
    check_nesting(block.program)
    sweep: ReverseSweep | None = None
    before = 0
    for each, end in reversed(ways_out(block)):
        sweep = ReverseSweep(each, no_grad, sweep, before, end, goes_on=sweep is not None)
        if sweep.next is not None:
            sweep.next.before = sweep
        before = end
    assert sweep is not None
    for each_sweep in sweep.chain():  # all of them append to the one block
        each_sweep.records, each_sweep.groups = sweep.records, sweep.groups
        each_sweep.target = block
    return sweep


def depending(ops: Iterable[Operator], reached: set[str]) -> set[int]:
    """The positions of the operators whose results depend on names, to which theirs are added."""
    positions = set()
    for position, op in enumerate(ops):
        if not reached.isdisjoint(reads_of(op)):
            reached.update(writes_of(op))
            positions.add(position)
    return positions


def warn_of_loop(sweep: ReverseSweep, loss: Variable) -> None:
    """Warn of parameters that a loss in a loop depends on only through what was computed before.

    Args:
        sweep: is done.
        loss: what it began with.
    """
    last = list(sweep.chain())[-1]
    driver, end = driver_of(last.block)
    around = last.block.parent
    if around is None:
        return
    flowing = {name_of(key) for key in last.settled if name_of(key) not in last.block.vars}
    unseen = []
    for parameter in around.program.all_parameters():
        if parameter.trainable and parameter.name not in flowing:
            reached = {parameter.name}
            depending([op for op in around.ops[:end] if _passes(op)], reached)
            if not reached.isdisjoint(flowing):
                unseen.append(repr(parameter.name))
    if unseen:
        more = f" and {len(unseen) - _NAMED} more" if len(unseen) > _NAMED else ""
        site = None if loss.op is None else loss.op.callsite
        where = "" if site is None else f", computed at {site}"
        what = f"a block of {driver!r}" if driver else "a block that no operator drives yet"
        user = caller()
        warnings.warn_explicit(
            f"the gradients of {loss.name!r}{where}, end at the block that it is in, {what}: "
            f"{', '.join(unseen[:_NAMED])}{more}, used before it, get none; compute the loss "
            f"behind the block, or what depends on them inside",
            UserWarning,
            *(("<unknown>", 1) if user is None else user[:2]),
        )


def _passes(op: Operator) -> bool:
    return op.definition is not None and not is_constant(op.definition)
