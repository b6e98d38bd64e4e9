"""Values as Python text: numbers, names, shapes, arrays, and calls with such arguments.

Nothing of a program gets into the text but by these functions: strings are quoted, names are made
of letters, and everything else is a number.
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..errors import UnsupportedError
from ..ground.dtypes import DType
from ..ground.quoting import python_string
from ..onnx.tracing import Cell, TracedArray

ATOM = 100  #: how tightly a name, a number or a call binds
TIGHT = 55  #: from here on a number with a sign needs parentheses
LARGEST_LITERAL = 24  #: arrays of more elements are read from the file of arrays


@dataclass(frozen=True, eq=False)
class Reference:
    """A value in an expression, and how tightly its own has to bind to need no parentheses."""

    cell: Cell
    level: int = 0


Part: TypeAlias = str | Reference


def operand(value: Any, level: int = 0) -> list[Part]:
    """A value of the graph, or a number, as a part of an expression."""
    if isinstance(value, TracedArray):
        known = value.constant
        if known is None or value.cell.name or is_large(known):
            return [Reference(value.cell, level)]
    if isinstance(value, np.ndarray) and is_large(value):
        return [Reference(Cell("constant", value), level)]
    text = literal(value)
    return [f"({text})" if text.startswith("-") and level >= TIGHT else text]


def parts_of(value: Any) -> list[Part]:
    """An argument of a call: a value of the graph, or what Python has literals for, nested.

    Raises:
        UnsupportedError: it has no text.
    """
    if isinstance(value, (list, tuple)) and not isinstance(value, str):
        opening, closing = "[]" if isinstance(value, list) else "()"
        inner = joined(parts_of(each) for each in value)
        if isinstance(value, tuple) and len(value) == 1:
            inner.append(",")
        return [opening, *inner, closing]
    if isinstance(value, slice):
        return call("slice", (value.start, value.stop, value.step), {})
    return operand(value)


def joined(each: Iterable[list[Part]], between: str = ", ") -> list[Part]:
    """Parts with something between them."""
    interspersed: list[Part] = []
    for parts in each:
        if interspersed:
            interspersed.append(between)
        interspersed += parts
    return interspersed


def call(function: str, args: Iterable[Any], named: Mapping[str, Any]) -> list[Part]:
    """A call."""
    given = [parts_of(each) for each in args]
    given += [[f"{name}=", *parts_of(each)] for name, each in named.items()]
    return [f"{function}(", *joined(given), ")"]


def literal(value: Any) -> str:
    """A value that is known, as text.

    Raises:
        UnsupportedError: it has none.
    """
    if isinstance(value, TracedArray):
        value = value.constant
    if value is None or value is Ellipsis or isinstance(value, bool):
        return "..." if value is Ellipsis else repr(value)
    if isinstance(value, DType):
        return python_string(value.dtype.name)
    if isinstance(value, np.dtype):
        return python_string(value.name)
    if isinstance(value, type) and issubclass(value, np.generic):
        return python_string(np.dtype(value).name)
    if value is bool or value is int or value is float:
        return python_string(np.dtype(value).name)
    if isinstance(value, str):
        return python_string(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, range):
        return f"range({value.start}, {value.stop}, {value.step})"
    if isinstance(value, (np.ndarray, np.generic)):
        return array_text(np.asarray(value))
    raise UnsupportedError(f"a value of type {type(value).__name__} has no text")


def number(value: Any) -> str:
    """A number of Python's."""
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, float):
        if math.isnan(value):
            return "np.nan"
        if math.isinf(value):
            return "np.inf" if value > 0 else "-np.inf"
        return repr(float(value)).replace("e+", "e")
    return repr(int(value))


def is_large(array: Any) -> bool:
    """Whether an array is for the file of arrays, and not for the text."""
    array = np.asarray(array)
    if array.size <= LARGEST_LITERAL or _counted(array) is not None:
        return False
    return not (array == array.flat[0]).all()


def array_text(array: Any) -> str:
    """An array as a call that makes it.

    Raises:
        UnsupportedError: it is too large for the text.
    """
    dtype, shape = python_string(array.dtype.name), _shape(array.shape)
    if array.dtype.kind not in "biufc":
        raise UnsupportedError(f"an array of {array.dtype} has no text")
    if array.size and (array == array.flat[0]).all() and array.ndim:
        first = array.flat[0]
        if not first and not np.signbit([first.real, first.imag]).any():
            return f"np.zeros({shape}, {dtype})"
        return f"np.full({shape}, {scalar(first)}, {dtype})"
    if not array.ndim:
        return f"np.asarray({scalar(array[()])}, {dtype})"
    if not array.size:
        return f"np.zeros({shape}, {dtype})"
    counted = _counted(array)
    if counted is not None:
        return counted
    if array.size > LARGEST_LITERAL:
        raise UnsupportedError(f"an array of {array.size} elements is too large for the text")
    return f"np.array({_nested(array)}, {dtype})"


def scalar(value: Any) -> str:
    """An element of an array: the shortest text that its element type reads back."""
    if isinstance(value, np.floating):
        return number(float(str(value)))
    if isinstance(value, np.complexfloating):
        return number(complex(float(str(value.real)), float(str(value.imag))))
    return number(value.item()) if not isinstance(value, np.bool_) else repr(bool(value))


def _nested(array: Any) -> str:
    if array.ndim:
        return f"[{', '.join(map(_nested, array))}]"
    return scalar(array[()])


def _counted(array: Any) -> str | None:
    """Numbers that follow each other, along one dimension."""
    flat = array.reshape(-1)
    if array.dtype.kind not in "iu" or array.size < 3 or max(array.shape) != array.size:
        return None
    first, second = int(flat[0]), int(flat[1])
    step, dtype = second - first, python_string(array.dtype.name)
    stop = first + step * array.size
    if not step or not np.array_equal(flat, np.arange(first, stop, step)):
        return None
    bounds = str(stop) if (first, step) == (0, 1) else f"{first}, {stop}"
    text = f"np.arange({bounds}, dtype={dtype})"
    if step != 1:
        text = f"np.arange({bounds}, {step}, dtype={dtype})"
    return text if array.ndim == 1 else f"{text}.reshape{_shape(array.shape)}"


def _shape(shape: Iterable[int]) -> str:
    sizes = tuple(int(n) for n in shape)
    return f"({sizes[0]},)" if len(sizes) == 1 else repr(sizes)


_TAKEN = frozenset({"np", "params", "seed", "step", "Path", *keyword.kwlist, *dir(builtins)})
_LONGEST_NAME = 48


def identifier(name: str) -> str:
    """A name of Python's that is like a name of the program's; that of a gradient begins ``d_``."""
    stem = name.partition("@GRAD")[0]
    text = re.sub(r"\W+", "_", re.sub(r"\.tmp_\d+$", "", stem), flags=re.ASCII).strip("_")
    text = f"d_{text}" if "@GRAD" in name else text
    if not text or text[0].isdigit():
        text = f"v_{text}".rstrip("_")
    return text[:_LONGEST_NAME].rstrip("_")


class Namer:
    """Names that occur once.

    Args:
        taken: names that are there already.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*_TAKEN, *taken}
        self._counts: dict[str, int] = {}

    def take(self, names: Iterable[str]) -> None:
        """Give these names to nothing."""
        self._taken.update(names)

    def name(self, like: str) -> str:
        """A name that nothing has yet, like a name of the program's."""
        stem = candidate = identifier(like)
        while candidate in self._taken or keyword.issoftkeyword(candidate):
            self._counts[stem] = self._counts.get(stem, 1) + 1
            candidate = f"{stem}_{self._counts[stem]}"
        self._taken.add(candidate)
        return candidate
