"""Modules that are dictionaries or lists of what they hold, in whichever spelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar


class Holder:
    """A module that holds things of one kind."""

    _holds: ClassVar[str]  #: the attribute with the dictionary of what is held
    _adds: ClassVar[str]  #: the method that adds something to it, under a name

    def __len__(self) -> int:
        return len(getattr(self, self._holds))


class HeldByName(Holder):
    """A module that is a dictionary."""

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(self, self._holds))

    def __contains__(self, name: str) -> bool:
        return name in getattr(self, self._holds)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, self._holds)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        getattr(self, self._holds).pop(name, None)
        getattr(self, self._adds)(name, value)

    def __delitem__(self, name: str) -> None:
        del getattr(self, self._holds)[name]

    def keys(self) -> Iterable[str]:
        """The names."""
        names: Iterable[str] = getattr(self, self._holds).keys()
        return names

    def values(self) -> Iterable[Any]:
        """What they stand for."""
        values: Iterable[Any] = getattr(self, self._holds).values()
        return values

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of them."""
        pairs: Iterable[tuple[str, Any]] = getattr(self, self._holds).items()
        return pairs


class HeldInOrder(Holder):
    """A module that is a list; names are the numbers of places."""

    def __iter__(self) -> Iterator[Any]:
        return iter(getattr(self, self._holds).values())

    def __delitem__(self, place: Any) -> None:
        listed = list(self)
        del listed[place]
        self._hold(listed)

    def _hold(self, values: Iterable[Any]) -> None:
        """Hold other things, in this order."""
        getattr(self, self._holds).clear()
        for number, each in enumerate(values):
            getattr(self, self._adds)(str(number), each)
