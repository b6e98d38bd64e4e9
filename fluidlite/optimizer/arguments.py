"""Checks of the numbers that optimizers are made with."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from ..errors import ArgumentError


def number(
    optimizer: str, what: str, value: Any, least: float = -math.inf, below: float = math.inf
) -> float:
    """A finite number.

    Args:
        optimizer, what: whose argument it is, and its name.
        value: what was given.
        least: the smallest number allowed.
        below: what it must be less than.

    Raises:
        ArgumentError: it is none, or out of bounds.
    """
    bounds = "" if least == -math.inf else f" of at least {least:g}"
    if below != math.inf:
        bounds += f" and less than {below:g}"
    if (
        not isinstance(value, Real)
        or isinstance(value, bool)
        or not math.isfinite(value)
        or not least <= float(value) < below
    ):
        raise ArgumentError(
            f"{optimizer}: expected {what} to be a number{bounds}, "
            f"got {value!r:.60} of type {type(value).__name__}"
        )
    return float(value)
