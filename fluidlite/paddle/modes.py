"""The two modes of paddle 2: functions without operands make tensors, or build programs.

With operands there is nothing to choose: a tensor runs, a variable appends.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .. import unique_name
from ..ground import state
from ..ground.public_names import list_public_names
from ..ground.spellings import parameters_of
from ..ground.tracebacks import api_boundaries

F = TypeVar("F", bound=Callable[..., Any])

#: counts the names of programs while tensors are made
_names: state.StateSlot[unique_name.NameGenerator | None] = state.slot(
    "names of programs", lambda: None
)


def enable_static() -> None:
    """Have creation functions and parameters build programs from here on.

    Names are counted as they were when programs were built last.

    >>> fluid.paddle.enable_static()
    >>> fluid.paddle.in_dynamic_mode()
    False
    >>> fluid.paddle.disable_static()
    """
    if in_dynamic_mode():
        unique_name.switch(_names.get())
    state.builds.switch(True)


def disable_static(place: object = None) -> None:
    """Have them make tensors again, as at the start: names are counted from 0 again, too.

    Args:
        place: accepted; there is one place.

    >>> fluid.paddle.enable_static()
    >>> fluid.paddle.disable_static()
    >>> fluid.paddle.in_dynamic_mode()
    True
    """
    if not in_dynamic_mode():
        before, _ = unique_name.switch()
        _names.switch(before)
    state.builds.switch(False)


@contextmanager
def dynamic_mode() -> Iterator[None]:
    """A guard under which they make tensors, in its thread alone."""
    with state.builds.guard(False):
        yield


def in_dynamic_mode() -> bool:
    """Whether functions without operands make tensors.

    >>> from fluidlite import paddle
    >>> paddle.in_dynamic_mode()
    True
    """
    return not state.builds.get()


def building(eager: F) -> Callable[[Callable[..., Any]], F]:
    """Make one function of two: one for tensors, the decorated one for programs.

    Args:
        eager: makes tensors; it gives the result its signature and its docstring.  The decorated
            function is given all arguments by place.
    """

    def decorate(append: Callable[..., Any]) -> F:
        appending = parameters_of(eager)(append)

        @functools.wraps(eager)
        def either(*args: Any, **kwargs: Any) -> Any:
            return (appending if state.builds.get() else eager)(*args, **kwargs)

        either.__module__ = append.__module__
        either.__signature__ = inspect.signature(eager)  # type: ignore[attr-defined]
        made: Any = either
        return made

    return decorate


list_public_names(globals())
api_boundaries(globals(), but=("building",))
