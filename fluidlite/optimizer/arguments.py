"""Checks of what optimizers are given."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from ..errors import ArgumentError
from ..ir.callsite import warn
from ..ir.program import Program, default_startup_program
from ..ir.variable import Variable, is_tensor

Pair = tuple[Variable, Variable | None]  #: a parameter and its gradient; None where it has none


def number(
    optimizer: str, what: str, value: Any, least: float = -math.inf, below: float = math.inf
) -> float:
    """A finite number; a warning where it is out of bounds.

    Args:
        optimizer, what: whose argument it is, and its name.
        value: what was given.
        least: the smallest number that makes sense.
        below: what it should be less than.

    Raises:
        ArgumentError: it is none.
    """
    bounds = "" if least == -math.inf else f" of at least {least:g}"
    if below != math.inf:
        bounds += f" and less than {below:g}"
    wanted = f"{optimizer}: expected {what} to be a number{bounds}, got {said(value)}"
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ArgumentError(wanted)
    if not least <= float(value) < below:
        warn(wanted, None)
    return float(value)


def programs_of(loss: Any, startup: Program | None) -> tuple[Program, Program]:
    """The program of a loss, and the one that gives its variables their first values."""
    if not isinstance(loss, Variable):
        why = "; this optimizer is one of programs, make it with a parameter_list"
        raise ArgumentError(
            f"expected the loss to be a variable, got {said(loss)}{why if is_tensor(loss) else ''}"
        )
    if startup is not None and not isinstance(startup, Program):
        raise ArgumentError(f"expected startup_program to be a Program, got {said(startup)}")
    return loss.program, startup or default_startup_program()


def checked_pairs(given: Any) -> list[Pair]:
    """Pairs of a parameter and its gradient, as a new list."""
    wanted = "expected params_grads to be a list of pairs (parameter, gradient), "
    if isinstance(given, (str, bytes, Variable)) or not isinstance(given, Iterable):
        raise ArgumentError(f"{wanted}got {said(given)}")
    pairs: list[Pair] = []
    for pair in given:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentError(f"{wanted}got {said(pair)} in it")
        param, grad = pair
        if not isinstance(param, Variable) or not (grad is None or isinstance(grad, Variable)):
            raise ArgumentError(f"{wanted}got ({said(param)}, {said(grad)}) in it")
        pairs.append((param, grad))
    return pairs


def said(value: Any) -> str:
    """A value in a message, with its type."""
    return f"{value!r:.60} of type {type(value).__name__}"
