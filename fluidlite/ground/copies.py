"""Copies of objects with slots, of which programs have very many."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import copy
from typing import Any, TypeVar

T = TypeVar("T")


def shallow_copy(value: T) -> T:
    """An object of the same class that holds the same: as ``copy.copy`` makes it, which asks the
    class many questions each time.

    Args:
        value: an object whose class has slots and a dictionary.
    """
    if sys.version_info < (3, 11):
        return copy(value)
    state: Any = object.__getstate__(value)  # asking for ``__dict__`` would make one
    notes, slots = state if type(state) is tuple else (state, _NOTHING)
    kind: Any = type(value)
    twin: T = kind.__new__(kind)
    for name, held in slots.items():
        setattr(twin, name, held)
    if notes:
        twin.__dict__.update(notes)
    return twin


_NOTHING: Mapping[str, Any] = {}
