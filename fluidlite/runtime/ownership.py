"""Who holds an object: what a reference count says, and tables that keep no key alive."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np


def held_only_by(holder: Sequence[Any], place: int) -> bool:
    """Whether nobody but a list or tuple can reach the memory of the array at a place: nobody else
    holds the array, and it is no view of another one.
    """
    return sys.getrefcount(holder[place]) <= _ALONE and holder[place].base is None


def _references(holder: Sequence[Any], place: int) -> int:
    return sys.getrefcount(holder[place])


#: what Python counts where a sequence has the only reference; differs between versions
_ALONE = _references([object()], 0)


def is_donated(holder: Sequence[Any], place: int) -> bool:
    """Whether what is at a place is an array that the next run may write to."""
    value = holder[place]
    if type(value) is not np.ndarray or not value.flags.writeable:
        return False
    del value
    return held_only_by(holder, place)


def keep_while_alive(table: dict[ref[Any], Any], key: Any, value: Any) -> None:
    """Put a value into a table until its key dies; it is found by ``table.get(ref(key))``.

    No Python code runs when the key dies, as it does for a ``WeakKeyDictionary``: an interrupt
    that came there would be lost.
    """
    table[ref(key, table.pop)] = value
