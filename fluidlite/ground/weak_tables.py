"""Tables that keep no key alive."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, TypeVar
from weakref import ref

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class WeakTable(dict[Any, V], Generic[K, V]):
    """Values by weak references to keys; an entry goes when its key dies.

    No Python code runs then, as it does for a ``WeakKeyDictionary``: an interrupt that comes while
    it runs would be lost.

    >>> table = WeakTable()
    >>> scope = fluid.Scope()
    >>> table.keep(scope, 1), table.of(scope)
    (1, 1)
    >>> del scope
    >>> len(table)
    0
    """

    def __reduce__(self) -> Any:
        alive = [(key, value) for known, value in self.items() if (key := known()) is not None]
        return _kept, (type(self), alive)

    def of(self, key: K) -> V | None:
        """The value of a key; None when there is none."""
        return self.get(ref(key))

    def keep(self, key: K, value: V) -> V:
        """Set and give the value of a key."""
        self[ref(key, self.pop)] = value
        return value


def _kept(kind: type[WeakTable[Any, Any]], pairs: list[tuple[Any, Any]]) -> WeakTable[Any, Any]:
    """A table with these entries: what copying and pickling make."""
    table = kind()
    for key, value in pairs:
        table.keep(key, value)
    return table
