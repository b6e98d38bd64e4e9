"""What holds a dense tensor that gradients flow through, as a sparse tensor does."""

from __future__ import annotations

from typing import Any


class HoldsValues:
    """What is differentiated by the tensor that it holds."""

    __slots__ = ()

    def values(self) -> Any:
        """The tensor."""
        raise NotImplementedError

    def with_values(self, values: Any) -> Any:
        """The same with another tensor."""
        raise NotImplementedError


def held(given: Any) -> Any:
    """The tensor that something holds; others are what they are."""
    return given.values() if isinstance(given, HoldsValues) else given


def holding(given: Any, gradient: Any) -> Any:
    """A gradient of what :func:`held` gave, as one of what held it."""
    if gradient is None or not isinstance(given, HoldsValues):
        return gradient
    return given.with_values(gradient)
