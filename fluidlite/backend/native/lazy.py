"""A property that is computed once, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazy(Generic[T]):
    """What ``functools.cached_property`` is since Python 3.12: before that it holds a lock while it
    computes, and a process that is forked meanwhile waits for it for ever.

    Args:
        compute: the value, of an object; two threads may compute it at once.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        made = owner.__dict__[self._name] = self._compute(owner)
        return made
