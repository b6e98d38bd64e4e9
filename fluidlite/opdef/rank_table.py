"""Sequences of one level in the order in which a recurrent network takes their steps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ground.values import Lod, offsets_from
from .sequences import Array, lengths_of, positions_in, rows_in, taken

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RankTable:
    """Sequences of one level, the longest first; of equal ones the first first.

    Args:
        lod: offsets of all levels.
        level: the one that is ranked.

    >>> table = RankTable(((0, 2, 5, 6),), 0)
    >>> table.order, table.steps, [table.count_at(t) for t in range(4)]
    (array([1, 0, 2]), 3, [3, 2, 1, 0])
    """

    __slots__ = ("above", "below", "by_step", "lengths", "offsets", "order", "rows", "step_ends")

    def __init__(self, lod: Lod, level: int) -> None:
        #: offsets of the levels above, of this level, and of those below
        self.above: tuple[tuple[int, ...], ...] = lod[:level]
        self.offsets: tuple[int, ...] = lod[level]
        self.below: tuple[tuple[int, ...], ...] = lod[level + 1 :]
        lengths = lengths_of(self.offsets)
        #: numbers of the sequences, and the length of each of them
        self.order: NDArray[np.intp] = np.argsort(-lengths, kind="stable")
        self.lengths: NDArray[Any] = lengths[self.order]
        self.rows: int = lod[-1][-1]  #: of the whole tensor
        _, step = positions_in(offsets_from(self.lengths))
        #: the numbers of the entries of this level, step by step
        self.by_step: NDArray[Any] = rows_in(self.offsets, self.order)[
            np.argsort(step, kind="stable")
        ]
        #: where each step begins, and the last one ends, among these
        self.step_ends: tuple[int, ...] = offsets_from(np.bincount(step))

    @property
    def steps(self) -> int:
        """The length of the longest sequence."""
        return len(self.step_ends) - 1

    def count_at(self, step: int) -> int:
        """How many sequences are longer than ``step``."""
        if not 0 <= step < self.steps:
            return 0
        return self.step_ends[step + 1] - self.step_ends[step]

    def inner_steps(self) -> Iterator[tuple[Array, Lod]]:
        """Of each step the rows of the inner sequences that it takes, and how they are cut."""
        for begin, end in pairwise(self.step_ends):
            yield taken(self.below, self.by_step[begin:end])

    def items(self) -> list[tuple[int, int]]:
        """Pairs of the number of a sequence and its length, the longest first."""
        return list(zip(self.order.tolist(), self.lengths.tolist()))

    def __repr__(self) -> str:
        return f"RankTable({self.items()})"
