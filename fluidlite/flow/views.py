"""Tensors that are a part, or another form, of another one, and are written with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.mode import thread
from ..eager.writing import Writing
from ..functions import shaping
from ..functions.items import get_item, set_item
from ..opdef.operand import Operand
from . import shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..functions.arguments import Axes
    from .tensor import Tensor

_Get = Callable[[Any], Any]
_Put = Callable[[Any, Any], Any]


class Viewing(Writing, results=False):
    """Indices and forms of a tensor, through which it can be written."""

    #: what this is a view of, how it is had from that, and how it is put back
    _origin: tuple[Any, _Get, _Put] | None = None

    def __getitem__(self, item: Any) -> Any:
        made = get_item(self, item)
        if _is_plain(item):
            made._origin = (self, lambda x: get_item(x, item), lambda x, y: set_item(x, item, y))
        return made

    def _seen(self, get: _Get, back: _Get | None = None) -> Any:
        """A form of this tensor; ``back`` undoes it, a change of shape when None."""
        made = get(self)
        if made is not self:
            made._origin = (self, get, lambda x, y: (back or _like(x))(y))
        return made

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """The same elements in another shape, one size of which may be -1."""
        return self._seen(lambda x: shapes.reshape(x, *shape))

    view = reshape

    def squeeze(self, dim: Axes = None) -> Tensor:
        """The tensor without a dimension, or without all, of size 1."""
        return self._seen(lambda x: shapes.squeeze(x, dim))

    def unsqueeze(self, dim: int) -> Tensor:
        """The tensor with a new dimension of size 1."""
        return self._seen(lambda x: shapes.unsqueeze(x, dim))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """The tensor with some dimensions made one."""
        return self._seen(lambda x: shapes.flatten(x, start_dim, end_dim))

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """Two dimensions exchanged."""

        def exchanged(x: Any) -> Any:
            return shapes.transpose(x, dim0, dim1)

        return self._seen(exchanged, exchanged)

    def t(self) -> Tensor:
        """The two dimensions exchanged."""
        return self._seen(shaping.t, shaping.t)

    def write(self, change: Any, reshaped: bool = False) -> Tensor:
        """Take what a function makes of this tensor in its place, and in that of what it is a view
        of.

        Args:
            change: takes an alias of this tensor, and gives a tensor of its shape.
            reshaped: the shape may change: then this is no view any more.

        Raises:
            InplaceError: a leaf that wants a gradient would be written, or the shape would change.
        """
        if self._origin is None or reshaped:
            self._origin = None
            return super().write(change, reshaped)
        base, get, put = self._origin
        base.write(lambda old: put(old, _fitting(change(get(old)), self)))
        view = get(base)
        self.array: Any = view.array
        self.version: int = self.version + 1
        if thread.recording:
            self.origin: Any = view.origin
            self.stop: bool = view.stop
        return self


def _like(x: Any) -> _Get:
    """What gives a tensor the shape of another one."""
    return lambda y: shapes.reshape(y, list(x.array.shape))


def _fitting(made: Any, like: Any) -> Any:
    """A result, where it has the shape of a tensor; else what writing refuses."""
    if made.array.shape != like.array.shape:
        return Writing.write(like.detach(), lambda old: made)
    return made


def _is_plain(item: Any) -> bool:
    """Whether an index picks each element once, by its place."""
    entries = item if isinstance(item, tuple) else (item,)
    return not any(
        isinstance(each, (list, bool, np.bool_, np.ndarray))
        or (isinstance(each, Operand) and each.array.ndim > 0)
        or (isinstance(each, Operand) and each.array.dtype.kind == "b")
        for each in entries
    )
