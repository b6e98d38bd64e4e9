"""Copy elimination: what only hands a value on is left out."""

from __future__ import annotations

from ..graph import Graph
from ..value import Value
from .form import Context, Pass


def eliminate_copies(graph: Graph, context: Context) -> bool:
    """Let readers of a copy read what was copied."""
    changed = False
    for instruction in graph:
        if not instruction.op.copies() or len(instruction.results) != 1:
            continue
        given = instruction.inputs
        if len(given) == 1 and isinstance(instruction.operands[0], Value):
            graph.replace(instruction, given[0])
            changed = True
    return changed


COPY_ELIMINATION = Pass("copy_elimination", eliminate_copies)
