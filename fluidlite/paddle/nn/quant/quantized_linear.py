"""Weights as whole numbers of 8 or 4 bits, and linear maps of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....errors import ArgumentError, ShapeError
from ....functions.arguments import DTypeLike
from ....functions.arithmetic import matmul
from ....functions.creation import to_tensor
from ....functions.elementary import cast
from ....ground.docstrings import Family
from ....ground.dtypes import as_dtype
from ....ground.public_names import list_public_names

_BITS = {"weight_only_int8": 8, "weight_only_int4": 4, "llm.int8": 8}
_WEIGHTS = Family(
    {
        "algo": "weight_only_int8, weight_only_int4 or llm.int8.",
        "arch": "accepted: numbers lie in one order for all devices.",
        "weight": "whole numbers of 8 bits, [out, in]; [out / 2, in] where they have 4 bits.",
        "bias": "[out].",
        "weight_scale": "what 1 stands for, [out].",
    }
)


def _bits(name: str, algo: str, known: dict[str, int]) -> int:
    if algo not in known:
        raise ArgumentError(f"expected {name} to be one of {', '.join(known)}, got {algo!r:.60}")
    return known[algo]


@_WEIGHTS
def weight_quantize(
    x: Tensor, algo: str = "weight_only_int8", arch: int | None = None
) -> tuple[Tensor, Tensor]:
    """The weight of a linear map as whole numbers, and what 1 stands for in each column.

    Args:
        x: [in, out].

    Raises:
        ShapeError: it is no matrix, or has an odd number of columns for 4 bits.

    >>> from fluidlite import paddle
    >>> whole, scale = paddle.nn.quant.weight_quantize(
    ...     paddle.to_tensor([[127.0, 2.0], [3.0, 254.0]])
    ... )
    >>> whole.tolist(), scale.tolist()
    ([[127, 3], [1, 127]], [1.0, 2.0])
    """
    bits = _bits("algo", algo, _BITS)
    if len(x.shape) != 2 or (bits == 4 and x.shape[1] % 2):
        even = ", out even for 4 bits" if bits == 4 else ""
        raise ShapeError(f"expected x to be [in, out]{even}; got shape {list(x.shape)}")
    most = 2 ** (bits - 1) - 1
    columns = x.array.T.astype(np.float32)
    scale = np.abs(columns).max(1, initial=0) / np.float32(most)
    whole = np.rint(columns / np.where(scale > 0, scale, 1)[:, None]).clip(-most - 1, most)
    return to_tensor(_packed(whole.astype(np.int8), bits)), to_tensor(scale.astype(x.array.dtype))


def _packed(whole: np.ndarray, bits: int) -> np.ndarray:
    """Pairs of rows in one, the first in the lower half, where numbers have 4 bits."""
    if bits == 8:
        return whole
    low, high = whole[0::2] & 15, whole[1::2] & 15
    return (low | (high << 4)).astype(np.int8)


def _unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    """What :func:`_packed` was given."""
    if bits == 8:
        return packed
    halves = np.stack([(packed << 4).astype(np.int8) >> 4, packed >> 4], 1)
    return halves.reshape(-1, packed.shape[1])


@_WEIGHTS
def weight_dequantize(
    x: Tensor, scale: Tensor, algo: str = "weight_only_int8", out_dtype: DTypeLike = "float16"
) -> Tensor:
    """What the whole numbers of a weight stand for, [in, out].

    Args:
        x: whole numbers, [out, in]; [out / 2, in] where they have 4 bits.
        scale: what 1 stands for, [out].
        out_dtype: the element type.

    >>> from fluidlite import paddle
    >>> weight = paddle.to_tensor([[127.0, 2.0], [3.0, 254.0]])
    >>> whole, scale = paddle.nn.quant.weight_quantize(weight)
    >>> back = paddle.nn.quant.weight_dequantize(whole, scale, out_dtype="float32")
    >>> back.tolist()
    [[127.0, 2.0], [3.0, 254.0]]
    """
    rows = _unpacked(_need_int8(x), _bits("algo", algo, _BITS))
    if list(scale.shape) != [len(rows)]:
        raise ShapeError(f"expected scale to be [{len(rows)}], got shape {list(scale.shape)}")
    whole = rows.astype(np.float32) * scale.array.astype(np.float32)[:, None]
    return to_tensor(whole.T.astype(as_dtype(out_dtype).dtype))


def _need_int8(x: Tensor) -> np.ndarray:
    numbers: np.ndarray = x.array
    if numbers.dtype != np.int8 or numbers.ndim != 2:
        raise ArgumentError(
            f"expected numbers of int8, [out, in]; got {numbers.dtype} of shape {list(x.shape)}"
        )
    return numbers


def _linear(x: Tensor, weight: Tensor, bias: Any) -> Tensor:
    out = matmul(x, cast(weight, x.dtype))
    return out if bias is None else out + bias


@_WEIGHTS
def weight_only_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
) -> Tensor:
    """A linear map whose weight is held in whole numbers.

    Args:
        x: [..., in].
        weight_dtype: int8 or int4.

    Raises:
        ArgumentError: there is no scale, or the weight is no such numbers.

    >>> from fluidlite import paddle
    >>> whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[127.0, 254.0]]))
    >>> x = paddle.ones([1, 1])
    >>> paddle.nn.quant.weight_only_linear(x, whole, weight_scale=scale).tolist()
    [[127.0, 254.0]]
    """
    bits = _bits("weight_dtype", weight_dtype, {"int8": 8, "int4": 4})
    if weight_scale is None:
        raise ArgumentError("expected weight_scale, got None")
    kind = "weight_only_int8" if bits == 8 else "weight_only_int4"
    return _linear(x, weight_dequantize(weight, weight_scale, kind, "float32"), bias)


@_WEIGHTS
def llm_int8_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    threshold: float = 6.0,
) -> Tensor:
    """A linear map in whole numbers, but for columns of inputs with a number above a threshold.

    Each row of the other columns is rounded to 8 bits with a scale of its own (LLM.int8, Dettmers
    et al., 2022).

    Args:
        x: [..., in].
        threshold: what is not above it is rounded.

    Raises:
        ArgumentError: there is no scale, or the weight is no such numbers.

    >>> from fluidlite import paddle
    >>> whole, scale = paddle.nn.quant.weight_quantize(
    ...     paddle.to_tensor([[127.0, 254.0]]), "llm.int8"
    ... )
    >>> x = paddle.ones([1, 1])
    >>> paddle.nn.quant.llm_int8_linear(x, whole, weight_scale=scale).tolist()
    [[127.0, 254.0]]
    """
    if weight_scale is None:
        raise ArgumentError("expected weight_scale, got None")
    numbers = _need_int8(weight).astype(np.float32)
    values = x.array.astype(np.float32)
    if values.shape[-1] != numbers.shape[1]:
        raise ShapeError(f"expected x to be [..., {numbers.shape[1]}], got shape {list(x.shape)}")
    far = (np.abs(values).reshape(-1, values.shape[-1]) > threshold).any(0)
    near = np.where(far, 0, values)
    scale = np.abs(near).max(-1, keepdims=True, initial=0) / np.float32(127)
    whole = np.rint(near / np.where(scale > 0, scale, 1))
    product = (whole @ numbers.T) * scale + np.where(far, values, 0) @ numbers.T
    out = to_tensor((product * weight_scale.array.astype(np.float32)).astype(x.array.dtype))
    return out if bias is None else out + bias


list_public_names(globals())
