"""A count with its noun, as messages say it."""

from __future__ import annotations


def quantity(count: int, noun: str) -> str:
    """The number and the noun, in the plural but for one: ``1 variable``, ``2 variables``.

    Args:
        count: how many.
        noun: the noun in the singular, which takes an *s*.
    """
    return f"{count} {noun}{'s' * (count != 1)}"
