"""Scheduling: an order of instructions that holds fewer values at a time."""

from __future__ import annotations

from ..graph import Graph, Instruction
from .form import Context, Pass


def schedule(graph: Graph, context: Context) -> bool:
    """Move the steps of optimizers up to where their gradient is there, so that gradients need not
    wait for each other in memory; start what is asynchronous at once, and wait for it as late as
    its first reader allows.
    """
    if not any(instruction.is_update or instruction.phase for instruction in graph):
        return False
    places: dict[int, int] = {}  # by number of a value
    order: list[tuple[int, int, int, Instruction]] = []
    for index, instruction in enumerate(graph):
        place = index
        early = instruction.is_update or instruction.phase == "start"
        if early and not instruction.draws and not instruction.op.communicates:
            place = max((places.get(v.number, -1) for v in instruction.inputs), default=-1)
        for value in instruction.results:
            places[value.number] = place
        order.append((place, place != index, index, instruction))
    ordered = sorted(order, key=lambda each: each[:3])
    changed = ordered != order
    if changed:
        graph.reorder([each[3] for each in ordered])
    return _wait_late(graph) or changed


def _wait_late(graph: Graph) -> bool:
    changed = False
    waits = [instruction for instruction in graph if instruction.phase == "wait"]
    if not waits:
        return False
    position = {instruction: index for index, instruction in enumerate(graph)}
    for wait in waits:
        readers = [user for value in wait.results for user in value.users]
        if readers and not any(value.is_output for value in wait.results):
            first = min(readers, key=lambda user: position[user])
            changed |= wait.next is not first
            graph.move(wait, first)
    return changed


SCHEDULING = Pass("scheduling", schedule)
