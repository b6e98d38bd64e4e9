"""Tensors as OneFlow writes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..eager.printing import options_said
from ..ground import state
from ..ground.spellings import Spelling

Array = np.ndarray[Any, Any]
_BEGIN = "tensor("
_LARGE, _RATIO, _SMALL = 1e8, 1e3, 1e-4  #: numbers, and quotients of them, that take exponents


@dataclass(frozen=True)
class _Options:
    """How tensors are written."""

    precision: int = 4  #: digits behind the point
    threshold: float = 1000  #: elements from which on only the outer ones are shown
    edgeitems: int = 3  #: how many of them at each end
    linewidth: int = 80
    sci_mode: bool | None = None  #: write numbers with exponents; None as they need it


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
_options: state.StateSlot[_Options] = state.slot("flow_printing", _Options)


def _write_so(said: dict[str, Any], profile: str | None = None) -> None:
    """Have tensors written so.

    Args:
        said: options by name.
        profile: "default", "short" or "full": what the others begin with.
    """
    begin = _options.get() if profile is None else _PROFILES[profile]
    _options.switch(replace(begin, **{"sci_mode": None, **said}))


set_printoptions: Callable[..., None] = Spelling({})(
    options_said,
    "set_printoptions",
    """Say how tensors are written; what is None stays as it is, but ``sci_mode``: exponents as
    numbers need them.

    >>> fluid.flow.set_printoptions(precision=2)
    >>> fluid.flow.tensor([1.5, 2.0])
    tensor([1.50, 2.00], dtype=oneflow.float32)
    >>> fluid.flow.set_printoptions(profile="default")
    """,
    order="precision, threshold, edgeitems, linewidth, profile, sci_mode",
    then=_write_so,
)


def tensor_text(array: Array, notes: list[str]) -> str:
    """A tensor in words: elements, and notes behind them.

    Args:
        array: its value.
        notes: what else is said.
    """
    options = _options.get()
    if not array.size:
        text = "[]"
        notes = [f"size={tuple(array.shape)}", *notes] if array.ndim != 1 else notes
    else:
        large = array.size > options.threshold
        shown = _ends(array, options.edgeitems) if large else array
        write, width = _writer(shown.reshape(-1), options)
        text = _lines(array, len(_BEGIN), write, width, large, options)
    parts = [_BEGIN + text]
    room = len(parts[0]) - parts[0].rfind("\n") + 1  # the last line, and what is about it
    for note in notes:
        if room + len(note) + 2 > options.linewidth:
            parts.append(",\n" + " " * len(_BEGIN) + note)
            room = len(_BEGIN) + len(note)
        else:
            parts.append(", " + note)
            room += len(note) + 2
    return "".join(parts) + ")"


def _ends(array: Array, count: int) -> Array:
    """The elements that are shown of a large array."""
    for axis, size in enumerate(array.shape):
        if size > 2 * count:
            array = np.take(array, [*range(count), *range(size - count, size)], axis)
    return array


def _writer(values: Array, options: _Options) -> tuple[Callable[[Any], str], int]:
    """What writes an element, and how many characters all take."""
    if values.dtype.kind != "f":
        return str, max(len(str(value)) for value in values)
    nonzero = values[values != 0].astype("float64")
    if not nonzero.size:
        return lambda value: f"{value:.0f}.", 1
    sizes = np.abs(nonzero[~np.isnan(nonzero)])
    high, low = (float(sizes.max()), float(sizes.min())) if sizes.size else (1.0, 1.0)
    whole = bool((nonzero == np.ceil(nonzero)).all())
    exponents = high > _LARGE or high > low * _RATIO or (not whole and low < _SMALL)
    if options.sci_mode if options.sci_mode is not None else exponents:
        form = f"{{:.{options.precision}e}}"
    else:
        form = "{:.0f}" if whole else f"{{:.{options.precision}f}}"
    point = "." if form == "{:.0f}" else ""

    def write(value: Any) -> str:
        return form.format(float(value)) + (point if math.isfinite(value) else "")

    return write, max(len(write(value)) for value in nonzero)


def _lines(
    array: Array,
    indent: int,
    write: Callable[[Any], str],
    width: int,
    large: bool,
    options: _Options,
) -> str:
    """The elements of an array in brackets."""
    if not array.ndim:
        return write(array.item() if array.dtype.kind != "f" else array[()])
    ends, gap = options.edgeitems, large and len(array) > 2 * options.edgeitems
    rows = [*array[:ends], None, *array[-ends:]] if gap else [*array]
    if array.ndim == 1:
        written = [" ..." if value is None else write(value).rjust(width) for value in rows]
        count = max(1, (options.linewidth - indent) // (width + 2))
        lines = [", ".join(written[k : k + count]) for k in range(0, len(written), count)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    texts = [
        "..." if row is None else _lines(row, indent + 1, write, width, large, options)
        for row in rows
    ]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def operator_name(node: Any) -> str:
    """What OneFlow calls the operator of a node."""
    type, forms = node.type, getattr(node.how, "ins", ())
    if type not in _OF_TWO or len(forms) != 2:
        return _NAMES.get(type, type)
    of_number, alike, spread = _OF_TWO[type]
    shapes = [tuple(form.shape) for form in forms]
    numbers = [edge is None and not shape for edge, shape in zip(node.edges or (), shapes)]
    if any(numbers):
        return "scalar_mul" if of_number == "scalar_div" and numbers[0] else of_number
    return alike if shapes[0] == shapes[1] else spread


#: operators of two operands -> what OneFlow calls them with a number, of one shape, of several
_OF_TWO = {
    "elementwise_add": ("scalar_add", "add_n", "broadcast_add"),
    "elementwise_sub": ("scalar_add", "broadcast_sub", "broadcast_sub"),
    "elementwise_mul": ("scalar_mul", "broadcast_mul", "broadcast_mul"),
    "elementwise_div": ("scalar_div", "broadcast_div", "broadcast_div"),
    "elementwise_pow": ("scalar_pow", "pow", "broadcast_pow"),
    "matmul": ("matmul", "matmul", "matmul"),
}
#: other operators -> what OneFlow calls those that do it
_NAMES = {
    "amax": "reduce_max", "amin": "reduce_min", "argsort": "dim_gather", "assign": "copy",
    "batch_norm": "normalization", "clip": "clip_by_scalar", "expand": "view::expand",
    "frobenius_norm": "scalar_pow", "index_select": "gather", "lookup_table_v2": "gather",
    "pow": "scalar_pow", "reduce_mean": "scalar_mul", "reshape": "view::reshape",
    "scale": "negative", "split": "view::narrow", "swish": "silu", "take_along": "dim_gather",
    "take_item": "view::slice", "transpose": "view::transpose", "tril_triu": "tril",
}  # fmt: skip
