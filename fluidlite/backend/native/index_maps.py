"""Where the elements of a value lie, seen from those of a larger one that it is stretched to.

A map says of the number of an element in a space which element of a value stands there: pairs of an
extent and a step, outermost first; a step of 0 repeats.  A value of the space itself has
``((size, 1),)``.  Where the first element of the space does not see that of the value, as in a part
of it, an extent of 1 before the others has the number of the one that it sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

Map = tuple[tuple[int, int], ...]


class NotFusible(Exception):
    """Values do not fit into one loop."""


def identity(size: int) -> Map:
    """The map of a space to itself."""
    return merged([(size, 1)])


def merged(pairs: Iterable[tuple[int, int]], begin: int = 0) -> Map:
    """A map in its shortest form, of which the first element sees one of a given number."""
    dimensions: list[tuple[int, int]] = []
    for extent, step in pairs:
        if extent == 1:
            continue
        if dimensions and (
            (step == 0 and dimensions[-1][1] == 0)
            or (step > 0 and dimensions[-1][1] == step * extent)
        ):
            dimensions[-1] = (dimensions[-1][0] * extent, step)
        else:
            dimensions.append((extent, step))
    return ((1, begin), *dimensions) if begin else tuple(dimensions)


def begun(seen: Map) -> tuple[int, Map]:
    """The number of the element that the first one sees, and the map without it."""
    return (seen[0][1], seen[1:]) if seen and seen[0][0] == 1 else (0, seen)


def stretched(shape: tuple[int, ...], target: tuple[int, ...]) -> Map:
    """The map from a value of ``target`` to one of ``shape`` that is stretched to it."""
    full = (1,) * (len(target) - len(shape)) + tuple(shape)
    pairs, step = [], 1
    for size, wanted in zip(reversed(full), reversed(target), strict=True):
        pairs.append((wanted, step if size == wanted else 0))
        step *= size
    return merged(reversed(pairs))


def cut(starts: Sequence[int], sizes: Sequence[int], whole: Sequence[int]) -> Map:
    """The map from a part, which begins at ``starts``, to what it is a part of."""
    pairs, begin, step = [], 0, 1
    for start, size, all_of_it in zip(*map(reversed, (starts, sizes, whole)), strict=True):
        pairs.append((size, step))
        begin += start * step
        step *= all_of_it
    return merged(reversed(pairs), begin)


class _Digits:
    """The numbers that a map names, in digits of given sizes: of the first one the digits, of all
    together the largest ones, and for each extent of the map, innermost first, which digit a step
    of it changes, and by how much.

    Raises:
        NotFusible: a step changes several digits.
    """

    def __init__(self, seen: Map, sizes: Sequence[int]) -> None:
        rest, pairs = begun(seen)
        self.first: list[int] = []  # innermost digit first
        weights = [1]
        for size in reversed(sizes):
            rest, digit = divmod(rest, size)
            self.first.append(digit)
            weights.append(weights[-1] * size)
        self.last, self.changes = self.first[:], list[tuple[int, int, int]]()
        inner = sizes[::-1]
        for extent, step in reversed(pairs):
            if step == 0:
                self.changes.append((extent, 0, 0))
            while step and extent > 1:
                at = next((k for k, weight in enumerate(weights[1:]) if step < weight), None)
                if at is None or step % weights[at]:
                    raise NotFusible
                times = step // weights[at]
                taken = extent if times * (extent - 1) < inner[at] else inner[at] // times
                if extent % taken or (taken < extent and inner[at] % times):
                    raise NotFusible
                self.last[at] += times * (taken - 1)
                self.changes.append((taken, at, times))
                extent, step = extent // taken, step * taken
        if rest or any(last >= size for last, size in zip(self.last, inner)):
            raise NotFusible

    def mapped(self, steps: Sequence[int], begin: int) -> Map:
        """The map by way of what has a step for each digit, innermost first."""
        begin += sum(digit * step for digit, step in zip(self.first, steps))
        pairs = [(extent, times and times * steps[at]) for extent, at, times in self.changes]
        return merged(reversed(pairs), begin)


def composed(outer: Map, inner: Map) -> Map:
    """The map from a space to a value, by way of one whose elements ``outer`` names.

    Raises:
        NotFusible: they cut the value between in ways that do not fit.
    """
    begin, digits = begun(inner)
    found = _Digits(outer, [extent for extent, _ in digits])
    return found.mapped([step for _, step in reversed(digits)], begin)


def within(
    seen: Map, starts: Sequence[int], sizes: Sequence[int], whole: Sequence[int]
) -> Map | None:
    """The map to a part of what a map names elements of; None where these are not all in it.

    Args:
        seen: the map to the whole.
        starts, sizes: where the part begins along each dimension, and how much of it is in it.
        whole: the sizes of the whole.

    Raises:
        NotFusible: the map cuts the whole in ways that do not fit.
    """
    digits = _Digits(seen, whole)
    steps, begin, step = [], 0, 1
    for start, size, first, last in zip(starts[::-1], sizes[::-1], digits.first, digits.last):
        if first < start or last >= start + size:
            return None
        begin -= start * step
        steps.append(step)
        step *= size
    return digits.mapped(steps, begin)


def split(whole: Map, columns: int) -> tuple[Map, int]:
    """A map as one of rows, and the step along a row of ``columns`` elements: 0 or 1.

    Raises:
        NotFusible: the elements of a row do not lie like that.
    """
    rows, left, step = list(whole), columns, None
    while left > 1:
        if not rows:
            if step in (None, 0):  # what is left out is repeated
                return (), 0
            raise NotFusible
        extent, own = rows.pop()
        if extent > left:
            if extent % left:
                raise NotFusible
            rows.append((extent // left, own * left))
            extent = left
        if left % extent or own > 1 or (step is not None and step != own):
            raise NotFusible
        if own == 1 and extent != left:
            raise NotFusible
        step, left = own, left // extent
    return tuple(rows), step or 0


def size_of(space: Map) -> int:
    """How many elements the space of a map has, where none is left out."""
    return prod(extent for extent, _ in space)
