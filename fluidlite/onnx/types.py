"""The element types that ONNX and fluidlite share, and ONNX's numbers for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError

#: name of an element type -> its number in ONNX
TENSOR_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
}
#: numbers of types that programs here have no variables of
_ELSEWHERE = {
    4: "uint16",
    8: "string",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
}
_NUMPY = {
    number: np.dtype(name) for name, number in TENSOR_TYPES.items() if number not in _ELSEWHERE
}


def name_of(number: int) -> str:
    """The name of an element type that programs have no variables of."""
    return _ELSEWHERE.get(number, f"number {number}")


def tensor_type(dtype: Any) -> int:
    """The number that ONNX gives an element type.

    Raises:
        UnsupportedError: it has none.
    """
    name = np.dtype(dtype).name
    if name not in TENSOR_TYPES:
        raise UnsupportedError(f"the element type {name} has no form in ONNX")
    return TENSOR_TYPES[name]


def numpy_type(number: int) -> np.dtype[Any]:
    """The element type that a number of ONNX means.

    Raises:
        UnsupportedError: variables of programs have no such type.
    """
    found = _NUMPY.get(number)
    if found is None:
        raise UnsupportedError(f"variables here have no element type {name_of(number)}")
    return found
