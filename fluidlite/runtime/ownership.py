"""Who holds an array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np


def _references(holder: Sequence[Any], place: int) -> int:
    return getrefcount(holder[place])


#: what Python counts where a sequence has the only reference, asked for an item of it; differs
#: between versions
ALONE = _references([object()], 0)


def reusable(holder: Sequence[Any], places: Iterable[int]) -> list[int]:
    """The places, among some, of arrays that nobody else can reach and that may be written to."""
    writable = []
    for k in places:
        if getrefcount(holder[k]) <= ALONE:
            array = holder[k]
            if type(array) is np.ndarray and array.base is None and array.flags.writeable:
                writable.append(k)
            del array  # which may stand at another place, too
    return writable
