"""``fluid.default_scope_funcs``: a stack of scopes, one for each thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ground import state
from ...scope import Scope

_stack: state.StateSlot[tuple[Scope, ...]] = state.slot("scopes", lambda: (Scope(),))


def get_cur_scope() -> Scope:
    """The innermost scope."""
    return _stack.get()[-1]


def enter_local_scope() -> None:
    """Begin a scope within the innermost one."""
    _stack.switch((*_stack.get(), get_cur_scope().new_scope()))


def leave_local_scope() -> None:
    """Leave the innermost scope."""
    stack = _stack.get()
    _stack.switch(stack[:-1])
    stack[-2].drop_kids()


def var(name: str) -> Any:
    """The variable of a name in the innermost scope; it is made if there is none."""
    return get_cur_scope().var(name)


def find_var(name: str) -> Any:
    """The variable of a name in the innermost scope or one around it; None if there is none."""
    return get_cur_scope().find_var(name)


def scoped_function(func: Callable[[], Any]) -> Any:
    """What a function returns that is called in a scope of its own.

    Args:
        func: a function without arguments.
    """
    enter_local_scope()
    try:
        return func()
    finally:
        leave_local_scope()
