"""Element types and kinds of variables: name, NumPy type and wire number are one enumeration."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from ..errors import DTypeError, suggestion
from . import state
from .brain_float import bfloat16, is_bfloat16


class DType(IntEnum):
    """An element type.  Its value is the number in program files; ``numpy.dtype(member)`` works.

    >>> fluid.paddle.float32 == fluid.to_tensor([1.0]).dtype
    True
    """

    BOOL = 0
    INT16 = 1
    INT32 = 2
    INT64 = 3
    FP16 = 4
    FP32 = 5
    FP64 = 6
    UINT8 = 20
    INT8 = 21
    BF16 = 22
    COMPLEX64 = 23
    COMPLEX128 = 24

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type.

        Raises:
            DTypeError: it is bfloat16, and ml_dtypes is not installed.
        """
        return _NUMPY[self] if self is not DType.BF16 else bfloat16()

    @property
    def is_float(self) -> bool:
        """Whether values of this type are fractions."""
        return self in _FLOATS

    @property
    def is_complex(self) -> bool:
        """Whether values of this type are complex numbers."""
        return self in _PARTS

    @property
    def is_continuous(self) -> bool:
        """Whether values of this type can be differentiated: fractions and complex numbers."""
        return self in _FLOATS or self in _PARTS

    @property
    def part(self) -> DType:
        """The element type of the real part, which is the type itself where it is not complex."""
        return _PARTS.get(self, self)

    @property
    def whole(self) -> DType:
        """The complex type whose parts have this type; complex64 if there is none."""
        return _WHOLES.get(self, DType.COMPLEX64)

    @property
    def plain(self) -> str:
        """Its name as NumPy has it."""
        return _NAMES[self]

    def __str__(self) -> str:
        return f"paddle.{self.plain}" if state.as_paddle_2.get() else self.plain

    def __repr__(self) -> str:
        name = f"VarType.{self.name}"
        return f"<{name}: {self.value}>" if state.as_paddle_2.get() else name


class Kind(IntEnum):
    """What a variable holds.  Its value is the number in program files."""

    LOD_TENSOR = 7
    SELECTED_ROWS = 8
    FEED_MINIBATCH = 9
    FETCH_LIST = 10
    STEP_SCOPES = 11
    LOD_RANK_TABLE = 12
    LOD_TENSOR_ARRAY = 13
    PLACE_LIST = 14
    READER = 15
    RAW = 17
    TUPLE = 18

    def __repr__(self) -> str:
        return f"VarType.{self.name}"

    __str__ = __repr__


_NAMES = {
    DType.BOOL: "bool",
    DType.INT16: "int16",
    DType.INT32: "int32",
    DType.INT64: "int64",
    DType.FP16: "float16",
    DType.FP32: "float32",
    DType.FP64: "float64",
    DType.UINT8: "uint8",
    DType.INT8: "int8",
    DType.BF16: "bfloat16",
    DType.COMPLEX64: "complex64",
    DType.COMPLEX128: "complex128",
}
_NUMPY: dict[DType, np.dtype[Any]] = {
    member: np.dtype(name) for member, name in _NAMES.items() if member is not DType.BF16
}
_FLOATS = frozenset({DType.FP16, DType.BF16, DType.FP32, DType.FP64})
#: complex type -> that of its parts
_PARTS = {DType.COMPLEX64: DType.FP32, DType.COMPLEX128: DType.FP64}
_WHOLES = {part: whole for whole, part in _PARTS.items()}
_KNOWN: dict[Any, DType] = {}
for _member, _numpy in _NUMPY.items():
    _KNOWN.update({_numpy: _member, _numpy.name: _member, _numpy.type: _member, _member: _member})
_KNOWN.update({DType.BF16: DType.BF16, "bfloat16": DType.BF16})
_KNOWN.update({bool: DType.BOOL, int: DType.INT64, float: DType.FP64, complex: DType.COMPLEX128})


#: an element type, or its name; None for the one that there is by default
DTypeLike = None | str | type | DType | np.dtype[Any]


def as_dtype(value: Any) -> DType:
    """The element type that ``value`` means.

    Args:
        value: a member, its wire number, a NumPy type or its name, or ``bool``, ``int``, ``float``,
            ``complex``.

    Raises:
        DTypeError: nothing of the kind.

    >>> as_dtype("float32")
    VarType.FP32
    >>> as_dtype(3)
    VarType.INT64
    """
    try:
        return _KNOWN[value]
    except (KeyError, TypeError):
        pass
    try:
        numpy = np.dtype(value)
        return DType.BF16 if is_bfloat16(numpy) else _KNOWN[numpy]
    except (KeyError, TypeError):
        raise unknown_dtype(value) from None


def unknown_dtype(value: Any) -> DTypeError:
    """The error that lists the element types there are."""
    names = [member.plain for member in DType]
    return DTypeError(
        f"expected an element type, one of {', '.join(names)}; got {value!r}"
        + (suggestion(value, names) if isinstance(value, str) else "")
    )
