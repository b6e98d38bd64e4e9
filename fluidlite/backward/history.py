"""The values that the names of a block hold in turn, by the number of writes before them."""

from __future__ import annotations

from bisect import bisect_left

from ..ir.analysis import reads_of, writes_of
from ..ir.block import Block

#: a value: a name; with the number of writes before it, where the name holds several values
Key = str | tuple[str, int]


def name_of(key: Key) -> str:
    """The name that a value goes by."""
    return key if isinstance(key, str) else key[0]


class History:
    """The names of a block that hold several values in turn, and who writes them.

    A name that is written once, before anything reads it, is one value and not listed.

    Args:
        block: whose operators are read.
        outer: whether a name of an outer block counts as holding a value before the first write.
        end: the position behind the last one; that of the end when None.
    """

    def __init__(self, block: Block, outer: bool, end: int | None = None) -> None:
        first: dict[str, int] = {}
        read: set[str] = set()
        rewritten: dict[str, list[int]] = {}
        inside = block.vars
        for position, op in enumerate(block.ops[:end]):
            for name in reads_of(op):
                if name not in first:
                    read.add(name)
            for name in writes_of(op):
                writers = rewritten.get(name)
                if writers is not None:
                    if writers[-1] != position:
                        writers.append(position)
                elif name in first:
                    if first[name] != position:
                        rewritten[name] = [first[name], position]
                else:
                    first[name] = position
                    if name in read or (outer and name not in inside):
                        rewritten[name] = [position]
        self.rewritten = rewritten
        self.written = first

    def key(self, name: str, position: int) -> Key:
        """The value that a name holds before the operator at a position."""
        writers = self.rewritten.get(name)
        return name if writers is None else (name, bisect_left(writers, position))

    def last(self, name: str) -> Key:
        """The value that a name holds after the last operator."""
        writers = self.rewritten.get(name)
        return name if writers is None else (name, len(writers))

    def is_last(self, key: Key) -> bool:
        """Whether the name still holds that value after the last operator."""
        return isinstance(key, str) or key[1] == len(self.rewritten[key[0]])

    def made_at(self, key: tuple[str, int]) -> int:
        """The position behind the operator that makes a value; 0 for what was there before."""
        return self.rewritten[key[0]][key[1] - 1] + 1 if key[1] else 0
