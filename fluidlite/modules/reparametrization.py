"""Weights that are made of other parameters before each call, in whichever spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.engine import located
from ..errors import ArgumentError
from ..functions.arithmetic import multiply, true_divide
from ..functions.elementary import sqrt, square
from ..functions.reduction import sum as total
from ..functions.shaping import reshape


def weight_to_remake(owner: Any, name: str, kind: type) -> Any:
    """A parameter of a layer or module, which is to be made of others.

    Raises:
        ArgumentError: there is none of its own, or it is made of others already.
    """
    weight, what = owner.own_parameters.get(name), type(owner).__name__
    if name in _made(owner):
        raise located(ArgumentError, f"{name!r} of {what} is normalised already")
    if not isinstance(weight, kind):
        known = ", ".join(owner.own_parameters) or "none"
        raise located(
            ArgumentError, f"expected {name!r} to be a parameter of {what}, which has {known}"
        )
    return weight


def remade(
    owner: Any, name: str, make: Callable[[Any], Any], *kept: Any, first: Any = None
) -> None:
    """Make a weight of its owner now, and again before each call; :func:`no_longer_remade` gives
    back what is ``kept``.  Until the first call it is ``first``, where that is given.
    """

    def hook(owner: Any, inputs: Any) -> None:
        object.__setattr__(owner, name, make(owner))

    if first is None:
        hook(owner, None)
    else:
        object.__setattr__(owner, name, first)
    _made(owner)[name] = (owner.register_forward_pre_hook(hook), kept)


def no_longer_remade(owner: Any, name: str) -> Any:
    """Let a weight that :func:`normalized` makes be none that is made.

    Raises:
        ArgumentError: it is not made so.
    """
    if name not in _made(owner) or f"{name}_g" not in owner.own_parameters:
        raise located(ArgumentError, f"{name!r} of {type(owner).__name__} has no weight_norm")
    hook, kept = _made(owner).pop(name)
    hook.remove()
    owner.__dict__.pop(name, None)
    return kept


def _made(owner: Any) -> dict[str, Any]:
    kept: dict[str, Any] = owner.__dict__.setdefault("_weights_made", {})
    return kept


def of_parts(name: str, dim: int | None) -> Callable[[Any], Any]:
    """What makes a weight of the direction and the lengths that a layer or module has."""
    return lambda it: normalized(getattr(it, f"{name}_v"), getattr(it, f"{name}_g"), dim)


def lengths(v: Any, dim: int | None) -> Any:
    """The norms of the slices along a dimension, in a form that spreads over all of them."""
    axes = [d for d in range(len(v.array.shape)) if d != dim]
    return sqrt(total(square(v), axes, keepdim=True) if axes else square(v))


def normalized(v: Any, g: Any, dim: int | None) -> Any:
    """A weight of the direction ``v``, whose slices along a dimension have the lengths ``g``."""
    length = lengths(v, dim)
    return multiply(v, true_divide(reshape(g, list(length.array.shape)), length))
