"""Functions that always give the same, for names that programs of other libraries ask.

>>> with_cuda = always("with_cuda", False, "False: tensors are on the CPU.")
>>> with_cuda()
False
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")


def always(name: str, value: R, doc: str) -> Callable[[], R]:
    """A function that takes nothing and always gives the same; it belongs to the module that calls
    this.

    Args:
        name: the function's.
        value: what it gives.
        doc: its docstring.
    """

    def constant() -> R:
        return value

    around = sys._getframe(1)
    owner = around.f_locals.get("__qualname__")  # of a class whose body this is
    constant.__name__, constant.__doc__ = name, doc
    constant.__qualname__ = f"{owner}.{name}" if owner else name
    constant.__module__ = around.f_globals["__name__"]
    constant.__annotations__ = {"return": type(value).__name__}
    return constant
