"""Numbers of 8 bits in place of floats, as saved models for MKL-DNN hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AttributeValueError, DTypeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import attr
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float


class Scaled(Op, abstract=True):
    """An operator between floats and integers of 8 bits."""

    signature = "Input -> Output"
    grad = None


class quantize(Scaled):
    """Output = Input * Scale, rounded to the nearest integer of 8 bits, ties to even.

    Input: floats.
    Scale: a factor.
    is_negative_input: the integers have a sign.
    output_format: accepted; the order of dimensions stays.
    """

    is_negative_input: bool = False
    Scale: float = 1.0
    output_format: str = attr("NHWC", inert=True)

    def infer(self, Input: Spec) -> Specs:
        need_float(Input=Input)
        return Input.with_dtype(DType.INT8 if self.is_negative_input else DType.UINT8)

    def run(self, xp: Any, Input: Array) -> Array:
        return _rounded(xp, Input * self.Scale, np.int8 if self.is_negative_input else np.uint8)


class dequantize(Scaled):
    """Output = Input / Scale, float32.

    Input: integers of 8 bits.
    Scale: what they were multiplied by.
    """

    Scale: float = 1.0

    def infer(self, Input: Spec) -> Specs:
        _need_8_bits(Input)
        if not self.Scale:
            raise AttributeValueError("expected Scale other than 0")
        return Input.with_dtype(DType.FP32)

    def run(self, xp: Any, Input: Array) -> Array:
        return Input.astype(np.float32) / np.float32(self.Scale)


class requantize(Scaled):
    """Output = Input * Scale_out / Scale_in, rounded to the nearest integer of 8 bits.

    Input: integers of 8 bits.
    Scale_in: what they were multiplied by.
    Scale_out: what they shall be multiplied by.
    """

    Scale_in: float = 1.0
    Scale_out: float = 1.0

    def infer(self, Input: Spec) -> Specs:
        _need_8_bits(Input)
        if not self.Scale_in:
            raise AttributeValueError("expected Scale_in other than 0")
        return Input

    def run(self, xp: Any, Input: Array) -> Array:
        factor = np.float32(self.Scale_out) / np.float32(self.Scale_in)
        return _rounded(xp, Input.astype(np.float32) * factor, Input.dtype)


def _rounded(xp, x, dtype):
    """The nearest integers, ties to even, kept within the element type."""
    bounds = np.iinfo(dtype)
    return xp.clip(xp.rint(x), bounds.min, bounds.max).astype(dtype)


def _need_8_bits(Input):
    if Input.dtype not in (DType.INT8, DType.UINT8):
        raise DTypeError(f"expected Input to hold int8 or uint8, got {Input.dtype}")
