"""The sizes of tensors."""

from __future__ import annotations

from typing import Any


class TensorShape(tuple[int, ...]):
    """The sizes of a tensor: equal to a list or a tuple of them, and added to either.

    >>> shape = fluid.ones([2, 3]).shape
    >>> shape == [2, 3], shape == (2, 3), shape[:1] + [4]
    (True, True, [2, 4])
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

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
        found = tuple.__getitem__(self, index)
        return TensorShape(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        return repr(list(self))
