"""Elementary functions of each element: exponentials, powers, angles, roundings.

Each layer appends one operator of the same name, and gives a variable of the shape of its input.
"""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped

UNARY = LAYERS.extended(
    {"x": "a float variable."},
    returns="A variable of the shape of ``x``.",
    example="""
    >>> fluid.layers.{name}(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """,
)


@layer(family=UNARY)
def exp(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``e`` to the power of ``x``, for each element."""
    return f.exp(x)


@layer(family=UNARY)
def log(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The natural logarithm of ``x``, for each element."""
    return f.log(x)


@layer(family=UNARY)
def log1p(
    f: LayerBuilder, x: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """The natural logarithm of ``1 + x``, exact for small ``x``, for each element."""
    out = f.result(out)
    f.into("log1p", {"X": x}, {"Out": out})
    return out


@layer(family=UNARY)
def sqrt(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The square root of ``x``, for each element."""
    return f.sqrt(x)


@layer(family=UNARY)
def rsqrt(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """One over the square root of ``x``, for each element."""
    return f.rsqrt(x)


@layer(family=UNARY)
def square(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x`` times ``x``, for each element."""
    return f.square(x)


@layer(family=UNARY)
def reciprocal(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``1 / x``, for each element."""
    return f.reciprocal(x)


@layer(family=UNARY)
def abs(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x`` without its sign, for each element."""
    return f.abs(x)


@layer(family=UNARY)
def sign(f: LayerBuilder, x: Variable) -> Variable:
    """-1 where ``x`` is negative, 1 where it is positive, 0 where it is 0, for each element."""
    return f.sign(x)


@layer(family=UNARY)
def ceil(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The smallest integer that is not below ``x``, for each element."""
    return f.ceil(x)


@layer(family=UNARY)
def floor(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The largest integer that is not above ``x``, for each element."""
    return f.floor(x)


@layer(family=UNARY)
def round(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The integer closest to ``x``; halves go away from 0, for each element."""
    return f.round(x)


@layer(family=UNARY)
def sin(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The sine of ``x``, for each element."""
    return f.sin(x)


@layer(family=UNARY)
def cos(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The cosine of ``x``, for each element."""
    return f.cos(x)


@layer(family=UNARY)
def asin(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The angle in [-pi/2, pi/2] whose sine is ``x``, for each element."""
    return f.asin(x)


@layer(family=UNARY)
def acos(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The angle in [0, pi] whose cosine is ``x``, for each element."""
    return f.acos(x)


@layer(family=UNARY)
def atan(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The angle in (-pi/2, pi/2) whose tangent is ``x``, for each element."""
    return f.atan(x)


@layer(family=UNARY)
def erf(f: LayerBuilder, x: Variable) -> Variable:
    """The error function: ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0 to ``x``."""
    return f.erf(x)


@layer(family=UNARY)
def pow(
    f: LayerBuilder, x: Variable, factor: float | Variable = 1.0, name: str | None = None
) -> Variable:
    """``x`` to the power of ``factor``, for each element.

    Args:
        factor: a number, or a variable of one element of the type of ``x``.

    >>> fluid.layers.pow(fluid.data("x", [None, 4]), factor=3.0).shape
    (-1, 4)
    """
    if is_variable(factor):
        return f.pow(x, stopped(factor))
    return f.pow(x, factor=factor)
