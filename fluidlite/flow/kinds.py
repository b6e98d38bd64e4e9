"""Element types, their limits, and shapes under OneFlow's names."""

from __future__ import annotations

from builtins import bool as Truth
from builtins import int as Whole
from math import prod
from typing import Any

import numpy as np

from ..ground.brain_float import limits_of
from ..ground.dtypes import DType, DTypeLike, as_dtype

__all__ = [
    "Size", "bfloat16", "bool", "convert_oneflow_dtype_to_numpy_dtype", "double", "dtype",
    "dtypes", "finfo", "float", "float16", "float32", "float64", "half", "iinfo", "int",
    "int8", "int32", "int64", "long", "uint8",
]  # fmt: skip

_Fraction = float


class Size(tuple[Whole, ...]):
    """The sizes of a tensor, or a part of them.

    >>> fluid.flow.ones(2, 3).shape, fluid.flow.Size([2, 3]).numel()
    (oneflow.Size([2, 3]), 6)
    """

    __slots__ = ()

    def numel(self) -> Whole:
        """The number of elements."""
        return prod(self)

    def __hash__(self) -> Whole:
        return tuple.__hash__(self)

    def __eq__(self, other: object) -> Truth:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> Truth:
        return not self == other

    def __add__(self, other: Any) -> Any:
        return Size((*self, *other)) if isinstance(other, (list, tuple)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return Size((*other, *self)) if isinstance(other, (list, tuple)) else NotImplemented

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __repr__(self) -> str:
        return f"oneflow.Size({list(self)})"


class dtype(int):
    """An element type: what ``fluidlite`` calls by the same number, under OneFlow's name.

    >>> fluid.flow.float32, fluid.flow.ones(2).dtype == fluid.flow.float
    (oneflow.float32, True)
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return DType(self).dtype

    @property
    def is_floating_point(self) -> Truth:
        """Whether values of this type are fractions."""
        return DType(self).is_float

    is_float = is_floating_point

    @property
    def is_signed(self) -> Truth:
        """Whether values of this type may be negative."""
        return self.dtype.kind in "ifc"

    @property
    def is_complex(self) -> Truth:
        """Whether values of this type are complex numbers."""
        return DType(self).is_complex

    @property
    def bytes(self) -> Whole:
        """How many bytes a value takes."""
        return self.dtype.itemsize

    def __bool__(self) -> Truth:
        return True

    def __repr__(self) -> str:
        return f"oneflow.{DType(self).plain}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> Any:
        return type(self), (Whole(self),)


def dtype_of(array: Any) -> DType:
    """The element type of an array under its name here.

    Args:
        array: what has a NumPy type.
    """
    kind: Any = _KINDS.get(array.dtype)
    if kind is None:  # bfloat16, if it is one at all
        kind = dtype(as_dtype(array.dtype))
    return kind


_KINDS: dict[Any, Any] = {kind.dtype: dtype(kind) for kind in DType if kind is not DType.BF16}
bool: DType = _KINDS[DType.BOOL.dtype]
float16: DType = _KINDS[DType.FP16.dtype]
float32: DType = _KINDS[DType.FP32.dtype]
float64: DType = _KINDS[DType.FP64.dtype]
int8: DType = _KINDS[DType.INT8.dtype]
int32: DType = _KINDS[DType.INT32.dtype]
int64: DType = _KINDS[DType.INT64.dtype]
uint8: DType = _KINDS[DType.UINT8.dtype]
bfloat16: Any = dtype(DType.BF16)
half: DType = float16
float: DType = float32
double: DType = float64
int: DType = int32
long: DType = int64


def dtypes() -> list[DType]:
    """The element types that there are.

    >>> fluid.flow.float32 in fluid.flow.dtypes()
    True
    """
    return [bool, float, float32, double, float64, float16, int8, int32, int64, uint8, bfloat16]


def convert_oneflow_dtype_to_numpy_dtype(oneflow_dtype: DTypeLike) -> type[np.generic]:
    """The NumPy type of an element type.

    >>> fluid.flow.convert_oneflow_dtype_to_numpy_dtype(fluid.flow.int8)
    <class 'numpy.int8'>
    """
    return as_dtype(oneflow_dtype).dtype.type


class _Limits:
    """The limits of an element type: attributes of NumPy's object, and the type."""

    _shown: tuple[str, ...]

    def __init__(self, type: DTypeLike, limits: Any) -> None:
        self._limits = limits
        self.dtype: Any = dtype(as_dtype(type))

    def __getattr__(self, name: str) -> Any:
        if name not in self._shown:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        value = getattr(self._limits, name)
        return value.item() if isinstance(value, np.generic) else value

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in self._shown if name != "bits"}
        said = [
            f"{n}={v:.6g}" if isinstance(v, _Fraction) else f"{n}={v}" for n, v in parts.items()
        ]
        return f"{type(self).__name__}({', '.join(said)}, dtype={self.dtype}, bits={self.bits})"


class finfo(_Limits):
    """The limits of an element type of fractions: ``min``, ``max``, ``eps``, ``tiny``,
    ``resolution`` and ``bits``.

    Args:
        type: the element type.

    Raises:
        TypeError: it is none of fractions.

    >>> fluid.flow.finfo(fluid.flow.float32).eps
    1.1920928955078125e-07
    """

    _shown = ("resolution", "min", "max", "eps", "tiny", "bits")

    def __init__(self, type: DTypeLike = None) -> None:
        kind = float32 if type is None else type
        if not as_dtype(kind).is_float:
            raise TypeError(f"expected an element type of fractions, got {type}; use iinfo")
        super().__init__(kind, limits_of(as_dtype(kind).dtype))


class iinfo(_Limits):
    """The limits of an element type of integers: ``min``, ``max`` and ``bits``.

    Args:
        type: the element type.

    Raises:
        TypeError: it is none of integers.

    >>> fluid.flow.iinfo(fluid.flow.int8).max
    127
    """

    _shown = ("min", "max", "bits")

    def __init__(self, type: DTypeLike) -> None:
        if as_dtype(type).dtype.kind not in "iu":
            raise TypeError(f"expected an element type of integers, got {type}; use finfo")
        super().__init__(type, np.iinfo(as_dtype(type).dtype))
