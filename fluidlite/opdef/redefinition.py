"""What is to be forgotten when an operator is defined anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable


class Redefinitions:
    """How often an operator was defined anew, and who remembers definitions."""

    def __init__(self) -> None:
        self.count = 0
        #: forget what is known of operators of some types
        self.listeners: list[Callable[[Iterable[str]], None]] = []


redefinitions: Redefinitions = Redefinitions()
