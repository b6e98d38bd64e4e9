"""Modules that are dictionaries or lists of what they hold, in whichever spelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ..eager.engine import located
from ..errors import ArgumentError, OutOfRangeError


class Holder:
    """A module that holds things of one kind."""

    _holds: ClassVar[str]  #: the attribute with the dictionary of what is held
    _adds: ClassVar[str]  #: the method that adds something to it, under a name

    def __len__(self) -> int:
        return len(getattr(self, self._holds))

    def hold(self, values: Any) -> None:
        """Add things, in their order."""
        raise NotImplementedError


class HeldByName(Holder):
    """A module that is a dictionary."""

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(self, self._holds))

    def __contains__(self, name: str) -> bool:
        return name in getattr(self, self._holds)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, self._holds)[name]

    def hold(self, values: Any) -> None:
        for name, value in dict(values).items():
            getattr(self, self._adds)(name, value)

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

    def hold(self, values: Any) -> None:
        for each in values:
            getattr(self, self._adds)(str(len(self)), each)

    def __getitem__(self, index: Any) -> Any:
        held = getattr(self, self._holds)
        if isinstance(index, str) and index in held:
            return held[index]
        listed = list(self)
        if isinstance(index, slice):
            return type(self)(listed[index])  # type: ignore[call-arg]
        return listed[place_in(index, len(listed))]

    def __setitem__(self, index: int, value: Any) -> None:
        getattr(self, self._adds)(str(place_in(index, len(self))), value)

    def __delitem__(self, place: Any) -> None:
        listed = list(self)
        del listed[place]
        self._hold_instead(listed)

    def _put(self, index: int, value: Any) -> None:
        """Put something in front of what has a place."""
        listed = list(self)
        listed.insert(index, value)
        self._hold_instead(listed)

    def _hold_instead(self, values: list[Any]) -> None:
        getattr(self, self._holds).clear()
        self.hold(values)


def place_in(index: Any, count: int) -> int:
    """A place in a list, counted from the front.

    Args:
        index: the place, which may count from the end.
        count: how many there are.

    Raises:
        ArgumentError: it is no integer.
        OutOfRangeError: there is no such place.
    """
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise located(ArgumentError, f"expected an integer as an index, got {index!r:.60}")
    if not -count <= index < count:
        raise located(OutOfRangeError, f"expected an index in [{-count}, {count}), got {index}")
    return int(index) % count
