"""Activation sinking: the maximum under windows is taken before a monotone activation.

The maximum is the same, and so is the element that its gradient goes to; there is less to take the
activation of.
"""

from __future__ import annotations

from typing import Any

from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass, differing_in


def sink_activations(graph: Graph, context: Context) -> bool:
    """Swap a monotone activation and the maximum pooling that reads it, and their gradients."""
    changed = False
    for activation in graph:
        if not activation.op.is_monotone or len(activation.results) != 1:
            continue
        found = _pooling_of(activation)
        if found is not None:
            _swap(activation, *found, graph, context)
            changed = True
    return changed


def _is_gradient(instruction: Instruction, of: Instruction) -> bool:
    return instruction.op.derived_from is type(of.op)


def _pooling_of(
    activation: Instruction,
) -> tuple[Instruction, Instruction | None, Instruction | None] | None:
    """The maximum pooling that alone reads an activation, its gradient and the activation's; None
    where there is no such thing.
    """
    large = activation.result
    if large.is_output:
        return None
    readers = list(large.users)
    pools = [r for r in readers if r.op.selects_maximum() and len(r.results) == 1]
    if len(pools) != 1 or len(pools[0].inputs) != 1:
        return None
    pool = pools[0]
    if len(readers) == 1:
        return pool, None, None
    backs = [r for r in readers if _is_gradient(r, pool)]
    lasts = [r for r in readers if _is_gradient(r, activation)]
    if len(readers) != 3 or len(backs) != 1 or len(lasts) != 1:
        return None
    back, last = backs[0], lasts[0]
    between = back.results[0]
    reads = [v.number for v in (*back.inputs[:2], *last.inputs)]
    if reads != [large.number, pool.result.number, large.number, between.number]:
        return None
    return (pool, back, last) if between.only_user is last else None


def _swap(
    activation: Instruction,
    pool: Instruction,
    back: Instruction | None,
    last: Instruction | None,
    graph: Graph,
    context: Context,
) -> None:
    image = activation.inputs[0]
    with context.builder.at(pool) as f:
        pooled = _applied(f, pool.op, {pool.slots[0]: image})
        small = _applied(f, activation.op, {activation.slots[0]: pooled})
    graph.replace_all_uses(pool.result, small)
    if back is not None and last is not None:
        cotangent = back.inputs[2]
        with context.builder.at(last) as f:
            part = _applied(f, last.op, dict(zip(last.slots, (small, cotangent), strict=True)))
            given = zip(back.slots, (image, pooled, part), strict=True)
            whole = _applied(f, back.op, dict(given))
        graph.replace(last, whole)
        graph.erase(back)
    graph.erase(pool)
    graph.erase(activation)


def _applied(f: Any, op: Any, ins: dict[str, Value]) -> Value:
    """What an operator with one result makes."""
    (made,) = f.apply(op, ins).values()
    value: Value = made
    return value


ACTIVATION_SINKING = Pass(
    "activation_sinking", sink_activations, concerns=differing_in("is_monotone")
)
