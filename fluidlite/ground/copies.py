"""Copies of objects with slots, of which programs have very many."""

from __future__ import annotations

import functools
import gc
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
    kind: Any = type(value)
    make, count = _slot_by_slot(kind)
    if len(gc.get_referents(value)) == count:  # asking for ``__dict__`` would make one
        try:
            twin: T = make(value)
            return twin
        except AttributeError:  # a slot holds nothing
            pass
    return copy(value)


@functools.cache
def _slot_by_slot(kind: type) -> tuple[Callable[[Any], Any], int]:
    """What copies the slots of an object of a class in one go; and to how many objects one refers
    whose slots all hold something and whose dictionary is empty: its class is one of them.
    """
    slots = [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ())]
    names = [name for name in slots if name not in ("__dict__", "__weakref__")]
    lines = [f"        made.{name} = value.{name}\n" for name in names]
    text = (
        "def make(kind, new):\n"
        "    def copied(value):\n"
        f"        made = new(kind)\n{''.join(lines)}"
        "        return made\n"
        "    return copied\n"
    )
    return maker_of(text, "<copy>")(kind, kind.__new__), len(names) + 1
