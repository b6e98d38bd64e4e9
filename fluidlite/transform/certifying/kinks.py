"""Values at which a function has no derivative, since it has a kink there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .evaluation import leaves, mapped
from .field import Exact
from .jets import Dual, Jet

#: how far from a value its kink is looked for
STEP = 2.0**-16


def at_kinks(value: Any) -> Any:
    """Where a value may lie at a kink: elements that are equal to others, or whole numbers, as
    relu and padding make them; None where that is nowhere.

    Args:
        value: an array with derivatives; others are nowhere at a kink.
    """
    parts = leaves(value)
    if len(parts) != 1 or not isinstance(parts[0], Dual):
        return None
    numbers = parts[0].real.at
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    found = (counts[place.reshape(numbers.shape)] > 1) | (numbers == np.rint(numbers))
    return found if found.any() else None


def held(there: Any, still: Any) -> Any:
    """A moving value, some of whose elements do not move.

    Args:
        there: the value.
        still: which elements do not.
    """

    def hold(array: Dual) -> Dual:
        real = Jet(array.real.at, np.where(still, 0.0, array.real.slope))
        if array.exact is None:
            return Dual(array.field, real, None)
        slope = array.exact.slope
        values = np.where(still, 0, slope.values)
        exact = Jet(array.exact.at, Exact(array.field, values, slope.degree))
        return Dual(array.field, real, exact)

    return mapped(there, hold)


def stepped(there: Any, step: float) -> Any:
    """A value some way along its direction, in numbers."""

    def walk(array: Dual) -> Dual:
        real = array.real.at
        moved = real if array.real.slope is None else real + step * array.real.slope
        return Dual(array.field, Jet(moved), None)

    return mapped(there, walk)
