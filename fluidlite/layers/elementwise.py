"""Sums, differences, products, quotients and the like of pairs of elements."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, layer

_EXAMPLE = """
>>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
>>> fluid.layers.{name}(x, y, axis=1).shape
(2, 3, 4)
"""
_PAIRS = LAYERS.extended(
    {
        "x": "a variable of numbers.",
        "y": "of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, "
        "and its sizes equal those of ``x`` or are 1.",
        "axis": "where ``y`` begins in ``x``; -1 for the place where both end together.",
    },
    returns="A variable of the shape of ``x``.",
    example=_EXAMPLE,
)
_INTEGERS = _PAIRS.extended({}, example=_EXAMPLE.replace("])", '], "int64")'))


@layer(act=True, family=_PAIRS)
def elementwise_add(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x + y``, for each element."""
    return f.elementwise_add(x, y, axis=axis)


@layer(act=True, family=_PAIRS)
def elementwise_sub(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x - y``, for each element."""
    return f.elementwise_sub(x, y, axis=axis)


@layer(act=True, family=_PAIRS)
def elementwise_mul(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x * y``, for each element."""
    return f.elementwise_mul(x, y, axis=axis)


@layer(act=True, family=_PAIRS)
def elementwise_div(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x / y``, for each element."""
    return f.elementwise_div(x, y, axis=axis)


@layer(act=True, family=_PAIRS)
def elementwise_max(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The larger of ``x`` and ``y``, for each element."""
    return f.elementwise_max(x, y, axis=axis)


@layer(act=True, family=_PAIRS)
def elementwise_min(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The smaller of ``x`` and ``y``, for each element."""
    return f.elementwise_min(x, y, axis=axis)


@layer(act=True, family=_PAIRS)
def elementwise_pow(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x`` to the power of ``y``, for each element."""
    return f.elementwise_pow(x, y, axis=axis)


@layer(act=True, family=_INTEGERS)
def elementwise_mod(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The remainder of ``x / y``, for each element.

    It has the sign of ``x`` for integers and that of ``y`` for floats.
    """
    return f.elementwise_mod(x, y, axis=axis)


@layer(act=True, family=_INTEGERS)
def elementwise_floordiv(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x / y`` rounded towards 0, for each element.

    Args:
        x: a variable of integers.
    """
    return f.elementwise_floordiv(x, y, axis=axis)


@layer
def addcmul(
    f: LayerBuilder,
    input: Variable,
    tensor1: Variable,
    tensor2: Variable,
    value: float = 1.0,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """``input + value * tensor1 * tensor2``, for each element.

    Args:
        input: a variable of numbers.
        tensor1: of the element type of ``input``; shapes are aligned at the end.
        tensor2: as ``tensor1``.
        value: factor of the product.
        out: a variable to write to as well.

    Returns:
        ``out``, or a new variable.

    >>> x, y, z = (fluid.data(n, [3, 4]) for n in "xyz")
    >>> fluid.layers.addcmul(x, y, z, value=0.5).shape
    (3, 4)
    """
    product: Any = elementwise_mul(tensor1, tensor2)
    total = elementwise_add(input, product * value)
    if out is None:
        return total
    f.into("assign", {"X": total}, {"Out": f.result(out)})
    return out
