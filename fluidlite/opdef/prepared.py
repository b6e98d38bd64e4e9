"""Kernels made ready for values of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Prepared(NamedTuple):
    """A NumPy kernel for values of known shapes.

    ``function`` takes the values that ``run`` takes and gives one array, or a tuple of them.
    """

    function: Callable[..., Any]
    #: whether it takes ``out=``: an array to write its result to, or None; a tuple of them where it
    #: gives several
    out: bool = False
    #: positions of arguments that ``out`` may be
    over: tuple[int, ...] = ()
    #: position of an argument that the result is like, where the shape rule cannot know it
    like: int | None = None
    #: makes an array to work in, which is passed behind the other arguments
    scratch: Callable[[], Any] | None = None


#: makes a prepared kernel of an operator and the specs of what ``run`` takes; None where it cannot
Preparation = Callable[..., "Prepared | None"]
_preparations: dict[str, Preparation] = {}


def prepares(*types: str) -> Callable[[Preparation], Preparation]:
    """A decorator for functions that make NumPy kernels ready.

    The function takes the operator (of a derived gradient operator the forward operator), and the
    specs of what its ``run``, or its rule, takes.

    Args:
        types: of the operators.
    """

    def register(preparation: Preparation) -> Preparation:
        _preparations.update(dict.fromkeys(types, preparation))
        return preparation

    return register


def preparation_of(type: str) -> Preparation | None:
    """The function that prepares kernels of an operator; None where there is none."""
    return _preparations.get(type)
