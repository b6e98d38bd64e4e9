"""Where values lie in one memory, such that those that live at the same time do not meet."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple

from ..opdef.prepared import ALIGNMENT


class Stay(NamedTuple):
    """Bytes of memory that are taken for a while."""

    nbytes: int
    first: int  #: the number of the instruction that writes them
    last: int  #: that of the last one that reads them


def packed(stays: Sequence[Stay]) -> tuple[list[int], int]:
    """Where each stay begins, and how much memory there is.

    The largest come first, each as low as it fits (Pisarchyk and Lee, Efficient memory management
    for deep neural net inference, arXiv 2001.03288).

    Args:
        stays: in any order.

    Returns:
        multiples of ``ALIGNMENT``, and the number of bytes.
    """
    offsets, total = [0] * len(stays), 0
    placed: list[tuple[int, int, Stay]] = []  # begin, end and stay, by their begin
    for number in sorted(range(len(stays)), key=lambda n: (-stays[n].nbytes, stays[n].first)):
        stay, offset = stays[number], 0
        size = -(-stay.nbytes // ALIGNMENT) * ALIGNMENT
        for begin, end, other in placed:
            if other.first <= stay.last and stay.first <= other.last:
                if begin >= offset + size:
                    break
                offset = max(offset, end)
        offsets[number], total = offset, max(total, offset + size)
        insort(placed, (offset, offset + size, stay))
    return offsets, total
