"""Element types, places and precisions, with the numbers that both spellings give them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from ..errors import DTypeError

__all__ = ["PaddleDType", "PaddlePlace", "Precision"]


class _Named(IntEnum):
    """A number that is shown by its name."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class PaddleDType(_Named):
    """The element type of an input or an output."""

    FLOAT64 = 7
    FLOAT32 = 0
    FLOAT16 = 5
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    BOOL = 6

    @classmethod
    def of(cls, dtype: np.dtype[Any] | None) -> PaddleDType:
        """That of an array; ``FLOAT32`` if there is none.

        Raises:
            DTypeError: there is no such type.
        """
        name = "FLOAT32" if dtype is None else dtype.name.upper()
        if name not in cls.__members__:
            raise DTypeError(f"predictors give no {dtype}; cast it in the model")
        return cls[name]


class PaddlePlace(_Named):
    """What a predictor runs on."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class Precision(_Named):
    """How precisely a predictor computes."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3
