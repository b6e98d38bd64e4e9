"""Extension points: what a layer needs of one above it, which it must not import.

The layer that needs something states it; ``fluidlite/__init__.py``, which knows all layers, says
who provides it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ..errors import NotInitializedError

T = TypeVar("T")


class ExtensionPoint(Generic[T]):
    """Something that a layer above provides, read when it is first needed.

    Args:
        name: for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._load: Callable[[], T] | None = None

    def provide(self, load: Callable[[], T]) -> None:
        """Say what gives it.

        Args:
            load: called each time; what it imports is read at the first call.
        """
        self._load = load

    def get(self) -> T:
        """What was provided.

        Raises:
            NotInitializedError: nothing was.
        """
        if self._load is None:
            raise NotInitializedError(f"no layer provides {self._name} yet")
        return self._load()
