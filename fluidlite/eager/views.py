"""Tensors that are a part, or another form, of another one, and are written with it.

A view remembers its whole and the call that gives it, and nothing more happens until somebody
writes: then the call is made once more, on the numbers of the elements of the whole, and says where
those of the view lie there.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..errors import InplaceError
from ..functions import shaping
from ..functions.items import decode, encode, part_code, set_item
from ..ground.tracebacks import boundary_followed
from . import engine
from .mode import no_grad, thread
from .nodes import Overwritten
from .recording import TensorRecord, call_site, eager
from .sweep import described, node_of

if TYPE_CHECKING:
    from .tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])
_MANY = 64  #: views are looked through for some that are gone when there are so many, or twice, ...
_ref = weakref.ref


class Viewed(TensorRecord, results=False):
    """Tensors that may be views of others, and have views."""

    #: whether views are refused writes that change a leaf which wants a gradient, or one element
    #: more than once
    refuses_views: ClassVar[bool] = False
    #: whether gradient rules read results as they were made, though these are written over since
    keeps_results: ClassVar[bool] = False

    #: what this is a view of, the function that gives it, and its further arguments
    _whole: tuple[Any, Callable[..., Any], tuple[Any, ...]] | None = None
    _views: list[weakref.ref[Any]] | None = None
    #: whether writes change what gradients of others see, and do not count there
    _unnoticed: bool = False

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order."""
        return _reversed(self)

    def replace(self, array: Any, counts: bool = False) -> None:
        """Take other elements as they are; no gradient knows of it.

        Args:
            array: of this tensor's shape and element type; it is no view any more of another one.
            counts: count it as a write.
        """
        if self._whole is not None or self._views is not None:
            if (array.shape, array.dtype) == (self.array.shape, self.array.dtype) and array.size:
                with no_grad():
                    take(self, self.results(array), counts)
                return
            leave(self)
        own: TensorRecord = self
        own.array = array
        own.version += counts


def see(view: Any, whole: Any, function: Callable[..., Any], args: tuple[Any, ...] = ()) -> Any:
    """Make a tensor a view of another one.

    Args:
        view: the tensor.
        whole: the other one.
        function: gives the view of the whole and ``args``.
        args: values that nobody changes.
    """
    view._whole = (whole, function, args)
    if whole.version:
        view.version = whole.version
    views = whole._views
    if views is None:
        whole._views = [_ref(view)]
        return view
    views.append(_ref(view))
    count = len(views)
    if not count & (_MANY - 1) and not count & (count - 1):
        _drop_gone(views)
    return view


def _drop_gone(views: list[Any]) -> None:
    views[:] = [link for link in views if link() is not None]


# -- the calls that give views ---------------------------------------------------------------------


def taken(x: Any, *codes: int) -> Any:
    """What stands at an index of numbers and slices, as ``encode`` writes it."""
    return eager.take_item(x, None, item=codes)


def formed(x: Any, view: Any) -> Any:
    """The elements in the shape of a view."""
    return shaping.reshape(x, view.array.shape)


def cut_off(x: Any) -> Any:
    """The elements without their past."""
    return x.results(x.array)


def bits_of(x: Any, dtype: Any) -> Any:
    """The bytes as elements of another type."""
    return x.results(_bits(x.array, dtype))


def _bits(array: Any, dtype: Any) -> Any:
    return np.ascontiguousarray(array).view(dtype)


def reforming(function: F) -> F:
    """A function whose result has the elements of its first argument in their order, as a view."""
    return boundary_followed(function, form)


def form(made: Any, x: Any) -> Any:
    """Make a tensor that was just made a form of another one, with the same elements in order."""
    if made is x or not x.sees:
        return made
    if x._whole is not None and not x.array.flags.c_contiguous and _is_copied(made, x):
        return made
    return see(made, x, formed)


def is_view(x: Any) -> bool:
    """Whether a tensor is a view; a variable is none."""
    return x.appends is None and x._whole is not None and _is_view(x)


def _is_copied(made: Any, x: Any) -> bool:
    """Whether the elements could not stay where they are, as far as that is seen at once."""
    if np.may_share_memory(made.array, x.array):
        return False
    root = x
    while root._whole is not None:
        root = root._whole[0]
    return bool(root.array.flags.c_contiguous)


def viewing(function: F) -> F:
    """A function whose result is a view of its first argument."""

    def seen(made: Any, x: Any, args: tuple[Any, ...]) -> Any:
        if made is x or not x.sees:
            return made
        return see(made, x, function, tuple(map(_fixed, args)))

    return boundary_followed(function, seen, of_all=True)


def _fixed(value: Any) -> Any:
    """An argument as nobody changes it."""
    if value.__class__ is list:
        return tuple(value)
    return value.array if isinstance(value, TensorRecord) else value


@viewing
def _reversed(x: Any) -> Any:
    return shaping.transpose(x, tuple(range(x.array.ndim))[::-1])


def parts(x: Any, made: Iterable[Any], dim: int, sizes: Sequence[int] | None = None) -> list[Any]:
    """Parts of a tensor along a dimension, as views of it.

    Args:
        x: the tensor.
        made: the parts, in order.
        dim: the dimension.
        sizes: of the parts; None where each is one place, and has not the dimension.
    """
    if not isinstance(x, Viewed) or not x.sees:
        return list(made)
    views = list(made)
    places = _places(dim % x.array.ndim, len(views), None if sizes is None else tuple(sizes))
    for each, codes in zip(views, places):
        each._whole, each.version = (x, taken, codes), x.version
    known = x._views = x._views or []
    count = len(known)
    known += map(_ref, views)
    if count >> 6 != len(known) >> 6:
        _drop_gone(known)
    return views


def each_part(x: Any, made: Iterable[Any]) -> Iterator[Any]:
    """The parts along the first dimension, one after the other: what is written in between shows.

    Args:
        x: the tensor.
        made: its parts as they are now.
    """
    array = x.array
    for k, part in enumerate(made):
        if not x.sees:
            yield part
        else:
            yield see(part, x, taken, part_code(k, None)) if x.array is array else x[k]


@functools.lru_cache(_MANY)
def _places(dim: int, count: int, sizes: tuple[int, ...] | None) -> list[tuple[int, ...]]:
    """The indices of parts along a dimension, as ``encode`` writes them."""
    before, at, places = encode((slice(None),) * dim)[0], 0, []
    for size in sizes or (None,) * count:
        places.append(before + part_code(at, size))
        at += 1 if size is None else size
    return places


# -- writing ---------------------------------------------------------------------------------------


def take(x: Any, result: Any, counts: bool = True) -> None:
    """Take a result in place of a tensor, in that of what it is a view of, and in all views.

    Args:
        x: the tensor.
        result: of its shape and element type.
        counts: whether the versions count it.

    Raises:
        InplaceError: what it is a view of cannot be written.
    """
    root, value, linked = x, result, thread.recording
    changed = {id(x): (result, linked)}
    while is_view(root):
        whole = root._whole[0]
        linked = linked and root._whole[1] is not cut_off and not _stays_leaf(whole)
        past, value = (whole.alias(), value) if linked else (cut_off(whole), cut_off(value))
        there = _there(root)
        if there is not None and _repeats(there):  # it shows what was written last
            del changed[id(root)]
        value = _put(past, root, value, there)
        changed[id(whole)] = value, linked
        root = whole
    _give(root, value, linked, counts)
    _show(root, changed, linked, counts)


def _stays_leaf(x: Any) -> bool:
    """Whether a tensor is a leaf, which stays one when a view of it is written."""
    if x.origin is not None or x.stop:
        return False
    if x.refuses_views:
        raise engine.located(
            InplaceError,
            f"{described(x)} is a leaf that wants a gradient: a view of it cannot be written in "
            f"place; do that under no_grad(), or on a view of a clone()",
        )
    return True


def _give(x: Any, value: Any, linked: bool, counts: bool) -> None:
    """Give a tensor the elements of a value, and its past where they are linked."""
    x.array = value.array
    if counts:
        x.version += 1
        if not x.keeps_results:
            mark_overwritten(x.origin)
    if linked:
        x.origin, x.stop = value.origin, value.stop


def _show(x: Any, changed: dict[int, tuple[Any, bool]], linked: bool, counts: bool) -> None:
    """Take the elements of a tensor over into its views, and theirs."""
    if not x._views:
        return
    bare = cut_off(x)
    for link in list(x._views):
        view = link()
        if view is None or view._whole is None or view._whole[0] is not x or not _is_view(view):
            continue
        if id(view) in changed:
            now, follows = changed[id(view)]
        else:
            follows = linked and view._whole[1] is not cut_off
            now = _called(view, x if follows else bare)
        _give(view, now, follows, counts)
        _show(view, changed, follows, counts)


def _is_view(x: Any) -> bool:
    """Whether a tensor is still a view; a form is none where elements had to be copied for it."""
    whole, function, _ = x._whole
    if function is not formed or whole._whole is None:
        return True
    lie = layout(whole)
    now = lie.reshape(x.array.shape)
    if now.size < 2 or np.may_share_memory(now, lie):
        return True
    x._whole = None
    return False


def layout(x: Any) -> Any:
    """The numbers of a tensor's elements in what it is a view of, lying as they do there."""
    if not is_view(x) or x._whole[1] is bits_of:
        return _numbers(x.array.shape)
    return _called(x, x.results(layout(x._whole[0]))).array


def _called(view: Any, whole: Any) -> Any:
    """What the call that gave a view gives of other elements of its whole."""
    _, function, args = view._whole
    if function is taken and whole.stop:
        return whole.results(np.asarray(whole.array[decode(args)]))
    return formed(whole, view) if function is formed else function(whole, *args)


def _numbers(shape: Any) -> Any:
    sizes = [+n for n in shape]
    return np.arange(int(np.prod(sizes, dtype=np.int64))).reshape(sizes)


def _there(view: Any) -> Any:
    """The numbers of a view's elements in its whole; None where the view is put back otherwise.

    Raises:
        InplaceError: elements are there more than once, which the tensor refuses.
    """
    whole, function, _ = view._whole
    if function in _PUT_BACK:
        return None
    there = _called(view, whole.results(_numbers(whole.array.shape))).array
    if view.refuses_views and _repeats(there):
        raise engine.located(
            InplaceError,
            f"{described(whole)} is shown more than once in what {_name(function)} gives: that "
            f"cannot be written; write to a clone() of it",
        )
    return there


def _repeats(there: Any) -> bool:
    """Whether a number occurs more than once among others."""
    return bool(there.size and np.bincount(there.reshape(-1)).max() > 1)


def _put(whole: Any, view: Any, value: Any, there: Any) -> Any:
    """A whole with other elements where a view has its own."""
    if there is None:
        _, function, args = view._whole
        return _PUT_BACK[function](whole, value, args)
    flat = set_item(shaping.reshape(whole, [-1]), there.reshape(-1), shaping.reshape(value, [-1]))
    return _in_form(whole, flat, ())


def _in_form(whole: Any, value: Any, args: Any) -> Any:
    return shaping.reshape(value, list(whole.array.shape))


def _in_place(whole: Any, value: Any, args: Any) -> Any:
    if not (whole.stop and value.stop):
        return eager.put_item(whole, value, None, item=args)
    array = whole.array.copy()
    array[decode(args)] = value.array
    return whole.results(array)


def _in_bits(whole: Any, value: Any, args: Any) -> Any:
    return whole.results(_bits(value.array, whole.array.dtype).reshape(whole.array.shape))


#: how wholes are made of what simple calls give
_PUT_BACK: dict[Any, Callable[[Any, Any, Any], Any]] = {
    cut_off: lambda whole, value, args: value,
    formed: _in_form,
    taken: _in_place,
    bits_of: _in_bits,
}


def _name(function: Any) -> str:
    return str(getattr(function, "func", function).__name__)


# -- tensors that stop to be what they were --------------------------------------------------------


def leave(x: Any) -> Any:
    """Let another handle of a tensor's value be what it was to its whole and its views.

    Args:
        x: the tensor.

    Returns:
        the handle.
    """
    other = x.alias()
    if x._whole is not None:
        see(other, *x._whole)
    for link in x._views or ():
        view = link()
        if view is not None and view._whole is not None and view._whole[0] is x:
            see(view, other, *view._whole[1:])
    x._whole = x._views = None
    return other


def mark_overwritten(origin: Any) -> None:
    """Note that the value of an edge was written over, where a gradient rule has kept it."""
    node = node_of(origin)
    if node is None or node.out is None:
        return
    mark = Overwritten(call_site())
    if isinstance(node.out, dict):
        slot, _ = node.how.places[origin.index]
        if slot in node.out:
            node.out[slot] = mark
    elif getattr(node.how, "keeps_out", None):
        node.out = mark
