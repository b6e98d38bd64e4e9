"""Tensors that are a part, or another form, of another one, and are written with it."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..eager import engine
from ..eager.mode import thread
from ..eager.sweep import described
from ..eager.writing import Writing
from ..errors import InplaceError
from ..functions import shaping
from ..functions.items import get_item, set_item
from ..opdef.operand import Operand

_Get = Callable[[Any], Any]
_Put = Callable[[Any, Any], Any]
_MANY = 64  #: views are looked through for some that are gone when there are so many, or twice, ...


class Viewing(Writing, results=False):
    """Tensors whose indices and forms are written with them, and they with those."""

    #: what this is a view of, how it is had from that, and how it is put back
    _whole: tuple[Any, _Get, _Put] | None = None
    #: the views of this tensor, by what identifies them
    _views: dict[int, weakref.ref[Any]] | None = None

    def __getitem__(self, item: Any) -> Any:
        made = get_item(self, item)
        return _part(made, self, item) if _is_plain(item) else made

    def __iter__(self) -> Iterator[Any]:
        return iter(parts(self, super().__iter__(), 0))  # type: ignore[misc]

    @property
    def T(self) -> Any:
        """The tensor with its dimensions in reverse order."""
        return seen(self, _reversed, lambda x, y: _reversed(y))

    def write(self, change: Any, reshaped: bool = False, retyped: bool = False) -> Any:
        """Take what a function makes of this tensor in its place, in that of what it is a view of,
        and in its views.

        Args:
            change: takes an alias of this tensor, and gives a tensor of its shape.
            reshaped: the shape may change: then this is no view any more, and has none.
            retyped: the element type may change: then this is no view any more.

        Raises:
            InplaceError: a leaf that wants a gradient would be written, or the shape would change.
        """
        if self._whole is None or reshaped or retyped:
            self._whole = None
            if reshaped:
                self._views = None
            super().write(change, reshaped, retyped)
            for each in self._sharing or (self,):
                _show(each)
            return self
        whole, get, put = self._whole
        whole.write(lambda old: put(old, _fitting(change(get(old)), self)))
        return self

    def write_shape(self, change: Any) -> Any:
        """The same as ``write`` for a function that gives the elements another shape."""
        if self._whole is None:
            return super().write_shape(change)
        whole, get, put = self._whole
        super().write_shape(change)
        self._whole = (whole, lambda x: change(get(x)), lambda x, y: put(x, _shaped(y, get(x))))
        return self


def _see(view: Any, whole: Any, get: _Get, put: _Put) -> Any:
    """Make a tensor a view of another one.

    Args:
        view: the tensor.
        whole: the other one.
        get: takes that, and gives what is seen.
        put: takes it and what is to be seen, and gives it with that.
    """
    view._whole = (whole, get, put)
    views = whole._views
    if views is None:
        views = whole._views = {}
    count = len(views)
    if count >= _MANY and not count & (count - 1):
        for key in [key for key, link in views.items() if link() is None]:
            del views[key]
    views[id(view)] = weakref.ref(view)
    return view


def _show(x: Any) -> None:
    """Take the elements of a tensor over into its views, and theirs."""
    for link in list((x._views or {}).values()):
        view = link()
        if view is None or view._whole is None or view._whole[0] is not x:
            continue
        now = view._whole[1](x)
        view.array = now.array
        view.version += 1
        if thread.recording:
            view.origin, view.stop = now.origin, now.stop
        _show(view)


def seen(x: Any, get: _Get, put: _Put) -> Any:
    """What a function makes of a tensor, as a view of it; a variable of a program has none.

    Args:
        x: the tensor.
        get: the function.
        put: takes the tensor and what is to be seen, and gives the tensor with that.
    """
    made = get(x)
    return _see(made, x, get, put) if isinstance(x, Viewing) and made is not x else made


def viewing(function: Callable[..., Any], back: Callable[..., Any] | None = None) -> Any:
    """A function whose result is a view of its first argument.

    Args:
        function: takes a tensor and options.
        back: takes a result and the same options, and gives what the tensor was; None where the
            shape alone changes.
    """

    @functools.wraps(function)
    def viewed(input: Any, *args: Any, **named: Any) -> Any:
        def put(x: Any, y: Any) -> Any:
            return _shaped(y, x) if back is None else back(y, *args, **named)

        return seen(input, lambda x: function(x, *args, **named), put)

    return viewed


def repeating(function: Callable[..., Any]) -> Any:
    """A function whose result shows elements of its first argument more than once: a view that can
    be written where it does not.
    """

    @functools.wraps(function)
    def repeated(input: Any, *args: Any, **named: Any) -> Any:
        def put(x: Any, y: Any) -> Any:
            if x.array.size == y.array.size:
                return _shaped(y, x)
            raise engine.located(
                InplaceError,
                f"{described(input)} is shown more than once in what {function.__name__} gives: "
                f"that cannot be written; write to a clone() of it",
            )

        return seen(input, lambda x: function(x, *args, **named), put)

    return repeated


def parts(
    x: Any, made: Iterator[Any] | Sequence[Any], dim: int, sizes: Sequence[int] | None = None
) -> tuple[Any, ...]:
    """Parts of a tensor along a dimension, as views of it.

    Args:
        x: the tensor.
        made: the parts, in order.
        dim: the dimension.
        sizes: of the parts; None where each is one place, and has not the dimension.
    """
    if not isinstance(x, Viewing):
        return tuple(made)
    views, at = [], 0
    before = (slice(None),) * (dim % x.array.ndim)
    for k, each in enumerate(made):
        size = 1 if sizes is None else sizes[k]
        views.append(_part(each, x, (*before, k if sizes is None else slice(at, at + size))))
        at += size
    return tuple(views)


def _part(made: Any, x: Any, item: Any) -> Any:
    return _see(made, x, lambda x: get_item(x, item), lambda x, y: set_item(x, item, y))


def _reversed(x: Any) -> Any:
    return shaping.transpose(x, tuple(range(x.array.ndim))[::-1])


def _shaped(y: Any, like: Any) -> Any:
    """A tensor in the shape of another one."""
    return shaping.reshape(y, list(like.array.shape))


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
