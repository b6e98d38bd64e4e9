"""Copies of objects with slots, of which programs have very many."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from copy import copy
from typing import Any, TypeVar

from .fields import maker_of

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
    twin: T
    notes, slots = state if type(state) is tuple else (state, {})
    try:
        kind: Any = type(value)
        twin = _filled(kind)(slots)
    except KeyError:  # a slot holds nothing
        return copy(value)
    if notes:
        twin.__dict__.update(notes)
    return twin


@functools.cache
def _filled(kind: type) -> Callable[[dict[str, Any]], Any]:
    """What makes an object of a class whose slots hold something, in one go."""
    slots = [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ())]
    names = [name for name in slots if name not in ("__dict__", "__weakref__")]
    lines = [f"        made.{name} = slots[{name!r}]\n" for name in names]
    text = (
        "def make(kind, new):\n"
        "    def filled(slots):\n"
        f"        made = new(kind)\n{''.join(lines)}"
        "        return made\n"
        "    return filled\n"
    )
    return maker_of(text, "<copy>")(kind, kind.__new__)
