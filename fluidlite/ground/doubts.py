"""Warnings of arguments that are probably mistakes, and that run all the same."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

from .arguments import is_finite, refused
from .callsite import warn


def number(
    owner: object, what: str, value: Any, least: float = -math.inf, below: float = math.inf
) -> float:
    """A finite number; a warning where it is out of bounds.

    Args:
        owner, what: whose argument it is, and its name.
        value: what was given.
        least: the smallest number that makes sense.
        below: what it should be less than.

    Raises:
        ArgumentError: it is none.
    """
    bounds = "" if least == -math.inf else f" of at least {least:g}"
    if below != math.inf:
        bounds += f" and less than {below:g}"
    error = refused(owner, what, f"a number{bounds}", value)
    if not is_finite(value):
        raise error
    if not least <= float(value) < below:
        warn(str(error), None)
    return float(value)


def warn_where_stretched(function: str, input: Any, label: Any) -> None:
    """Warn of a prediction, [N, 1], and a label, [N], that broadcast to [N, N].

    Args:
        function: what compares them, for the message.
        input, label: operands.
    """
    shapes = [operand.array.shape for operand in (input, label)]
    if shapes[0] == shapes[1]:
        return
    pairs = list(zip_longest(*map(reversed, shapes), fillvalue=1))
    if any(1 not in pair and -1 not in pair and pair[0] != pair[1] for pair in pairs):
        return  # an error to come says so
    if all(any(pair[k] == 1 != pair[1 - k] for pair in pairs) for k in (0, 1)):
        warn(
            f"{function}: a prediction of shape {list(shapes[0])} and a label of shape "
            f"{list(shapes[1])} are stretched to one shape, in which each prediction meets the "
            f"labels of others; give both one shape by reshape",
            None,
        )
