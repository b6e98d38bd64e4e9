"""Lists of Python, and the arrays of tensors that they are where a program decides their length."""

from __future__ import annotations

from copy import copy
from typing import Any

from ...ground.dtypes import DType
from ...ir.variable import Variable
from ...layers.array import array_length, array_read, array_write, create_array
from ...layers.creation import assign, fill_constant
from ...layers.indexing import gather
from ...layers.joining import stack
from ...layers.reshaping import shape as shape_of
from ...layers.reshaping import squeeze
from ...layers.slicing import slice as slice_
from ..capture import in_block
from .cells import Assigned
from .items import RangeItems
from .loops import for_
from .merging import as_variable, can_be_array, is_array, is_static, refused


def append(target: Any, added: Any) -> Any:
    """``target.append(added)``; gives the list.

    Args:
        target: a list, an array of tensors, or anything with such a method.
        added: what is put at the end.
    """
    if not is_array(target):
        target = _own(target)
        target.append(added)
        return target
    made = as_variable(added)
    if target.dtype != made.dtype and target.op is None:
        target.declare(dtype=made.dtype)
    array_write(made, array_length(array=target), target)
    return target


def pop(target: Any, *place: Any) -> Any:
    """``target.pop(...)``.

    Args:
        target: a list, an array of tensors, or anything with such a method.
        place: what is taken out; the last one where it is left out.
    """
    if not is_array(target):
        return target.pop(*place)
    before, rest = create_array(target.dtype), create_array(target.dtype)
    assign(target, before)  # the loops read a name of their own, which nothing writes again
    taken = _place(before, place[0] if place else -1)
    popped = array_read(before, taken)
    length = array_length(array=before)

    def keep(at: Any) -> None:
        array_write(array_read(before, at), array_length(array=rest), rest)

    def keep_behind(at: Any) -> None:
        array_write(array_read(before, at + taken + 1), array_length(array=rest), rest)

    for count, function in ((taken, keep), (length - taken - 1, keep_behind)):
        for_(RangeItems(count), function, None, Assigned())
    assign(rest, target)
    return popped


def item(target: Any, place: Any) -> Any:
    """``target[place]``.

    Args:
        target: anything.
        place: a variable, too, where it is a list or an array of tensors.
    """
    if is_array(target):
        return array_read(target, _place(target, place))
    if not is_static(place):
        return target[place]
    if isinstance(target, (list, tuple)) and can_be_array(list(target)):
        rows = stack([as_variable(each) for each in target], 0)
        return squeeze(gather(rows, place), [0])
    if isinstance(target, (list, tuple, dict)):
        raise refused(
            f"a tensor chooses from a {type(target).__name__} that has something else than tensors "
            f"and numbers; choose with if, or keep tensors there"
        )
    return target[place]


def set_item(target: Any, place: Any, new: Any) -> Any:
    """``target[place] = new``; gives the list.

    Args:
        target: anything that can be written to.
        place: where.
        new: what.
    """
    if is_array(target):
        array_write(as_variable(new), _place(target, place), target)
        return target
    target = _own(target)
    target[place] = new
    return target


def _own(target: Any) -> Any:
    """A list or dictionary that may be changed: within a branch or a loop of the program a copy,
    since what was before is there for the other way.
    """
    return copy(target) if in_block() and type(target) in (list, dict) else target


def _place(target: Variable, place: Any) -> Variable:
    """A position in an array, counted from the front."""
    if is_static(place):
        return place if place.dtype is DType.INT64 else as_variable(place, DType.INT64)
    if place >= 0:
        return fill_constant([1], "int64", int(place))
    return array_length(array=target) + int(place)


def length(target: Any) -> Any:
    """``len(target)``; of a tensor whose first size is not known, a variable."""
    if is_array(target):
        return array_length(array=target)
    if is_static(target):
        return shape(target)[0]
    return len(target)


def shape(target: Any) -> Any:
    """``target.shape``; of a variable, a list with variables for the sizes that are not known."""
    if not is_static(target) or is_array(target) or not target.has_shape:
        return target.shape
    sizes = list(target.shape)
    if -1 not in sizes:
        return sizes
    known = shape_of(target)
    return [
        slice_(known, axes=[0], starts=[k], ends=[k + 1]) if n < 0 else n
        for k, n in enumerate(sizes)
    ]
