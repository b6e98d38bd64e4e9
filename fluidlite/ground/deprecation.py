"""Names that a later release removes: calls of them warn, and name the replacement."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def deprecated(since: str, instead: str, extra_message: str = "") -> Callable[[Any], Any]:
    """A decorator for functions that a later release removes: each call gives a DeprecationWarning.

    Args:
        since: the version that deprecates the function.
        instead: what to use.
        extra_message: further advice.
    """

    def decorate(function: Any) -> Any:
        said = f"{function.__name__} is deprecated since {since}; use {instead}. {extra_message}"

        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            warnings.warn(said.strip(), DeprecationWarning, stacklevel=2)
            return function(*args, **keywords)

        call.__deprecated__ = said.strip()  # type: ignore[attr-defined]  # where editors look
        return call

    return decorate
