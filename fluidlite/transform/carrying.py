"""What no text of a program holds goes from what was changed to what takes its place."""

from __future__ import annotations

from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Parameter, Variable

_VARIABLE = ("error_clip", "elements", "carried")
_PARAMETER = ("initializer", "regularizer", "gradient_clip_attr", "need_clip")


def carry_variable(before: Variable, after: Variable) -> None:
    """Let a variable have what one of its name had: initializers, clipping, notes of scripts.

    Args:
        before: the variable before it was changed.
        after: is changed.
    """
    for name in _VARIABLE:
        setattr(after, name, getattr(before, name))
    if isinstance(before, Parameter) and isinstance(after, Parameter):
        for name in _PARAMETER:
            setattr(after, name, getattr(before, name))
        rate = before.optimize_attr.get("learning_rate", 1.0)
        if not isinstance(rate, (int, float)):  # a variable or the like, which no text holds
            after.optimize_attr = {**before.optimize_attr}
    after.__dict__.update(before.__dict__)


def carry_operator(before: Operator, after: Operator) -> None:
    """Let an operator have what the one that it replaces had: call site, fields of files, notes.

    Args:
        before: the operator before it was changed.
        after: is changed; it may have no effect that either of them may not have.
    """
    after.callsite = before.callsite
    after.is_unsettled = before.is_unsettled
    if after.definition is not None or before.attrs.keys() == after.attrs.keys():
        after.carried = before.carried
    after.foreign |= before.foreign
    after.__dict__.update(before.__dict__)


def carry_program(before: Program, after: Program) -> None:
    """Let a program have what the one that it was made of had, block by block.

    Args:
        before: the program before it was changed.
        after: is changed.
    """
    after.carried = before.carried
    after.schedules = dict(before.schedules)
    if before.current_block_idx < after.num_blocks:
        after.current_block_idx = before.current_block_idx
    for mine, theirs in zip(before.blocks, after.blocks):
        if (mine.parent_idx, mine.forward_block_idx) == (
            theirs.parent_idx,
            theirs.forward_block_idx,
        ):
            theirs.carried, theirs.driver = mine.carried, mine.driver
    after.touch()
