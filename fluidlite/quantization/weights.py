"""``paddle.static.quantization.utils``: weights as whole numbers and back, errors, the scope."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.program import Program
from ..opdef.whole_numbers import beside, largest
from ..scope import Scope
from .rounding import array_of, put


def quant_tensor(
    x: Any, scale: Any, quant_axis: int = 0, weight_bits: int = 8, onnx_format: bool = False
) -> Any:
    """Numbers in units of whole ones, as far as these go.

    Args:
        x: the numbers.
        scale: what the largest whole number stands for; one for each slice, or one for all.
        quant_axis: the dimension of slices.
        weight_bits: of whole numbers.
        onnx_format: whether they are rounded, and the least one has one more to it.

    >>> quantization = fluid.paddle.static.quantization
    >>> quantization.utils.quant_tensor(np.array([0.5, 3.0]), 1.0).tolist()
    [63.5, 127.0]
    """
    most = largest(weight_bits)
    parts = x / scale_beside(x, scale, quant_axis) * most
    if onnx_format:
        return np.clip(np.round(parts), -most - 1, most)
    return np.clip(parts, -most, most)


def dequant_tensor(x: Any, scale: Any, quant_axis: int = 0, weight_bits: int = 8) -> Any:
    """What whole numbers stand for.

    Args:
        x, scale, quant_axis, weight_bits: as of :func:`quant_tensor`.

    >>> quantization = fluid.paddle.static.quantization
    >>> quantization.utils.dequant_tensor(np.array([127.0]), 0.5).tolist()
    [0.5]
    """
    return x * scale_beside(x, scale, quant_axis) / largest(weight_bits)


def scale_beside(x: Any, scale: Any, axis: int) -> Any:
    """Scales beside numbers; 1 where there is nothing but zeros.

    Args:
        x: the numbers.
        scale: one for each slice, or one for all.
        axis: the dimension of slices.
    """
    scale = np.asarray(scale, x.dtype).reshape(-1)
    scale = np.where(scale == 0, 1, scale)
    return beside(np, scale, x, axis if scale.size > 1 else -1)


def bias_correction_w(
    x: Any, x_quant: Any, scale_v: Any, quant_axis: int, weight_bits: int = 8
) -> Any:
    """Whole numbers that stand for numbers of the mean and the spread of a weight.

    Args:
        x: the weight.
        x_quant: whole numbers in place of it.
        scale_v, quant_axis, weight_bits: as of :func:`quant_tensor`.
    """
    back = dequant_tensor(x_quant, scale_v, quant_axis, weight_bits)
    like = spread_like(back, x, quant_axis if np.size(scale_v) > 1 else -1)
    return quant_tensor(like, scale_v, quant_axis, weight_bits)


def spread_like(x: Any, like: Any, axis: int) -> Any:
    """Numbers moved and stretched to the mean and the spread of others, in each slice.

    Args:
        x: the numbers.
        like: the others.
        axis: the dimension of slices; -1 for none.
    """
    others = tuple(k for k in range(x.ndim) if k != axis)
    spread = like.std(axis=others, keepdims=True) / (x.std(axis=others, keepdims=True) + 1e-8)
    shift = like.mean(axis=others, keepdims=True) - x.mean(axis=others, keepdims=True)
    return (x + shift) * spread


def calculate_quant_cos_error(orig_tensor: Any, qdq_tensor: Any) -> Any:
    """The cosine of the angle between numbers and rounded ones."""
    product = np.sum(orig_tensor * qdq_tensor)
    return product / (np.linalg.norm(orig_tensor) * np.linalg.norm(qdq_tensor))


def l2_loss(gt: Any, pred: Any) -> Any:
    """The mean of squares of differences."""
    return np.mean((gt - pred) ** 2)


def stable_sigmoid(x: Any) -> Any:
    """The logistic function, without an overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def load_variable_data(scope: Scope, var_name: str) -> Any:
    """What a variable holds.

    Raises:
        UnknownVariableError: it is not in the scope.
    """
    return array_of(scope, var_name)


def set_variable_data(scope: Scope, place: Any, var_name: str, np_value: Any) -> None:
    """Have a variable hold an array.

    Args:
        scope: where it is.
        place: not read.
        var_name: its name.
        np_value: the array.
    """
    put(scope, var_name, np_value, np.asarray(np_value).dtype)


def move_persistable_var_to_global_block(program: Program) -> None:
    """Have the first block of a program declare the parameters of all."""
    first = program.global_block()
    for block in program.blocks[1:]:
        for name, variable in list(block.vars.items()):
            if variable.persistable and name not in first.vars:
                first._clone_variable(variable)
