"""How often the block of a loop runs at most, where the program's text says it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite

from ..ir.analysis import writes_of
from ..ir.operator import Operator


def passes_of(op: Operator) -> int | None:
    """The largest number of passes of a loop that counts from one constant to another one; None
    for all other loops.

    Args:
        op: an operator that runs its block as long as a condition holds.
    """
    definition = op.definition
    names = op.inputs.get(definition.condition_slot, ()) if definition is not None else ()
    body = op.block.program.blocks[op.attrs["sub_block"]] if "sub_block" in op.attrs else None
    if len(names) != 1 or body is None:
        return None
    compared = _only_writer(body.ops, names[0])
    if compared is None or compared.type not in ("less_than", "less_equal"):
        return None
    (counter, *_), (end, *_) = compared.inputs.get("X", ("",)), compared.inputs.get("Y", ("",))
    stepped = _only_writer(body.ops, counter)
    if stepped is None or stepped.type != "increment" or _writes(body.ops, end):
        return None
    before = op.block.ops[: op.idx]
    first, last = _constant(before, counter), _constant(before, end)
    step = float(stepped.attrs.get("step", 1.0))
    if first is None or last is None or not step > 0:
        return None
    if compared.type == "less_than":
        return max(ceil((last - first) / step), 0)
    return max(floor((last - first) / step) + 1, 0)


def _writes(ops: Sequence[Operator], name: str) -> list[Operator]:
    return [op for op in ops if name in writes_of(op)]


def _only_writer(ops: Sequence[Operator], name: str) -> Operator | None:
    found = _writes(ops, name)
    return found[0] if len(found) == 1 else None


def _constant(before: Sequence[Operator], name: str) -> float | None:
    """The number that a variable holds behind some operators; None where it is not known."""
    writers = _writes(before, name)
    if not writers or writers[-1].type != "fill_constant" or writers[-1].inputs:
        return None
    text = writers[-1].attr("str_value") if writers[-1].has_attr("str_value") else ""
    try:
        value = float(text or writers[-1].attr("value"))
    except ValueError:
        return None
    return value if isfinite(value) else None
