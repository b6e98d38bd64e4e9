"""What follows from a shape."""

from __future__ import annotations

from math import prod
from typing import Any


class Shaped:
    """A value with a shape."""

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """The sizes."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)
