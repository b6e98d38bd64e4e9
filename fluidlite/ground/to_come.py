"""Names of paddle 2.6 that are not there yet, and what they wait for."""

from __future__ import annotations

from fnmatch import fnmatchcase

#: what they wait for -> patterns of whole names
TO_COME_OF_PADDLE_2: dict[str, str] = {}


def to_come(name: str) -> str | None:
    """What a whole name of paddle 2, or a module, waits for; None where it is none of those.

    >>> to_come("paddle.ones") is None
    True
    """
    for why, patterns in TO_COME_OF_PADDLE_2.items():
        if any(fnmatchcase(name, p) or p == f"{name}.*" for p in patterns.split()):
            return why
    return None


def not_yet(name: str) -> str:
    """That a whole name of paddle 2 is not there yet; an empty text of others."""
    why = to_come(name)
    return "" if why is None else f"{name} is not there yet ({why})"
