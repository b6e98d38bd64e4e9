"""Sums of padded parts: parts that fill a value side by side are put together.

The gradient of a part is zero but for that part.  Where all parts of a value are read, such as the
queries, keys and values of an attention, the sum of their gradients has each of them at its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ground.dtypes import Kind
from ..graph import Graph, Instruction
from ..value import Value, flat
from .form import Context, Pass, differing_in


def join_padded_parts(graph: Graph, context: Context) -> bool:
    """Replace sums of values that are zero but for their own parts by what joins the parts.

    Rounding: a zero keeps its sign.
    """
    changed = False
    for instruction in graph:
        if not instruction.op.adds_all:
            continue
        axis, parts = _side_by_side(instruction)
        if parts:
            with context.builder.at(instruction) as f:
                joined = f.concat(parts, axis=axis)
            graph.replace(instruction, joined)
            changed = True
    return changed


def _side_by_side(total: Instruction) -> tuple[int, list[Value]]:
    """Of a sum of values that are zero but for parts which fill it along a dimension, that, and the
    parts in order; no part where it is another sum.
    """
    parts: list[tuple[int, int, Value]] = []  # the dimension, where they begin, and the value
    for value in flat(total.operands):
        maker = value.producer
        if maker is None or not maker.op.surrounds or maker.op.pad_value:
            return 0, []
        (inner,) = maker.inputs
        if value.only_user is not total or not value.is_static or value.kind is not Kind.LOD_TENSOR:
            return 0, []
        befores: Sequence[int] = maker.op.paddings[::2]
        cut = [k for k, (n, m) in enumerate(zip(inner.shape, value.shape, strict=True)) if n != m]
        if len(cut) != 1 or min(maker.op.paddings) < 0:
            return 0, []
        parts.append((cut[0], befores[cut[0]], inner))
    if len(parts) < 2 or len({axis for axis, _, _ in parts}) > 1:
        return 0, []
    parts.sort(key=lambda part: part[1])
    axis, end = parts[0][0], 0
    for _, begin, inner in parts:
        if begin != end:
            return 0, []
        end += inner.shape[axis]
    return axis, [inner for _, _, inner in parts] if end == total.result.shape[axis] else []


PADDED_SUMS = Pass("padded_sums", join_padded_parts, exact=False, concerns=differing_in("adds_all"))
