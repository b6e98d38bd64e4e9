"""Extension points: what a layer needs of one above it, which it must not import.

The layer that needs something states it; ``fluidlite/__init__.py``, which knows all layers, says
who provides it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..errors import NotInitializedError

T = TypeVar("T")

_provided: dict[str, Callable[[], Any]] = {}


def provide(name: str, load: Callable[[], Any]) -> None:
    """Name the function that gives something; its module may be loaded later.

    Args:
        name: of the extension point.
        load: called each time; what it imports is read at the first call.
    """
    _provided[name] = load


class ExtensionPoint(Generic[T]):
    """Something that a layer above provides, read when it is first needed.

    Args:
        name: by which it is provided.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def get(self) -> T:
        """What was provided.

        Raises:
            NotInitializedError: nothing was.
        """
        load = _provided.get(self._name)
        if load is None:
            raise NotInitializedError(f"no layer provides {self._name} yet")
        value: T = load()
        return value
