"""Functions that are compiled ahead, in OneFlow's spelling: they run as they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..ground.public_names import list_public_names

__all__ = ["ignore", "script"]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def script(
    obj: T,
    optimize: object | None = None,
    _frames_up: int = 0,
    _rcb: object | None = None,
    example_inputs: object | None = None,
) -> T:
    """What is given, as in OneFlow 0.9; ``nn.Graph`` makes a program.

    Args:
        obj: a function or a module.
        optimize, _frames_up, _rcb, example_inputs: accepted.

    >>> fluid.flow.script(abs)(-1)
    1
    """
    return obj


def ignore(drop: bool = False, **kwargs: object) -> Callable[[F], F]:
    """A decorator that gives the function, as in OneFlow 0.9.

    Args:
        drop, kwargs: accepted.

    >>> @fluid.flow.ignore()
    ... def double(x):
    ...     return 2 * x
    >>> double(2)
    4
    """

    def same(function: F) -> F:
        return function

    return same


list_public_names(globals())
