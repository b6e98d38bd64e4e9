"""Which values the gradient operators of a program keep: seen from what they compute again.

The copies that :mod:`fluidlite.backward.recompute` writes are numbered by segments, from the
last one to the first; a segment ends with the operator that makes a value that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.operator import EMPTY, Operator
from ..ir.recomputed import SUBPROGRAM


def checkpoints_in(ops: Sequence[Operator], section: Sequence[Operator]) -> list[str]:
    """The checkpoints that a section was probably made with, none where it computes nothing again.

    Args:
        ops: of the block, the section included.
        section: gradient operators of a loss.
    """
    again = {
        name: int(number)
        for op in section
        for name, _, number in (n.rpartition(SUBPROGRAM) for n in op.output_arg_names)
        if name and number.isdigit()
    }
    if not again:
        return []
    ends: dict[int, int] = {}  # number of a segment -> the last operator that is in it for sure
    for at, op in enumerate(ops):
        if op is section[0]:
            break
        for name in op.output_arg_names:
            if name in again:
                ends[again[name]] = at
    return [name for end in ends.values() for name in _kept_behind(ops, end, again)]


def _kept_behind(ops: Sequence[Operator], at: int, again: dict[str, int]) -> Iterator[str]:
    """What the operator at a position makes that is not computed again, or the next one that makes
    such a value.
    """
    for op in ops[at:]:
        kept = [name for name in op.output_arg_names if name not in again and name != EMPTY]
        if kept:
            yield from kept
            return
