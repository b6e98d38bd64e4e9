"""Where the elements of a value lie, seen from those of a larger one that it is stretched to.

A map says of the number of an element in a space which element of a value stands there: pairs of an
extent and a step, outermost first; a step of 0 repeats.  A value of the space itself has
``((size, 1),)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

Map = tuple[tuple[int, int], ...]


class Misfit(Exception):
    """Values do not fit into one loop."""


def identity(size: int) -> Map:
    """The map of a space to itself."""
    return merged([(size, 1)])


def merged(pairs: Iterable[tuple[int, int]]) -> Map:
    """A map in its shortest form."""
    found: list[tuple[int, int]] = []
    for extent, step in pairs:
        if extent == 1:
            continue
        if found and (
            (step == 0 and found[-1][1] == 0) or (step > 0 and found[-1][1] == step * extent)
        ):
            found[-1] = (found[-1][0] * extent, step)
        else:
            found.append((extent, step))
    return tuple(found)


def stretched(shape: tuple[int, ...], target: tuple[int, ...]) -> Map:
    """The map from a value of ``target`` to one of ``shape`` that is stretched to it."""
    full = (1,) * (len(target) - len(shape)) + tuple(shape)
    pairs, step = [], 1
    for size, wanted in zip(reversed(full), reversed(target), strict=True):
        pairs.append((wanted, step if size == wanted else 0))
        step *= size
    return merged(reversed(pairs))


def composed(outer: Map, inner: Map) -> Map:
    """The map from a space to a value, by way of one whose elements ``outer`` names.

    Raises:
        Misfit: they cut the value between in ways that do not fit.
    """
    rest = list(reversed(inner)) or [(1, 0)]
    pairs: list[tuple[int, int]] = []
    for extent, step in reversed(outer):
        if step == 0:
            pairs.append((extent, 0))
            continue
        left = extent
        while left > 1:
            if not rest:
                raise Misfit
            size, inner_step = rest[0]
            if size == 1:
                rest.pop(0)
            elif size <= left and left % size == 0:
                pairs.append((size, inner_step))
                left //= size
                rest.pop(0)
            elif size % left == 0:
                pairs.append((left, inner_step))
                rest[0] = (size // left, inner_step * left)
                left = 1
            else:
                raise Misfit
    return merged(reversed(pairs))


def split(whole: Map, columns: int) -> tuple[Map, int]:
    """A map as one of rows, and the step along a row of ``columns`` elements: 0 or 1.

    Raises:
        Misfit: the elements of a row do not lie like that.
    """
    rows, left, step = list(whole), columns, None
    while left > 1:
        if not rows:
            if step in (None, 0):  # what is left out is repeated
                return (), 0
            raise Misfit
        extent, own = rows.pop()
        if extent > left:
            if extent % left:
                raise Misfit
            rows.append((extent // left, own * left))
            extent = left
        if left % extent or own > 1 or (step is not None and step != own):
            raise Misfit
        if own == 1 and extent != left:
            raise Misfit
        step, left = own, left // extent
    return tuple(rows), step or 0


def size_of(space: Map) -> int:
    """How many elements the space of a map has, where none is left out."""
    return prod(extent for extent, _ in space)
