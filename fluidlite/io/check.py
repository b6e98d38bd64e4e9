"""Whether a value from a file is what a program declares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError, FileFormatError
from ..ground.dtypes import Kind, as_dtype
from ..ground.values import LoDTensor, SelectedRows
from ..ir.variable import Variable

_FILES_OF_ANOTHER = "load files that were saved from the same network, or change the network"


def holds_rows(variable: Variable | None) -> bool:
    """Whether a variable is declared to hold SelectedRows."""
    return variable is not None and variable.kind is Kind.SELECTED_ROWS


def described(value: Any) -> str:
    """A value in a few words: ``float32[2, 3]``."""
    if isinstance(value, SelectedRows):
        return f"{len(value.numbers)} rows of {value.dtype}{list(value.shape)}"
    if isinstance(value, LoDTensor):
        return f"{described(value.data)} with LoD {short(value.lod())}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__


def short(value: Any) -> str:
    """The text of a value, cut where it is long."""
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def mismatch(variable: Variable | None, value: Any) -> str:
    """In what a value differs from what is declared; nothing when it fits.

    Args:
        variable: None where nothing is declared.
        value: an array, a LoDTensor or SelectedRows.
    """
    if variable is None:
        return ""
    data = value
    if isinstance(value, LoDTensor):
        data = value.data
    elif isinstance(value, SelectedRows):
        data = value.value
    try:
        same = not variable.has_dtype or as_dtype(data.dtype) is variable.dtype
    except DTypeError:
        same = False
    shape, declared = data.shape, variable.shape
    if variable.has_shape and isinstance(value, SelectedRows):
        shape, declared = shape[1:], declared[1:]  # how many rows there are is not declared
    fits = not variable.has_shape or (
        len(shape) == len(declared) and all(d in (-1, n) for n, d in zip(shape, declared))
    )
    if same and fits:
        return ""
    wanted = variable.dtype if variable.has_dtype else data.dtype
    sizes = list(variable.shape) if variable.has_shape else "[?]"
    return f"expected {wanted}{sizes}, as the program declares it, found {described(value)}"


def check_value(variable: Variable | None, value: Any, name: str, where: str) -> None:
    """Refuse a value that is not what is declared.

    Args:
        variable: what is declared; None where nothing is.
        value: what a file holds.
        name: the variable's name.
        where: the file, and the place in it.

    Raises:
        FileFormatError: it does not fit; says both.
    """
    wrong = mismatch(variable, value)
    if wrong:
        raise FileFormatError(f"{where}: variable {name!r}: {wrong}; {_FILES_OF_ANOTHER}")


def as_float16(value: Any) -> Any:
    """A value with float16 in place of wider floats."""
    if isinstance(value, LoDTensor):
        return LoDTensor(as_float16(value.data), value.offsets)
    if isinstance(value, SelectedRows):
        return value.with_value(as_float16(value.value))
    return value.astype("float16") if value.dtype.kind == "f" else value
