"""Python functions that operators of programs call: a program names them by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ArgumentError
from ..ground import state


class Registered(NamedTuple):
    """A function that operators can call."""

    function: Callable[..., Any]
    backward: bool  #: whether it computes gradients of another one

    @property
    def name(self) -> str:
        """What the function is called, for messages."""
        return getattr(self.function, "__name__", None) or repr(self.function)


_registered: state.StateSlot[list[Registered]] = state.slot("callables", list)


def register(function: Callable[..., Any], backward: bool = False) -> int:
    """Keep a function for as long as the process lives; gives its number.

    Args:
        function: what operators will call.
        backward: whether it computes gradients of another one.
    """
    _registered.get().append(Registered(function, backward))
    return len(_registered.get()) - 1


def registered(number: int) -> Registered:
    """The function of a number.

    Raises:
        ArgumentError: none has been registered under it.
    """
    functions = _registered.get()
    if not 0 <= number < len(functions):
        raise ArgumentError(
            f"expected the number of a function that was registered in this process, got {number}; "
            f"a program that calls Python functions runs only in the process that built it"
        )
    return functions[number]
