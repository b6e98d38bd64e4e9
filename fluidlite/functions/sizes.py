"""The sizes of tensors."""

from __future__ import annotations

from typing import Any


class TensorShape(list[int]):
    """The sizes of a tensor: a list of your own, equal to a tuple of them, too, and added to
    either.

    >>> shape = fluid.ones([2, 3]).shape
    >>> shape == [2, 3], shape == (2, 3), shape[:1] + (4,)
    (True, True, [2, 4])
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: Any) -> Any:
        if isinstance(other, (list, tuple)):
            return TensorShape((*self, *other))
        return NotImplemented

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, (list, tuple)):
            return TensorShape((*other, *self))
        return NotImplemented

    def __getitem__(self, index: Any) -> Any:
        found = list.__getitem__(self, index)
        return TensorShape(found) if isinstance(index, slice) else found
