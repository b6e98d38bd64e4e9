"""Constant folding: what depends on constants alone is computed once, when the plan is made."""

from __future__ import annotations

from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass


def fold_constants(graph: Graph, context: Context) -> bool:
    """Replace what is known, and leave terms that are zero out of sums.

    Rounding: none, but for the sign of zero: x + 0 becomes x, which may be -0.
    """
    changed = False
    for instruction in graph:
        if context.builder.folds(instruction):
            changed = True
        elif instruction.op.adds_all and instruction.slots == ("X",):
            changed |= _drop_zero_terms(instruction, graph, context)
    return changed


def _drop_zero_terms(instruction: Instruction, graph: Graph, context: Context) -> bool:
    terms = instruction.inputs
    others = [value for value in terms if not _is_zero(value)]
    if not others or len(others) == len(terms):
        return False
    if len(others) == 1 and others[0].kind is instruction.result.kind:
        graph.replace(instruction, others[0])
        return True
    if len(others) == 1:
        return False
    with context.builder.at(instruction) as f:
        graph.replace(instruction, f.sum(others))
    return True


def _is_zero(value: Value) -> bool:
    """Whether a value is known to be zero everywhere."""
    return value.constant is not None and not value.constant.any()


CONSTANT_FOLDING = Pass("constant_folding", fold_constants, exact=False)
