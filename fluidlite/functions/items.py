"""What stands at an index of a tensor, and what is put there."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, DTypeError
from ..opdef.conjugation import is_complex
from ..opdef.operand import Operand
from .arithmetic import cast_to

if TYPE_CHECKING:
    from .arguments import Other

_NUMBER, _SLICE, _ELLIPSIS, _NEW, _TENSOR = range(5)  # as operator `take_item` writes them
_ABSENT = -(2**31)
_FAR = 2**31 - 1


def encode(item: Any) -> tuple[tuple[int, ...], list[Any] | None]:
    """An index as operators take it: four numbers for each entry, and the tensors in it.

    Raises:
        ArgumentError: an entry is no integer, slice, ``...``, None, tensor, array or list.
    """
    if item.__class__ is int:
        return (_NUMBER, item, 0, 0), None
    codes: list[int] = []
    tensors: list[Any] = []
    for entry in item if isinstance(item, tuple) else (item,):
        if entry.__class__ is slice:
            codes += (_SLICE, *_bounds(entry))
        elif isinstance(entry, (int, np.integer)) and not isinstance(entry, (bool, np.bool_)):
            codes += (_NUMBER, int(entry), 0, 0)
        elif entry is None:
            codes += (_NEW, 0, 0, 0)
        elif entry is Ellipsis:
            codes += (_ELLIPSIS, 0, 0, 0)
        else:
            index = _index(entry)
            if isinstance(index, int):
                codes += (_NUMBER, index, 0, 0)
            else:
                codes += (_TENSOR, 0, 0, 0)
                tensors.append(index)
    return tuple(codes), tensors or None


@functools.lru_cache(1024)
def decode(codes: tuple[int, ...]) -> tuple[Any, ...]:
    """The index that ``encode`` gave codes without tensors for, as NumPy takes it."""
    entries: list[Any] = []
    for kind, *numbers in zip(*[iter(codes)] * 4):
        if kind == _SLICE:
            entries.append(slice(*[None if number == _ABSENT else number for number in numbers]))
        else:
            entries.append({_NUMBER: numbers[0], _ELLIPSIS: Ellipsis, _NEW: None}[kind])
    return tuple(entries)


def part_code(at: int, size: int | None) -> tuple[int, ...]:
    """The entry of an index that takes so many places; None for one, without its dimension."""
    return (_NUMBER, at, 0, 0) if size is None else (_SLICE, at, at + size, _ABSENT)


def _bounds(part: slice) -> tuple[int, int, int]:
    """Start, end and step of a slice.  One that runs backwards to -1 ends with the first element,
    as operators ``strided_slice`` and ``set_value`` have it.
    """
    start, end, step = _bound(part.start), _bound(part.stop), _bound(part.step)
    return start, _ABSENT if end == -1 and _ABSENT < step < 0 else end, step


def _bound(value: Any) -> int:
    if value is None:
        return _ABSENT
    if value.__class__ is not int and isinstance(value, Operand):
        value = value.array.item()
    try:
        return max(min(value.__index__(), _FAR), -_FAR)
    except (AttributeError, TypeError):
        raise ArgumentError(f"a slice takes integers, got {value!r:.60}") from None


def _index(value: Any) -> Any:
    """An entry that is a tensor, or a list of numbers: an array; an integer where it is one."""
    array = value.array if isinstance(value, Operand) else np.asarray(value)
    if not isinstance(value, (Operand, np.ndarray)) and array.size == 0:
        array = array.astype("int64")
    if array.dtype.kind not in "iub":
        raise ArgumentError(
            f"a tensor is indexed by integers, slices, ..., None, masks, and tensors or lists of "
            f"integers; got {value!r:.60} of type {type(value).__name__}"
        )
    if isinstance(value, Operand) and value.appends is not None:
        return value
    if array.ndim == 0 and array.dtype.kind != "b":
        return int(array)
    if array.dtype == np.uint8 and getattr(value, "byte_masks", False):
        return array != 0
    return array


def get_item(x: Any, item: Any) -> Any:
    """``x[item]``."""
    codes, tensors = encode(item)
    return eager.take_item(x, tensors, item=codes)


def set_item(x: Any, item: Any, value: Other) -> Any:
    """A tensor like ``x`` but for ``value`` at an index.

    Args:
        x: a tensor.
        item: the index.
        value: a tensor, an array or a number; broadcasts to what the index takes.

    Raises:
        DTypeError: the value is complex, and the tensor real.
    """
    codes, tensors = encode(item)
    dtype, written = x.array.dtype, value.array if isinstance(value, Operand) else np.asarray(value)
    if is_complex(written) and not is_complex(x.array):
        raise DTypeError(
            f"expected real numbers to write into a tensor of {dtype}, got {written.dtype}; take "
            f"real() of them, or cast the tensor first"
        )
    if isinstance(value, Operand):
        value = value if written.dtype == dtype else cast_to(value, dtype)
    else:
        value = written.astype(dtype)
    return eager.put_item(x, value, tensors, item=codes)
