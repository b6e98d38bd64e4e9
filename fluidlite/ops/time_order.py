"""Sequences of several lengths, step by step: what recurrent operators go through.

The longest sequence comes first, so that those that are still there at a step are the first ones of
those at the step before.  The rows of a step lie one after the other, and so do the steps: that is
the order in which fluid's operators hand out what their names call a batch.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..errors import ShapeError
from ..opdef.sequences import lengths_of, positions_in

Array = np.ndarray[Any, Any]
_BLOCK = 96  #: rows that are worth a pass of their own


class TimeOrder(NamedTuple):
    """The rows of sequences, ordered by steps."""

    rows: Array  #: of each row in this order its number in the sequences
    back: Array  #: of each row of the sequences its number in this order
    starts: tuple[int, ...]  #: where each step begins, and where the last one ends
    order: Array  #: the sequences, the longest first
    before: Array  #: of each row from the second step on, the row of the step before
    earlier: Array  #: of each row of the sequences the row before it there; any if there is none

    def blocks(self) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """Steps from the last to the first, some of them at a time: where they begin and end, and
        the same of each.  Arrays for so many rows stay in the cache.
        """
        blocks: list[tuple[int, int, list[tuple[int, int]]]] = []
        for a, b in reversed(self.steps):
            if blocks and blocks[-1][1] - blocks[-1][0] < _BLOCK:
                _, end, steps = blocks.pop()
                blocks.append((a, end, [*steps, (a, b)]))
            else:
                blocks.append((a, b, [(a, b)]))
        return blocks

    def places(self, count: int) -> Array:
        """Of each gate and row, the number of its part among those of all rows of the sequences.

        Args:
            count: of gates, whose parts make a row.
        """
        return self.rows * count + np.arange(count)[:, None]

    @property
    def steps(self) -> list[tuple[int, int]]:
        """Where each step begins and ends."""
        return list(zip(self.starts[:-1], self.starts[1:], strict=True))

    @property
    def first(self) -> int:
        """The number of rows of the first step: of the sequences that are not empty."""
        return self.starts[1] if len(self.starts) > 1 else 0


@functools.lru_cache(maxsize=32)  # forward, backward, and layers above each other ask for the same
def time_order(offsets: tuple[int, ...], is_reverse: bool = False) -> TimeOrder:
    """The rows of sequences by steps.

    Args:
        offsets: of the sequences.
        is_reverse: whether a sequence begins with its last row.

    >>> found = time_order((0, 1, 4))
    >>> found.rows, found.starts
    (array([1, 0, 2, 3]), (0, 2, 3, 4))
    """
    lengths = lengths_of(offsets)
    order = np.argsort(-lengths, kind="stable")
    number, place = positions_in(offsets)
    if is_reverse:
        place = lengths[number] - 1 - place
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    longest = int(lengths.max(initial=0))
    there = np.searchsorted(np.sort(lengths), np.arange(longest), side="right")
    counts = len(lengths) - there
    starts = np.concatenate([[0], np.cumsum(counts)])
    back = starts[place] + rank[number]
    rows = np.empty_like(back)
    rows[back] = np.arange(len(back))
    first = int(counts[0]) if longest else 0
    before = np.arange(first, len(rows)) - np.repeat(counts[:-1], counts[1:])
    earlier = np.zeros_like(rows)
    earlier[rows[first:]] = rows[before]
    return TimeOrder(rows, back, tuple(starts.tolist()), order, before, earlier)


def of_gates(rows: Array, count: int) -> Array:
    """Rows [n, count * size] as [count, n, size]: a view."""
    return rows.reshape(len(rows), count, rows.shape[1] // count).transpose(1, 0, 2)


def gate_by_gate(x: Array, order: TimeOrder, count: int) -> Array:
    """Rows of the sequences by steps, one gate behind the other: [count, n, size].

    Args:
        x: [n, count * size].
        order: of the rows.
        count: of gates.
    """
    return np.take(x.reshape(-1, x.shape[1] // count), order.places(count), axis=0)


def row_by_row(gates: Array) -> Array:
    """The inverse of :func:`of_gates`: a copy [n, count * size]."""
    return gates.transpose(1, 0, 2).reshape(gates.shape[1], gates.shape[0] * gates.shape[2])


def need_states(count: int, **states: Any) -> None:
    """Check that states before the first step are as many as sequences.

    Args:
        count: of sequences.
        states: by slot; None if there is none.

    Raises:
        ShapeError: they are not.
    """
    for slot, value in states.items():
        if value is not None and value.shape[0] != count:
            raise ShapeError(
                f"expected {slot} with {count} rows, one for each sequence, got {list(value.shape)}"
            )


def state_before(order: TimeOrder, states: Array, initial: Array | None) -> Array:
    """Of each row by steps, the state that it was computed from.

    Args:
        order: of the rows.
        states: by steps.
        initial: before the first step, by sequences; zero when None.
    """
    out = np.empty_like(states)
    n = order.first
    if initial is None:
        out[:n] = 0
    else:
        np.take(initial, order.order[:n], axis=0, out=out[:n])
    np.take(states, order.before, axis=0, out=out[n:])
    return out


def part_before(
    order: TimeOrder, a: int, b: int, states: Array, initial: Array | None, out: Array
) -> Array:
    """The rows from ``a`` to ``b`` of :func:`state_before`; a begin within the first step is 0.

    Args:
        order, states, initial: as there.
        a, b: where steps begin and end.
        out: room for the rows.
    """
    n = order.first
    if a < n:
        if initial is None:
            out[:n] = 0
        else:
            np.take(initial, order.order[:n], axis=0, out=out[:n], mode="clip")
    later = max(a, n)
    into = out[later - a : b - a]
    np.take(states, order.before[later - n : b - n], axis=0, out=into, mode="clip")
    return out[: b - a]


def sequence_before(order: TimeOrder, states: Array, initial: Array | None) -> Array:
    """Of each row of the sequences, the state that it was computed from.

    Args:
        order: of the rows.
        states: by sequences.
        initial: before the first step, by sequences; zero when None.
    """
    out = np.take(states, order.earlier, axis=0)
    begins = order.rows[: order.first]
    out[begins] = 0 if initial is None else initial[order.order[: order.first]]
    return out


def by_sequence(order: TimeOrder, first: Array, like: Array) -> Array:
    """Rows of the first step as rows of the sequences; zero for those that are empty.

    Args:
        order: of the rows.
        first: rows of the first step.
        like: of the result's shape.
    """
    out = np.zeros_like(like)
    out[order.order[: order.first]] = first
    return out
