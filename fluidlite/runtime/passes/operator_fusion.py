"""Operator fusion: two instructions as one, which need not write what goes between them.

Kernels say what they can fuse (``opdef/fusion.py``); this pass finds where.
"""

from __future__ import annotations

from ...opdef.fusion import Fuse, fusions_of
from ..graph import FusedOperators, Graph, Instruction
from ..value import Value
from .form import Context, Pass


def fuse_operators(graph: Graph, context: Context) -> bool:
    """Fuse an instruction with the one whose only result it alone reads."""
    changed = False
    for instruction in graph:
        for slot, producer_type, make in fusions_of(instruction.op.type):
            value = instruction[slot]
            producer = value.producer if isinstance(value, Value) else None
            if producer is None or producer.op.type != producer_type:
                continue
            if value.only_user is instruction and len(producer.results) == 1:
                changed |= _fuse(instruction, producer, slot, make, graph)
    return changed


def _fuse(
    consumer: Instruction, producer: Instruction, into: str, make: Fuse, graph: Graph
) -> bool:
    specs = {}
    for side, each in (("consumer", consumer), ("producer", producer)):
        for slot, operand in zip(each.slots, each.operands, strict=True):
            specs[side, slot] = operand.spec if isinstance(operand, Value) else None
    fusion = make(consumer.op, producer.op, specs)
    if fusion is None:
        return False
    given = {"consumer": consumer, "producer": producer}
    operands = [given[side][slot] for side, slot in fusion.takes]
    consumer.set_operands(operands, tuple(slot for _, slot in fusion.takes))
    if consumer.typed is not None and producer.typed is not None:
        consumer.fused = FusedOperators(consumer.typed, producer.typed, into, fusion.takes)
    consumer.kernel, consumer.typed = fusion.kernel, None
    consumer.variant = f".{producer.op.type}"
    graph.erase(producer)
    return True


OPERATOR_FUSION = Pass(
    "operator_fusion", fuse_operators, concerns=lambda definition: bool(fusions_of(definition.type))
)
