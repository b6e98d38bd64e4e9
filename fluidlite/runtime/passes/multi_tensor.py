"""Multi-tensor optimizers: steps on many small parameters as one.

A step of Adam is a dozen calls of NumPy, whatever the size: biases and scales cost more than they
are worth one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...opdef.fusion import MultiTensor, multi_tensor_of
from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass

FEWEST, MOST = 3, 512  #: steps that are worth batching, and those of one instruction


def batch_updates(graph: Graph, context: Context) -> bool:
    """Batch the steps of one optimizer on small parameters that NumPy would take."""
    groups: dict[Any, list[Instruction]] = {}
    for instruction in graph:
        kernel = multi_tensor_of(instruction.op.type)
        if kernel is not None and _fits(instruction, kernel):
            shared = tuple(instruction[slot].number for slot in kernel.shared)
            dtype = instruction[kernel.reads[0]].dtype
            key = instruction.op.type, instruction.op.frozen_attrs(), dtype, shared
            groups.setdefault(key, []).append(instruction)
    changed = False
    parts = [g[k : k + MOST] for g in groups.values() for k in range(0, len(g), MOST)]
    for group in parts:
        members = _unread_up_to_the_last(group) if len(group) >= FEWEST else []
        if len(members) >= FEWEST:
            _batch(members, graph)
            changed = True
    return changed


def _fits(instruction: Instruction, kernel: MultiTensor) -> bool:
    given = dict(zip(instruction.slots, instruction.operands, strict=True))
    specs = {slot: v.spec for slot, v in given.items() if isinstance(v, Value)}
    plain = instruction.library in ("", "NumPy") and instruction.typed is not None
    return plain and kernel.fits(specs)


def _unread_up_to_the_last(group: Sequence[Instruction]) -> list[Instruction]:
    """The instructions whose results nothing reads up to the last of them."""
    producers = {v.number: member for member in group for v in member.results}
    read: set[Instruction] = set()
    at: Instruction | None = group[0]
    while at is not None:
        read.update(producers[v.number] for v in at.inputs if v.number in producers)
        if at is group[-1]:
            break
        at = at.next
    return [member for member in group if member not in read]


def _batch(members: Sequence[Instruction], graph: Graph) -> None:
    """One instruction where the last of several was."""
    last = members[-1]
    kernel = multi_tensor_of(last.op.type)
    assert kernel is not None
    operands: list[Any] = [[member[slot] for member in members] for slot in kernel.reads]
    operands += [last[slot] for slot in kernel.shared]
    outs = {slot: [member.outs[slot] for member in members] for slot in kernel.makes}
    params = [member[kernel.reads[0]].spec for member in members]
    batch = Instruction(last.op, (*kernel.reads, *kernel.shared), operands, {}, last.origin)
    batch.kernel, batch.library = kernel.kernel(last.op, params), last.library
    batch.variant = f" of {len(members)}"
    graph.insert(batch, last)
    for member in members:
        member.set_outs({})
        graph.erase(member)
    batch.set_outs(outs)


MULTI_TENSOR = Pass(
    "multi_tensor",
    batch_updates,
    concerns=lambda definition: multi_tensor_of(definition.type) is not None,
)
