"""Results that are operands: who reads the result reads the operand, where that is the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence

from ..ir.analysis import blocks_driven_by, reads_of, writes_of
from ..ir.operator import Operator
from .block_values import BlockValues


def forwarded(
    ops: Sequence[Operator], copies: Collection[int], values: BlockValues
) -> tuple[list[Operator], set[str]]:
    """The operators without copies that nobody needs, and the names that are gone with them.

    A copy stays where its name is needed after the block or in a block within, where that has
    several values in turn, or where the name that it copies is rebound before the last reader.

    Args:
        ops: of the block that is to be.
        copies: identities of operators among them that only copy.
        values: of the block as it was.
    """
    if not copies:
        return list(ops), set()
    targets = {op.first_output for op in ops if id(op) in copies}
    readers: dict[str, list[int]] = {name: [] for name in targets}
    writes: dict[str, list[int]] = {}
    for at, op in enumerate(ops):
        for name in reads_of(op):
            if name in readers:
                readers[name].append(at)
        for name in writes_of(op):
            writes.setdefault(name, []).append(at)
    gone: set[str] = set()
    remaining: list[Operator] = []
    for at, op in enumerate(ops):
        source, target = _source(op), op.first_output
        if id(op) in copies and _is_needless(ops, at, readers[target], writes, values):
            for reader in readers[target]:
                ops[reader].rename_input(target, source)
            readers.setdefault(source, []).extend(readers[target])
            gone.add(target)
        else:
            remaining.append(op)
    return remaining, gone


def _source(op: Operator) -> str:
    return next(iter(op.input_arg_names), "")


def _is_needless(
    ops: Sequence[Operator],
    at: int,
    readers: Sequence[int],
    writes: dict[str, list[int]],
    values: BlockValues,
) -> bool:
    """Whether who reads a copy may read what it copies."""
    source, target = _source(ops[at]), ops[at].first_output
    if not readers or len(writes[target]) > 1 or values.why_needed((target, 1)):
        return False
    if any(map(_looks_inside, (ops[reader] for reader in readers))):
        return False
    return not _any_between(writes.get(source, ()), at, max(readers))


def _looks_inside(op: Operator) -> bool:
    """Whether an operator may read by names that are not among its own slots."""
    return bool(blocks_driven_by(op)) or op.definition is None


def _any_between(positions: Iterable[int], begin: int, end: int) -> bool:
    listed = list(positions)
    at = bisect_right(listed, begin)
    return at < len(listed) and listed[at] < end
