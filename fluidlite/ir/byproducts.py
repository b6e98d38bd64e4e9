"""Outputs that only gradients read, and that files of programs for inference leave out."""

from __future__ import annotations

from contextlib import suppress

from ..errors import FluidError
from ..opdef.rule import RuleArgument
from ..opdef.spec import Spec
from .operator import Operator
from .program import Program
from .shape_inference import declare_outputs, declare_result
from .variable import Variable


def declare_byproducts(program: Program, with_unread: bool = False) -> bool:
    """Give operators variables for the by-products that they lack.

    Args:
        program: is changed.
        with_unread: also for those that no gradient rule reads.

    Returns:
        whether an operator lacked one.
    """
    lacking = [
        (op, slots)
        for block in program.blocks
        for op in block.ops
        if (slots := _absent(op, with_unread))
    ]
    for op, slots in lacking:
        _declare(op, slots)
    return bool(lacking)


def _absent(op: Operator, with_unread: bool) -> list[str]:
    """The slots of an operator's absent by-products."""
    definition = op.definition
    if definition is None:
        return []
    return [
        slot.name
        for slot in definition.outputs
        if slot.hidden
        and slot.name not in op.outputs
        and not (slot.optional or slot.many)
        and (with_unread or any(_reads(read, slot.name) for read in definition.rule_arguments))
    ]


def _reads(read: RuleArgument, slot: str) -> bool:
    return read.source == "out" and read.of == slot


def _declare(op: Operator, slots: list[str]) -> None:
    """Declare variables in an operator's block, and let it write them."""
    block, added = op.block, set()
    for slot in slots:
        name = _free_name(op.block.program, f"{op.first_output}.{slot.lower()}")
        block.declare(Variable(block, name, stop_gradient=True))
        op.set_output(slot, name)
        added.add(name)

    def declare(variable: Variable, spec: Spec) -> None:
        if variable.name in added:
            declare_result(variable, spec)

    with suppress(FluidError):  # a run says what does not fit
        declare_outputs(op, op.instance(), block.var_recursive, declare)


def _free_name(program: Program, stem: str) -> str:
    """A name that no variable has, with a number if the stem is one."""
    name, number = stem, 0
    while any(name in block.vars for block in program.blocks):
        name, number = f"{stem}_{number}", number + 1
    return name
