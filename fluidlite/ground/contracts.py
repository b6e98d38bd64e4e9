"""What a rewriting needs, keeps and gives: conditions that are checked before and behind it.

>>> from fluidlite.ground.contracts import Condition, Contract
>>> short = Condition("is short", lambda words: None if len(words) < 3 else f"it has {len(words)}")
>>> Contract(needs=(short,)).before("reverse", ["a", "b", "c"])
Traceback (most recent call last):
...
fluidlite.errors.PassError: reverse: needs what it is given to be so: 'is short'; it has 3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import PassError

T = TypeVar("T")


@dataclass(frozen=True)
class Condition(Generic[T]):
    """Something that holds or does not.

    Args:
        name: says what holds.
        fault: says of a program, or of a graph, why it does not hold; None where it does.

    >>> short = fluid.transform.Condition(
    ...     "is short", lambda words: None if len(words) < 3 else "it is long"
    ... )
    >>> short.fault(["a"]), short.fault(["a", "b", "c"])
    (None, 'it is long')
    """

    name: str
    fault: Callable[[T], str | None]


@dataclass(frozen=True)
class Invariant(Generic[T]):
    """Something that stays as it is.

    Args:
        name: says what stays.
        facts: what is compared, by name, of a program or of a graph.

    >>> length = fluid.transform.Invariant("keeps its length", lambda words: {"length": len(words)})
    >>> length.facts(["a", "b"])
    {'length': 2}
    """

    name: str
    facts: Callable[[T], Mapping[str, object]]


@dataclass(frozen=True)
class Contract(Generic[T]):
    """What a rewriting needs, gives and keeps.

    Args:
        needs: has to hold before.
        gives: holds behind it.
        keeps: is the same before and behind it.

    >>> from fluidlite.runtime.passes import Condition, Contract
    >>> short = Condition("is short", lambda words: None if len(words) < 3 else "it is long")
    >>> Contract(needs=(short,)).before("reverse", ["a"])
    []
    """

    needs: tuple[Condition[T], ...] = ()
    gives: tuple[Condition[T], ...] = ()
    keeps: tuple[Invariant[T], ...] = ()

    def before(self, name: str, subject: T) -> list[Mapping[str, object]]:
        """Check what has to hold; the facts that are to stay.

        Args:
            name: of the rewriting, for messages.
            subject: what is to be rewritten.

        Raises:
            PassError: a condition does not hold.
        """
        for condition in self.needs:
            fault = condition.fault(subject)
            if fault is not None:
                raise PassError(
                    f"{name}: needs what it is given to be so: {condition.name!r}; {fault}"
                )
        return [dict(invariant.facts(subject)) for invariant in self.keeps]

    def behind(self, name: str, subject: T, facts: list[Mapping[str, object]]) -> None:
        """Check what the rewriting made.

        Args:
            name: of the rewriting, for messages.
            subject: what it made.
            facts: what :meth:`before` gave.

        Raises:
            PassError: a condition does not hold, or what was to stay has changed.
        """
        for condition in self.gives:
            fault = condition.fault(subject)
            if fault is not None:
                raise PassError(f"{name}: says to give {condition.name!r}, and does not; {fault}")
        for invariant, before in zip(self.keeps, facts, strict=True):
            change = _first_change(before, invariant.facts(subject))
            if change is not None:
                raise PassError(f"{name}: says to keep {invariant.name!r}, and does not; {change}")


def _first_change(before: Mapping[str, object], after: Mapping[str, object]) -> str | None:
    for name, fact in before.items():
        if name not in after:
            return f"{name!r} is gone: it was {fact}"
        if after[name] != fact:
            return f"{name!r} was {fact} and is {after[name]}"
    added = next((name for name in after if name not in before), None)
    return None if added is None else f"{added!r} is new: it is {after[added]}"
