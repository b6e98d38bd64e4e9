"""Tensors as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ground import state
from ..ground.brain_float import is_bfloat16
from ..ground.quoting import markup, table_markup
from ..ground.spellings import Spelling

_INDENT = 7


@dataclass
class PrintOptions:
    """How tensors are printed."""

    precision: int = 8  #: digits behind the point
    threshold: int = 1000  #: elements from which on only the outer ones are shown
    edgeitems: int = 3  #: how many of them at each end
    sci_mode: bool = False
    linewidth: int = 80


_options: state.StateSlot[PrintOptions] = state.slot("eager_printing", PrintOptions)


def options_said(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> dict[str, Any]:
    """What is said of how tensors are printed, by name.

    Args:
        precision: digits behind the point.
        threshold: the number of elements from which on only the outer ones are shown.
        edgeitems: how many of them at each end of a dimension.
        sci_mode: write numbers with exponents.
        linewidth: characters in a line.
    """
    said: dict[str, Any] = dict(precision=precision, threshold=threshold, edgeitems=edgeitems)
    said |= dict(sci_mode=sci_mode, linewidth=linewidth)
    return {name: value for name, value in said.items() if value is not None}


def _print_so(said: dict[str, Any]) -> None:
    vars(_options.get()).update(said)


set_printoptions: Callable[..., None] = Spelling({})(
    options_said,
    "set_printoptions",
    """Say how tensors are printed; what is None stays as it is.

    >>> fluid.set_printoptions(precision=2)
    >>> fluid.to_tensor([1.23456])
    Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
           [1.23])
    >>> fluid.set_printoptions(precision=8)
    """,
    then=_print_so,
)


def tensor_text(array: Any, stop_gradient: bool, kind: str = "Tensor") -> str:
    """A tensor in words: shape, type and elements.

    Args:
        array: its value.
        stop_gradient: whether gradients stop at it.
        kind: what it is called.
    """
    return (
        f"{kind}(shape={list(array.shape)}, dtype={array.dtype.name}, place=Place(cpu), "
        f"stop_gradient={stop_gradient},\n{' ' * _INDENT}{elements_text(np.asarray(array), True)})"
    )


def elements_text(array: np.ndarray[Any, Any], signed: bool = False, indent: int = _INDENT) -> str:
    """The elements of an array, whole numbers written without digits behind the point.

    Args:
        array: the elements.
        signed: whether others make room for the sign of negative ones, and infinities have a point,
            as in paddle 2.
        indent: how many characters stand before it in its line.
    """
    options = _options.get()
    if is_bfloat16(array.dtype):
        array = array.astype("float32")
    if array.ndim == 0:
        return _number_text(array[()], options, signed)
    large = array.size > options.threshold
    shown = _ends(array, options.edgeitems) if large else array
    texts = [_number_text(v, options, signed) for v in shown.reshape(-1)]
    width = max(map(len, texts), default=0)
    room = signed and any(map(_is_negative, texts))
    return np.array2string(
        array,
        separator=", ",
        prefix=" " * indent,
        threshold=options.threshold,
        edgeitems=options.edgeitems,
        max_line_width=options.linewidth + max(0, array.ndim - 1),  # brackets do not count
        formatter={"all": lambda v: _in_column(_number_text(v, options, signed), width, room)},
    )


def _in_column(text: str, width: int, room: bool) -> str:
    """A number in a column, with a blank where others have a sign."""
    plain = room and not _is_negative(text) and len(text) < width
    return (" " + text if plain else text).ljust(width)


def _is_negative(text: str) -> bool:
    """Whether a number, or the real part of a complex one, has a sign."""
    return text.lstrip("(")[0] == "-"


def _ends(array: Any, count: int) -> Any:
    for axis, n in enumerate(array.shape):
        if n > 2 * count:
            kept = [*range(count), *range(n - count, n)]
            array = np.take(array, kept, axis=axis)
    return array


def _number_text(value: Any, options: PrintOptions, pointed: bool = False) -> str:
    if not isinstance(value, (float, np.floating)):
        return str(complex(value) if pointed and np.iscomplexobj(value) else value)
    if not np.isfinite(value):
        return str(float(value)) + "." * (pointed and bool(np.isinf(value)))
    if options.sci_mode:
        return f"{value:.{options.precision}e}"
    if value == np.floor(value):
        return f"{value:.0f}."
    return f"{value:.{options.precision}f}"


def tensor_markup(name: str, array: Any, notes: Sequence[str]) -> str:
    """What a notebook shows of a tensor: what it is, a table of the elements of a vector or a
    matrix, the text of others; where it is large, the outer elements.

    Args:
        name: of its class.
        array: its value.
        notes: what else is said.
    """
    array, options = np.asarray(array), _options.get()
    about = ", ".join([f"{name} {array.dtype.name}{list(array.shape)}", *notes])
    if array.ndim not in (1, 2) or not array.size:
        return f"<div>{markup(about)}</div><pre>{markup(elements_text(array))}</pre>"
    rows = np.atleast_2d(array)
    places = [_outer(n, options) for n in rows.shape]
    cells = [
        ["\u2026" if None in (i, j) else _number_text(rows[i, j], options) for j in places[1]]
        for i in places[0]
    ]
    head = ["\u2026" if j is None else str(j) for j in places[1]]
    return f"<div>{markup(about)}</div>{table_markup(head, cells)}"


def _outer(count: int, options: PrintOptions) -> list[int | None]:
    """The numbers of a dimension's places, or of the outer ones with None between them."""
    ends = options.edgeitems
    if count <= max(2 * ends, _WIDE):
        return [*range(count)]
    return [*range(ends), None, *range(count - ends, count)]


_WIDE = 12  #: so many rows or columns are shown whole
