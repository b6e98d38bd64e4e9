"""Parts of variables between places that only a run knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..eager.recording import eager
from ..opdef.operand import Operand
from .arithmetic import cast_to
from .items import set_item
from .shaping import known_in_run
from .slices import slice as between
from .slices import strided_slice

_FAR = 2**31 - 1


def has_bounds_in_run(index: Any) -> bool:
    """Whether a slice in an index begins, ends or steps by a variable."""
    entries = index if isinstance(index, tuple) else (index,)
    return any(isinstance(each, slice) and _is_open(each) for each in entries)


def _is_open(part: slice) -> bool:
    bounds = (part.start, part.stop, part.step)
    return any(isinstance(n, Operand) and n.appends is not None for n in bounds)


def cut(x: Any, index: Any) -> tuple[Any, Any]:
    """A variable between such bounds, and what the index takes of that; both as they are where an
    index has none.

    Args:
        x: a variable.
        index: what tensors take.
    """
    if not has_bounds_in_run(index):
        return x, index
    entries = list(index) if isinstance(index, tuple) else [index]
    for place, axis in _axes(entries, x.array.ndim):
        part = entries[place]
        if isinstance(part, slice) and _is_open(part):
            start, end, step = _bounds(part)
            if isinstance(step, int) and step == 1:
                x = between(x, [axis], [start], [end])
            else:
                x = strided_slice(x, [axis], [start], [end], [step])
            entries[place] = slice(None)
    return x, tuple(entries)


def put(x: Any, index: Any, value: Any) -> Any:
    """A variable with other elements at an index, also between such bounds.

    Args:
        x: a variable.
        index: what tensors take; beside such bounds numbers, slices, ``...`` and None.
        value: a variable, an array or a number.
    """
    if not has_bounds_in_run(index):
        return set_item(x, index, value)
    if isinstance(value, Operand):
        value = cast_to(value, x.array.dtype)
    else:
        value = np.asarray(value, x.array.dtype)
    entries = list(index) if isinstance(index, tuple) else [index]
    axes, dropped, new, bounds = [], [], [], []
    for place, axis in _axes(entries, x.array.ndim):
        part = entries[place]
        if part is None:
            new.append(axis)
            continue
        axes.append(axis)
        if isinstance(part, slice):
            bounds.append(_bounds(part))
        else:
            dropped.append(axis)
            bounds.append((part, part + 1, 1))
    lists = [known_in_run("index", list(each)) for each in zip(*bounds)]
    numbers = [() if given is not None else each for given, each in zip(lists, zip(*bounds))]
    told: Any = dict(zip(("starts", "ends", "steps"), numbers))
    told.update(axes=axes, decrease_axes=dropped, none_axes=new)
    return eager.set_value(x, value, *lists, **told)


def _bounds(part: slice) -> tuple[Any, Any, Any]:
    step = 1 if part.step is None else part.step
    back = isinstance(step, int) and step < 0
    start = (_FAR if back else 0) if part.start is None else part.start
    end = (-1 if back else _FAR) if part.stop is None else part.stop
    return start, end, step


def _axes(entries: list[Any], ndim: int) -> Iterator[tuple[int, int]]:
    """The places of entries other than an ellipsis, and the dimensions that they begin at."""
    used, axis = sum(map(_width, entries)), 0
    for place, entry in enumerate(entries):
        if entry is Ellipsis:
            axis += ndim - used
        else:
            yield place, axis
            axis += _width(entry)


def _width(entry: Any) -> int:
    """How many dimensions an entry takes; an ellipsis takes the others."""
    if entry is None or entry is Ellipsis:
        return 0
    array = entry.array if isinstance(entry, Operand) else entry
    dtype = getattr(array, "dtype", None)
    return int(array.ndim) if dtype is not None and dtype.kind == "b" else 1
