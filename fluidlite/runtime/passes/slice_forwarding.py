"""Slice forwarding: a part of a stacked or padded value is taken from what was stacked or padded.

The gradient of a part is zero but for that part, and the passes backward through a recurrent
network each take a part of it.
"""

from __future__ import annotations

import numpy as np

from ..graph import Graph
from ..lower import FOLDED_SIZE
from ..value import Value
from .form import Context, Pass, differing_in


def forward_slices(graph: Graph, context: Context) -> bool:
    """Replace slices of stacked and padded values by what was stacked or padded, or by zeros."""
    changed = False
    for instruction in graph:
        parts = None
        if len(instruction.inputs) == 1 and len(instruction.results) == 1:
            whole = instruction.inputs[0]
            maker = whole.producer
            if maker is not None and len(maker.results) == 1:
                parts = instruction.op.slices(whole.spec)
        if parts is None:
            continue
        assert maker is not None
        source = maker.op.part([v.spec for v in maker.inputs], parts[0])
        result = instruction.result
        if source is None or (source == "zero" and result.size > FOLDED_SIZE):
            continue
        if source == "zero":
            part: Value = graph.constant(np.zeros(result.shape, result.dtype))
        else:
            part = maker.inputs[source]
        context.replace(graph, instruction, part)
        changed = True
    return changed


SLICE_FORWARDING = Pass("slice_forwarding", forward_slices, concerns=differing_in("slices"))
