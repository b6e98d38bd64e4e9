"""Who holds an array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np


def held_only_by(holder: Sequence[Any], place: int) -> bool:
    """Whether nobody but a list or tuple can reach the memory of the array at a place: nobody else
    holds the array, and it is no view of another one.
    """
    return getrefcount(holder[place]) <= _ALONE and holder[place].base is None


def _references(holder: Sequence[Any], place: int) -> int:
    return getrefcount(holder[place])


#: what Python counts where a sequence has the only reference; differs between versions
_ALONE = _references([object()], 0)


def owned_items(holder: Sequence[Any], places: Iterable[int]) -> list[Any]:
    """What a list or tuple of arrays has at some places; copies of those that others can reach."""
    found = []
    for k in places:  # faster than a comprehension
        is_owned = getrefcount(holder[k]) <= _ALONE and holder[k].base is None
        found.append(holder[k] if is_owned else np.array(holder[k]))
    return found


def reusable(holder: Sequence[Any], places: Iterable[int]) -> list[int]:
    """The places, among some, of arrays that nobody else can reach and that may be written to."""
    found = []
    for k in places:
        if getrefcount(holder[k]) <= _ALONE:
            array = holder[k]
            if type(array) is np.ndarray and array.base is None and array.flags.writeable:
                found.append(k)
            del array  # which may stand at another place, too
    return found
