"""``fluid.wrapped_decorator`` and ``fluid.annotations``."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

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


def deprecated(since: str, instead: str, extra_message: str = "") -> Callable[[Any], Any]:
    """A decorator of functions that say they are old when they are called.

    Args:
        since: the version that says so.
        instead: what to use.
        extra_message: more to say.
    """

    def decorate(function: Any) -> Any:
        said = f"{function.__name__} is deprecated since {since}; use {instead}. {extra_message}"

        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            warnings.warn(said.strip(), DeprecationWarning, stacklevel=2)
            return function(*args, **keywords)

        return call

    return decorate
