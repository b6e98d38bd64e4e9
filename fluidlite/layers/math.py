"""Products of matrices, sums of variables, scaling, clipping, and other element types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..ground.dtypes import as_dtype
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped, variables_of
from .sizes import number

Bound = float | Variable | None


@layer
def mul(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    x_num_col_dims: int = 1,
    y_num_col_dims: int = 1,
    name: str | None = None,
) -> Variable:
    """The product of the matrices that ``x`` and ``y`` are flattened to.

    Args:
        x, y: float variables.
        x_num_col_dims: so many first dimensions of ``x`` are its rows, the others its columns.
        y_num_col_dims: the same for ``y``.

    Returns:
        A variable of the row sizes of ``x``, then the column sizes of ``y``.

    Raises:
        ShapeError: ``x`` has not as many columns as ``y`` has rows.

    >>> x, y = fluid.data("x", [None, 5, 6]), fluid.data("y", [6, 7])
    >>> fluid.layers.mul(x, y, x_num_col_dims=2).shape
    (-1, 5, 7)
    """
    return f.mul(x, y, x_num_col_dims=x_num_col_dims, y_num_col_dims=y_num_col_dims)


@layer
def matmul(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    transpose_x: bool = False,
    transpose_y: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> Variable:
    """``alpha`` times the product of the matrices in the last two dimensions of ``x`` and ``y``.

    Args:
        x, y: float variables; a vector ``x`` is a row, a vector ``y`` a column.  The dimensions
            before the last two are aligned at the end, and sizes of 1 stretch.
        transpose_x, transpose_y: swap the last two dimensions of ``x`` or ``y``.
        alpha: factor of the product.

    Returns:
        A variable with a product for each of the dimensions in front; of shape [1] for two
        vectors.

    Raises:
        ShapeError: ``x`` has not as many columns as ``y`` has rows.

    >>> x, y = fluid.data("x", [8, 2, 3]), fluid.data("y", [8, 5, 3])
    >>> fluid.layers.matmul(x, y, transpose_y=True).shape
    (8, 2, 5)
    """
    return f.matmul(x, y, transpose_X=transpose_x, transpose_Y=transpose_y, alpha=alpha)


@layer(act=True)
def scale(
    f: LayerBuilder,
    x: Variable,
    scale: float | Variable = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``scale * x + bias``, for each element.

    Args:
        x: a variable of numbers.
        scale: a number, or a variable of one element.
        bias: a number.
        bias_after_scale: False for ``scale * (x + bias)``.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.scale(fluid.data("x", [None, 4]), scale=2.0, bias=1.0).shape
    (-1, 4)
    """
    more = {"bias": bias, "bias_after_scale": bias_after_scale}
    if is_variable(scale):
        return f.scale(x, stopped(scale), **more)
    return f.scale(x, scale=scale, **more)


@layer
def sum(f: LayerBuilder, x: Variable | Sequence[Variable]) -> Variable:
    """The sum of variables, element by element.

    Args:
        x: a variable or a list of them, all of one shape.

    Returns:
        A variable of that shape.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.sum([x, y]).shape
    (-1, 4)
    """
    return f.sum(variables_of(x, "x"))


@layer("sum")
def sums(
    f: LayerBuilder, input: Variable | Sequence[Variable], out: Variable | None = None
) -> Variable:
    """The sum of variables, element by element, in a variable that may be given.

    Args:
        input: a variable or a list of them, all of one shape.

    Returns:
        ``out``, or the new variable.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.sums([x, y], out=x) is x
    True
    """
    out = f.result(out)
    f.into("sum", {"X": variables_of(input, "input")}, {"Out": out})
    return out


@layer
def cast(f: LayerBuilder, x: Variable, dtype: Any) -> Variable:
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


@layer
def clamp(
    f: LayerBuilder,
    input: Variable,
    min: Bound = None,
    max: Bound = None,
    output: Variable | None = None,
    name: str | None = None,
) -> Variable:
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
    if min is None and max is None:
        raise ArgumentError("expected min or max, got neither")
    return _clipped(f, input, min, max, f.result(output))


@layer
def clip_by_norm(
    f: LayerBuilder, x: Variable, max_norm: float, name: str | None = None
) -> Variable:
    """``x`` made shorter where it is longer than ``max_norm``.

    Args:
        x: a float variable; its length is the square root of the sum of its squared elements.
        max_norm: the length.
        name: of the result.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.clip_by_norm(fluid.data("x", [None, 4]), max_norm=1.0).shape
    (-1, 4)
    """
    out = f.named_result()
    f.into("clip_by_norm", {"X": x}, {"Out": out}, max_norm=float(max_norm))
    return out
