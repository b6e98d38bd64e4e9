"""Copy elimination: what only hands a value on, or puts its parts together again, is left out."""

from __future__ import annotations

from ...opdef.view_analysis import whole_of
from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass, differing_in


def eliminate_copies(graph: Graph, context: Context) -> bool:
    """Let readers of a copy read what was copied."""
    changed = False
    for instruction in graph:
        if len(instruction.results) != 1:
            continue
        if instruction.op.copies():
            given = instruction.inputs
            if len(given) == 1 and isinstance(instruction.operands[0], Value):
                graph.replace(instruction, given[0])
                changed = True
            continue
        whole = _put_together(instruction)
        if whole is not None:
            context.replace(graph, instruction, whole)
            changed = True
    return changed


def _put_together(instruction: Instruction) -> Value | None:
    """The value all of whose elements an instruction puts one after the other again, in their
    order; None where it does something else.
    """
    parts, result = instruction.inputs, instruction.result
    if result.is_output or not result.is_static or not parts:
        return None  # what is given back is an array of its own
    axis = instruction.op.joins(parts[0].spec)
    if axis is None or any(n != 1 for n in result.shape[:axis]):
        return None
    if type(instruction.operands[0]) is not list or len(instruction.operands[0]) != len(parts):
        return None
    found = whole_of(parts)
    return found[0] if found and found[1] == list(range(len(parts))) else None


COPY_ELIMINATION = Pass(
    "copy_elimination", eliminate_copies, concerns=differing_in("copies", "joins")
)
