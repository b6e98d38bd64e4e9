"""Common-subexpression elimination: what is computed twice is computed once."""

from __future__ import annotations

from typing import Any

from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass


def eliminate_common_subexpressions(graph: Graph, context: Context) -> bool:
    """Let readers of an instruction's results read those of an equal instruction before it.

    What the backward pass repeats on purpose (rematerialization), once or several times, is shared
    with no other operator: it holds a value for a shorter time.
    """
    seen: dict[Any, Instruction] = {}
    digests: dict[int, Any] = {}
    changed = False
    for instruction in graph:
        if instruction.draws or instruction.bodies or instruction.phase:
            continue
        if instruction.op.communicates:
            continue
        key = _key(instruction, digests)
        twin = seen.get(key)
        if twin is None or (instruction.rematerializes and twin.origin is not instruction.origin):
            seen[key] = instruction
        else:
            graph.replace(instruction, *twin.results)
            changed = True
    return changed


def _key(instruction: Instruction, digests: dict[int, Any]) -> Any:
    """What is equal for instructions that compute the same."""
    shared = instruction.typed
    what = (
        (instruction.title, repr(instruction.op), instruction.slots)
        if shared is None
        else id(shared)
    )
    operands = [
        value.number
        if type(value) is Value and value.constant is None
        else _operand(value, digests)
        for value in instruction.operands
    ]
    return what, *instruction.outs, *operands


def _operand(value: Any, digests: dict[int, Any]) -> Any:
    if type(value) is list:
        return tuple(_operand(each, digests) for each in value)
    if not isinstance(value, Value) or value.constant is None:
        return None if value is None else value.number
    known = digests.get(value.number)
    if known is None:
        array = value.constant
        known = digests[value.number] = (array.shape, array.dtype.str, array.tobytes())
    return known


COMMON_SUBEXPRESSIONS = Pass("common_subexpressions", eliminate_common_subexpressions)
