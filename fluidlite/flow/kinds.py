"""Element types and shapes under OneFlow's names."""

from __future__ import annotations

from ..functions.creation import bool_, float16, float32, float64, int8, int32, int64, uint8
from ..functions.sizes import TensorShape as Size
from ..ground.dtypes import DType

__all__ = [
    "Size", "bool", "double", "float", "float16", "float32", "float64", "half", "int", "int8",
    "int32", "int64", "long", "uint8",
]  # fmt: skip

bool: DType = bool_
half: DType = float16
float: DType = float32
double: DType = float64
int: DType = int32
long: DType = int64
