"""Which elements of two sequences are the same: an alignment in nearly linear time.

Elements that stand once on either side are matched first, as in a patience diff; what lies between
them is aligned alike.  Programs repeat few lines, so this is what a longest common subsequence is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

_MOST = 1 << 18  # pairs of repeated elements that are compared exactly

Keys = Sequence[Hashable]
Pair = tuple[int, int]


def aligned(before: Keys, after: Keys) -> list[Pair]:
    """Pairs of positions of equal elements, rising on both sides.

    Args:
        before, after: the sequences.

    >>> aligned("abcd", "xbd")
    [(1, 1), (3, 2)]
    """
    pairs: list[Pair] = []
    regions = [(0, len(before), 0, len(after))]
    while regions:
        i, j, k, m = regions.pop()
        while i < j and k < m and before[i] == after[k]:
            pairs.append((i, k))
            i, k = i + 1, k + 1
        while i < j and k < m and before[j - 1] == after[m - 1]:
            j, m = j - 1, m - 1
            pairs.append((j, m))
        if i == j or k == m:
            continue
        anchors = _unique_pairs(before, after, (i, j, k, m))
        if anchors:
            pairs += anchors
            regions += gaps(anchors, (i, j, k, m))
        elif (j - i) * (m - k) <= _MOST:
            pairs += ((i + x, k + y) for x, y in _matched(before[i:j], after[k:m]))
    return sorted(pairs)


def gaps(
    pairs: Sequence[Pair], region: tuple[int, int, int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """What lies before, between and behind the pairs of an alignment.

    Args:
        pairs: rising pairs within the region.
        region: begin and end of the part before, begin and end of the part after.
    """
    i, j, k, m = region
    for x, y in [*pairs, (j, m)]:
        yield i, x, k, y
        i, k = x + 1, y + 1


def _unique_pairs(before: Keys, after: Keys, region: tuple[int, int, int, int]) -> list[Pair]:
    """The longest rising run of pairs of elements that stand once on either side."""
    i, j, k, m = region
    counts, others = Counter(before[i:j]), Counter(after[k:m])
    places = {after[y]: y for y in range(k, m) if others[after[y]] == 1}
    both = [
        (x, places[before[x]])
        for x in range(i, j)
        if counts[before[x]] == 1 and before[x] in places
    ]
    ends: list[int] = []  # the smallest end of a run of each length
    last: list[int] = []  # which pair that is
    behind: list[int] = []  # the pair in front of each
    for number, (_, y) in enumerate(both):
        length = bisect_left(ends, y)
        behind.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [y]
        last[length : length + 1] = [number]
    run = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(both[number])
        number = behind[number]
    return run[::-1]


def _matched(before: Keys, after: Keys) -> Iterator[Pair]:
    import difflib

    for x, y, size in difflib.SequenceMatcher(None, before, after, False).get_matching_blocks():
        yield from ((x + n, y + n) for n in range(size))
