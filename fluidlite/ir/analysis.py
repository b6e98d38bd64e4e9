"""Facts about a block, computed when asked for: reads, writes, versions, last uses."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..opdef.attribute import BlockRef
from .block import Block
from .operator import EMPTY, Operator


def reads_of(op: Operator) -> list[str]:
    """What an operator reads, those of the blocks it drives included."""
    found = [n for n in op.input_arg_names if n != EMPTY]
    for block in blocks_of(op):
        found += free_names(block)
    return found


def writes_of(op: Operator) -> list[str]:
    """What an operator writes."""
    return [n for n in op.output_arg_names if n != EMPTY]


def blocks_of(op: Operator) -> list[Block]:
    """The blocks that an operator drives."""
    return [op.block.program.blocks[index] for index in blocks_driven_by(op)]


def blocks_driven_by(op: Operator) -> list[int]:
    """The indices of the blocks that an operator drives, nobody need have defined it."""
    if not op.attrs:
        return []
    definition = op.definition
    if definition is None:
        values = [
            v
            for value in op.attrs.values()
            for v in (value if isinstance(value, tuple) else (value,))
        ]
        return [int(value) for value in values if isinstance(value, BlockRef)]
    return [
        op.attrs[a.name]
        for a in definition.attributes.values()
        if a.kind == "BlockRef" and a.name in op.attrs
    ]


def free_names(block: Block) -> list[str]:
    """Names that a block's operators mention and that belong to an outer block."""
    found: dict[str, None] = {}
    for op in block.ops:
        for name in (*reads_of(op), *writes_of(op)):
            if name not in block.vars:
                found[name] = None
    return list(found)


def last_uses(ops: Sequence[Operator], kept: Iterable[str]) -> list[list[str]]:
    """For each operator the names that nothing after it reads and that are not ``kept``."""
    seen = set(kept)
    freed: list[list[str]] = []
    for op in reversed(ops):
        dead = []
        for name in (*reads_of(op), *writes_of(op)):
            if name not in seen:
                seen.add(name)
                dead.append(name)
        freed.append(dead)
    freed.reverse()
    return freed


class Versions:
    """How often each name has been written before each operator of a block.

    Version 0 of a name is what it holds when the block begins.
    """

    def __init__(self, block: Block) -> None:
        self.writers: dict[str, list[int]] = defaultdict(list)
        for i, op in enumerate(block.ops):
            for name in dict.fromkeys(writes_of(op)):
                self.writers[name].append(i)

    def before(self, name: str, position: int) -> int:
        """The version of a name that the operator at a position reads."""
        writers = self.writers.get(name)
        return bisect_left(writers, position) if writers else 0

    def made_at(self, name: str, version: int) -> int:
        """The position behind the operator that writes a version; 0 for version 0."""
        return self.writers[name][version - 1] + 1 if version else 0

    def last(self, name: str) -> int:
        """The version of a name after the last operator."""
        return len(self.writers.get(name, ()))
