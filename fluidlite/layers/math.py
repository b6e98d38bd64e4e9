"""Products of matrices, sums of variables, scaling, clipping, and other element types."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..ground.dtypes import as_dtype
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped
from .operator_layers import Layer, LayerCall, operator_layer, same_shape
from .sizes import number

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike

Bound = float | Variable | None


mul: Layer = operator_layer("""
    mul(x, y, x_num_col_dims, y_num_col_dims, name)

    Raises:
        ShapeError: ``x`` has not as many columns as ``y`` has rows.

    >>> x, y = fluid.data("x", [None, 5, 6]), fluid.data("y", [6, 7])
    >>> fluid.layers.mul(x, y, x_num_col_dims=2).shape
    (-1, 5, 7)
""")
matmul: Layer = operator_layer("""
    matmul(x, y, transpose_x, transpose_y, alpha, name)

    Raises:
        ShapeError: ``x`` has not as many columns as ``y`` has rows.

    >>> x, y = fluid.data("x", [8, 2, 3]), fluid.data("y", [8, 5, 3])
    >>> fluid.layers.matmul(x, y, transpose_y=True).shape
    (8, 2, 5)
""")
scale: Layer = same_shape("""
    scale(x, scale: scale | ScaleTensor, bias, bias_after_scale, act, name)

    >>> fluid.layers.scale(fluid.data("x", [None, 4]), scale=2.0, bias=1.0).shape
    (-1, 4)
""")
sum: Layer = operator_layer("""
    sum(x)

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.sum([x, y]).shape
    (-1, 4)
""")
sums: Layer = operator_layer(
    """
    sums(input: X, out) -> sum

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.sums([x, y], out=x) is x
    True
    """,
    stem="sum",
)


@layer
def cast(f: LayerBuilder, x: Variable, dtype: DTypeLike) -> Variable:
    """``x`` in another element type; as bool, whether it is not 0.

    Args:
        x: a variable.
        dtype: the element type.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.cast(fluid.data("x", [None, 4]), "int64").dtype
    VarType.INT64
    """
    return f.cast(x, in_dtype=x.dtype, out_dtype=as_dtype(dtype))


@layer
def clip(
    f: LayerBuilder,
    x: Variable,
    min: float | Variable,
    max: float | Variable,
    name: str | None = None,
) -> Variable:
    """``x`` where it lies within bounds, else the bound, for each element.

    Args:
        x: a variable of numbers.
        min, max: the bounds: numbers, or variables of one element.
        name: of the result.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ArgumentError: ``min`` is above ``max``, or one is missing.

    >>> fluid.layers.clip(fluid.data("x", [None, 4]), min=-1.0, max=1.0).shape
    (-1, 4)
    """
    if min is None or max is None:
        raise ArgumentError(
            f"expected min and max, got min={min} and max={max}; layers.clamp takes one alone"
        )
    return _clipped(f, x, min, max, f.named_result())


def _clipped(f: LayerBuilder, x: Variable, low: Bound, high: Bound, out: Variable) -> Variable:
    """``x`` within bounds, of which those that variables give are inputs of the operator."""
    ins, attrs = {"X": x}, {"min": -math.inf, "max": math.inf}
    for (attr, slot), bound in zip({"min": "Min", "max": "Max"}.items(), (low, high)):
        if is_variable(bound):
            ins[slot] = stopped(bound)
        elif bound is not None:
            attrs[attr] = number(bound, attr)
    if attrs["min"] > attrs["max"]:
        raise ArgumentError(
            f"expected min to be at most max, got min={attrs['min']} and max={attrs['max']}"
        )
    f.into("clip", ins, {"Out": out}, **attrs)
    return out


@operator_layer.signature(
    """
    clamp(input: X, min: float | Variable | None, max: float | Variable | None, output,
        name) -> clip
    """,
    stem="clamp",
)
def clamp(f: LayerBuilder, call: LayerCall) -> Variable:
    """``input`` where it lies within bounds, else the bound, for each element.

    Args:
        input: a variable of numbers.
        min, max: the bounds: numbers, or variables of one element; None for none.
        output: the variable to write to; a new one when None.

    Returns:
        A variable of the shape of ``input``.

    Raises:
        ArgumentError: ``min`` is above ``max``, or there is no bound.

    >>> fluid.layers.clamp(fluid.data("x", [None, 4]), min=0.0).shape
    (-1, 4)
    """
    if call.min is None and call.max is None:
        raise ArgumentError("expected min or max, got neither")
    return _clipped(f, call.input, call.min, call.max, f.result(call.output))


clip_by_norm: Layer = same_shape(
    """
    clip_by_norm(x, max_norm, name)

    >>> fluid.layers.clip_by_norm(fluid.data("x", [None, 4]), max_norm=1.0).shape
    (-1, 4)
    """,
    is_named=True,
)
