"""Checks of arguments: each takes whose argument it is, its name, and what was given.

>>> finite("SGD", "learning_rate", 1)
1.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

from ..errors import ArgumentError

#: takes whose argument it is, its name, and what was given
Check = Callable[[object, str, Any], Any]


def refused(owner: object, what: str, wanted: str, value: object) -> ArgumentError:
    """The error that an argument is not what it has to be.

    Args:
        owner: whose argument: its name, or an object, whose class has it; empty for nobody's.
        what: the argument's name.
        wanted: what it has to be.
        value: what was given.
    """
    name = owner if isinstance(owner, str) else type(owner).__name__
    return ArgumentError(f"{name and f'{name}: '}expected {what} to be {wanted}, got {said(value)}")


def said(value: object) -> str:
    """A value in a message, with its type."""
    return f"{value!r:.60} of type {type(value).__name__}"


def is_finite(value: object) -> bool:
    """Whether something is a finite number, and neither True nor False."""
    if type(value) is not float and (not isinstance(value, Real) or isinstance(value, bool)):
        return False
    return math.isfinite(value)


def finite(owner: object, what: str, value: Any) -> float:
    """A finite number.

    Raises:
        ArgumentError: it is none.
    """
    if not is_finite(value):
        raise refused(owner, what, "a finite number", value)
    return float(value)


def positive(owner: object, what: str, value: Any) -> float:
    """A finite number above 0; see :func:`finite`."""
    if not is_finite(value) or value <= 0:
        raise refused(owner, what, "a positive number", value)
    return float(value)


def within(owner: object, what: str, value: Any, most: float = 1.0) -> float:
    """A number above 0, and up to ``most``; see :func:`finite`."""
    number = positive(owner, what, value)
    if number > most:
        raise refused(owner, what, f"at most {most:g}", value)
    return number


def count(owner: object, what: str, value: Any) -> int:
    """A whole number above 0, which may be a float; see :func:`finite`."""
    number = positive(owner, what, value)
    if number != int(number):
        raise refused(owner, what, "a whole number", value)
    return int(number)


def need_one_of(owner: str, **given: object) -> None:
    """Refuse arguments of which both or neither is there.

    Args:
        owner: whose arguments.
        given: two of them by name; None for one that is missing.

    Raises:
        ArgumentError: both are there, or neither.
    """
    count = sum(value is not None for value in given.values())
    if count != 1:
        told = "both" if count else "neither"
        raise ArgumentError(f"{owner}: expected {' or '.join(given)}, got {told}")


def truth(owner: object, what: str, value: Any) -> bool:
    """True or False; see :func:`finite`."""
    if not isinstance(value, bool):
        raise refused(owner, what, "True or False", value)
    return value


def integer(owner: object, what: str, value: Any, least: int = 1) -> int:
    """An integer, from ``least`` on.

    Raises:
        ArgumentError: it is none.
    """
    if type(value) is int and value >= least:  # quicker than asking the abstract class
        return value
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
        raise refused(owner, what, wanted, value)
    return int(value)


def numbers(owner: object, what: str, values: Iterable[Any]) -> list[float]:
    """Finite numbers; see :func:`finite`."""
    return [finite(owner, f"one of {what}", each) for each in values]


def rising(owner: object, what: str, values: Iterable[Any]) -> list[int]:
    """Whole numbers in ascending order.

    Raises:
        ArgumentError: they are not.
    """
    listed = [int(each) for each in numbers(owner, what, values)]
    if sorted(set(listed)) != listed:
        raise refused(owner, what, "numbers that grow", values)
    return listed


def a_function(owner: object, what: str, value: Any) -> Callable[..., Any]:
    """A function.

    Raises:
        ArgumentError: it is none.
    """
    if not callable(value):
        raise refused(owner, what, "a function", value)
    found: Callable[..., Any] = value
    return found


def yes_or_no(owner: object, what: str, value: Any) -> bool:
    """True or False, of anything."""
    return bool(value)


def one_of(*known: str) -> Check:
    """A check that takes one of some words."""
    *most, last = map(repr, known)
    listed = f"{', '.join(most)} or {last}"

    def checked(owner: object, what: str, value: Any) -> str:
        if value not in known:
            raise refused(owner, what, listed, value)
        return str(value)

    return checked


def or_none(check: Check) -> Check:
    """A check that takes None, too."""

    def checked(owner: object, what: str, value: Any) -> Any:
        return None if value is None else check(owner, what, value)

    return checked


def text_or_none(owner: object, what: str, value: Any) -> str | None:
    """A text, or None.

    Raises:
        ArgumentError: it is something else.
    """
    if value is not None and not isinstance(value, str):
        raise refused(owner, what, "a text", value)
    return value


def instance_of(kind: type[Any] | tuple[type[Any], ...], wanted: str) -> Check:
    """A check that takes objects of a class.

    Args:
        kind: the class, or several.
        wanted: what messages say that it is.
    """

    def checked(owner: object, what: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise refused(owner, what, wanted, value)
        return value

    return checked
