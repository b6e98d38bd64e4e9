"""What callers of backward give, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import ArgumentError, ShapeError, suggestion
from ..ground.callsite import warn
from ..ir.program import Program
from ..ir.variable import Variable
from .emission import Callback


def no_grad_names(given: Iterable[Variable | str] | None, program: Program) -> set[str]:
    """The names at which a caller wants gradients to stop, with a warning of those that no variable
    has: fluid takes them, too.

    Raises:
        ArgumentError: something else than a set, list or tuple of variables and names is given.
    """
    names = names_of(() if given is None else given, "no_grad_set")
    warn_of_unknown(names, "no_grad_set", program)
    return set(names)


def warn_of_unknown(names: Iterable[str], what: str, program: Program) -> None:
    """Say which of some names no variable of a program has."""
    known = {name for block in program.blocks for name in block.vars} if names else set()
    for name in names:
        if name not in known:
            hint = suggestion(name, known)
            warn(f"{what} has {name!r}, and no variable of the program has that name{hint}", None)


def names_of(given: Iterable[Variable | str], what: str) -> list[str]:
    """Variables and names, as names.

    Raises:
        ArgumentError: something else is given.
    """
    if not isinstance(given, (set, frozenset, list, tuple)):
        raise ArgumentError(
            f"expected {what} to be a list of variables or names, got {type(given).__name__}"
        )
    names = []
    for item in given:
        if not isinstance(item, (Variable, str)):
            raise ArgumentError(
                f"expected variables or names in {what}, got {item!r:.60} of type "
                f"{type(item).__name__}"
            )
        names.append(item if isinstance(item, str) else item.name)
    return names


def variables(given: Any, what: str) -> list[Variable]:
    """One variable or several, as a list.

    Raises:
        ArgumentError: something else is given.
    """
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    for item in listed:
        if not isinstance(item, Variable):
            raise ArgumentError(
                f"expected {what} to be variables, got {item!r:.60} of type {type(item).__name__}"
            )
    return listed


def weights_of(goals: list[Variable], given: Any) -> list[Variable | None]:
    """What each target is weighted with; None for ones.

    Raises:
        ArgumentError: there are more or fewer than targets, or one is no variable.
        ShapeError: one has another shape than its target.
    """
    if given is None:
        return [None] * len(goals)
    weights: list[Variable | None] = list(given) if isinstance(given, (list, tuple)) else [given]
    if not weights:
        return [None] * len(goals)
    if len(weights) != len(goals):
        raise ArgumentError(
            f"expected as many target_gradients as targets, got {len(weights)} for {len(goals)}"
        )
    for goal, weight in zip(goals, weights, strict=True):
        if weight is None:
            continue
        if not isinstance(weight, Variable):
            raise ArgumentError(
                f"expected target_gradients to be variables, got {type(weight).__name__}"
            )
        if weight.shape != goal.shape:
            raise ShapeError(
                f"target {goal.name!r} has shape {list(goal.shape)}, its gradient {weight.name!r} "
                f"{list(weight.shape)}"
            )
    return weights


def checked_callbacks(given: Any) -> Sequence[Callback]:
    """Functions to call after each gradient operator.

    Raises:
        ArgumentError: something else than a list of functions is given.
    """
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        raise ArgumentError(f"expected callbacks to be a list, got {type(given).__name__}")
    for callback in given:
        if not callable(callback):
            raise ArgumentError(f"expected callbacks to be functions, got {callback!r:.60}")
    return list(given)


def checked_checkpoints(given: Any, loss: Variable) -> list[str]:
    """The names of the values to keep between segments that are computed again.

    Raises:
        ArgumentError: something else than variables of the loss's block, or their names, is given.
    """
    if given is None:
        return []
    names = names_of(given, "checkpoints")
    block = loss.block
    for name in names:
        if not block.has_var(name):
            raise ArgumentError(
                f"checkpoint {name!r} is no variable of block {block.idx}, where the loss "
                f"{loss.name!r} is{suggestion(name, block.vars)}"
            )
    return names
