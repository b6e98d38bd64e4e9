"""Functions that fluid 1.8 makes programs of, by its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import ArgumentError
from .traced import TracedLayer

__all__ = ["TracedLayer", "declarative", "dygraph_to_static_func"]

F = TypeVar("F", bound=Callable[..., object])


def declarative(func: F) -> F:
    """The function itself: its layers run at once, with the results that a program would have.

    Args:
        func: a function of tensors, with loops and branches in Python.

    >>> @fluid.dygraph.jit.declarative
    ... def doubled(x):
    ...     return x * 2.0
    >>> with fluid.dygraph.guard():
    ...     doubled(fluid.dygraph.to_variable(np.ones([2], "float32"))).numpy()
    array([2., 2.], dtype=float32)
    """
    if not callable(func):
        raise ArgumentError(f"expected a function to decorate, got {func!r:.60}")
    return func


dygraph_to_static_func = declarative
