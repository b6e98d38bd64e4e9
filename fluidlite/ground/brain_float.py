"""The element type bfloat16, which NumPy has of the package ml_dtypes."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from ..errors import DTypeError

NAME = "bfloat16"


@functools.cache
def bfloat16() -> np.dtype[Any]:
    """NumPy's type.

    Raises:
        DTypeError: ml_dtypes is not installed.
    """
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError(
            f"{NAME} needs the package ml_dtypes, which NumPy has it from: "
            "python -m pip install 'fluidlite[bfloat16]'"
        ) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def has_bfloat16() -> bool:
    """Whether ml_dtypes is installed."""
    try:
        return bfloat16() is not None
    except DTypeError:
        return False


def of_bits(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers of bfloat16 from their bits; as float32, which has room for them, where NumPy has no
    such type.

    Args:
        bits: of uint16.
    """
    try:
        return bits.view(bfloat16())
    except DTypeError:
        return (bits.astype("uint32") << 16).view("float32")


def is_bfloat16(dtype: Any) -> bool:
    """Whether NumPy's element type is bfloat16; where ml_dtypes is not in use none is."""
    return "ml_dtypes" in sys.modules and dtype == bfloat16()


def is_half(dtype: Any) -> bool:
    """Whether NumPy's element type is one of fractions of 16 bits."""
    return bool(dtype == np.float16) or is_bfloat16(dtype)


def limits_of(dtype: np.dtype[Any]) -> Any:
    """What numbers of an element type of fractions can be."""
    if is_bfloat16(dtype):
        return sys.modules["ml_dtypes"].finfo(dtype)
    return np.finfo(dtype)


def kind_of(dtype: np.dtype[Any]) -> str:
    """The kind of an element type as NumPy has it; that of bfloat16 is f, as of other fractions."""
    return "f" if dtype.kind == "V" and is_bfloat16(dtype) else dtype.kind
