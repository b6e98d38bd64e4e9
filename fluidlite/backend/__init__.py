"""Array libraries that operators run on."""

from __future__ import annotations

from types import ModuleType

from . import numpy_


def get(name: str) -> ModuleType:
    """The backend of that name: its ``name``, ``xp``, ``asarray`` and ``generators``.

    Raises:
        KeyError: there is none.
    """
    return {"numpy": numpy_}[name]
