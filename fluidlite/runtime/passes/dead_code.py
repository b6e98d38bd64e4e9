"""Dead-code elimination: what nothing needs is not computed."""

from __future__ import annotations

from ..graph import Graph
from .form import Context, Pass


def eliminate_dead_code(graph: Graph, context: Context) -> bool:
    """Take out the instructions whose results are neither read nor given back."""
    changed = False
    outputs = graph.names_of_outputs
    for instruction in reversed(graph):
        if instruction.op.communicates:
            continue
        for value in instruction.results:
            if value.users or value.number in outputs:
                break
        else:
            graph.erase(instruction)
            changed = True
    return changed


DEAD_CODE = Pass("dead_code", eliminate_dead_code)
