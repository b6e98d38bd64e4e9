"""``fluid.wrapped_decorator`` and ``fluid.annotations``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from ...ground.deprecation import deprecated  # noqa: F401  fluid.annotations has it

signature_safe_contextmanager = contextmanager


def wrap_decorator(decorator_func: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A decorator whose functions keep the name and the signature of what they decorate.

    Args:
        decorator_func: a decorator.
    """

    @functools.wraps(decorator_func)
    def decorate(function: Any) -> Any:
        return functools.wraps(function)(decorator_func(function))

    return decorate
