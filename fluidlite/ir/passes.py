"""Passes: functions from program to program that leave their argument as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .analysis import reads_of, writes_of
from .pruning import drop_unused

if TYPE_CHECKING:
    from .program import Program
    from .variable import Variable


def for_test(program: Program) -> Program:
    """The program as it is tested: without backward, optimizer and learning-rate operators.  Its
    ``dropped`` says what was left out.
    """
    return program.clone(for_test=True)


def prune(
    program: Program, feeds: Iterable[Variable | str], fetches: Iterable[Variable | str]
) -> Program:
    """The program without the operators of block 0 that the fetched variables do not need, and
    without the variables that only these mention, or none.

    Args:
        program: what to prune.
        feeds: variables that are given; what computes them is not needed.
        fetches: variables to fetch.

    Raises:
        UnknownVariableError: a fetched variable is not in block 0.
    """
    pruned = program.clone()
    block = pruned.global_block()
    fed = {_name(v) for v in feeds}
    needed = {block.var(_name(v)).name for v in fetches}
    needed_ops = []
    for op in reversed(block.ops):
        if needed.intersection(writes_of(op)) - fed:
            needed_ops.append(op)
            needed.update(n for n in reads_of(op) if n not in fed)
    block.set_ops(reversed(needed_ops))
    names = {name for each in pruned.blocks for name in each.vars}
    drop_unused(pruned, names - needed - fed)
    return pruned


def _name(variable: Variable | str) -> str:
    return variable if isinstance(variable, str) else variable.name
