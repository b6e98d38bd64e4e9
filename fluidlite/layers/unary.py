"""Elementary functions of each element: exponentials, powers, angles, roundings.

Each layer appends one operator of the same name, and gives a variable of the shape of its input.
"""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped


@layer
def exp(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``e`` to the power of ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.exp(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.exp(x)


@layer
def log(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The natural logarithm of ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.log(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.log(x)


@layer
def log1p(
    f: LayerBuilder, x: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """The natural logarithm of ``1 + x``, exact for small ``x``, for each element.

    Args:
        x: a float variable.
        out: the variable to write to; a new one when None.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.log1p(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    out = f.result(out)
    f.into("log1p", {"X": x}, {"Out": out})
    return out


@layer
def sqrt(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The square root of ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.sqrt(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.sqrt(x)


@layer
def rsqrt(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """One over the square root of ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.rsqrt(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.rsqrt(x)


@layer
def square(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x`` times ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.square(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.square(x)


@layer
def reciprocal(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``1 / x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.reciprocal(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.reciprocal(x)


@layer
def abs(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x`` without its sign, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.abs(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.abs(x)


@layer
def sign(f: LayerBuilder, x: Variable) -> Variable:
    """-1 where ``x`` is negative, 1 where it is positive, 0 where it is 0, for each element.

    Args:
        x: a float variable.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.sign(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.sign(x)


@layer
def ceil(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The smallest integer that is not below ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.ceil(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.ceil(x)


@layer
def floor(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The largest integer that is not above ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.floor(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.floor(x)


@layer
def round(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The integer closest to ``x``; halves go away from 0, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.round(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.round(x)


@layer
def sin(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The sine of ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.sin(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.sin(x)


@layer
def cos(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The cosine of ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.cos(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.cos(x)


@layer
def asin(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The angle in [-pi/2, pi/2] whose sine is ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.asin(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.asin(x)


@layer
def acos(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The angle in [0, pi] whose cosine is ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.acos(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.acos(x)


@layer
def atan(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The angle in (-pi/2, pi/2) whose tangent is ``x``, for each element.

    Args:
        x: a float variable.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.atan(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.atan(x)


@layer
def erf(f: LayerBuilder, x: Variable) -> Variable:
    """The error function: ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0 to ``x``.

    Args:
        x: a float variable.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.erf(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.erf(x)


@layer
def pow(
    f: LayerBuilder, x: Variable, factor: float | Variable = 1.0, name: str | None = None
) -> Variable:
    """``x`` to the power of ``factor``, for each element.

    Args:
        x: a float variable.
        factor: a number, or a variable of one element of the type of ``x``.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.pow(fluid.data("x", [None, 4]), factor=3.0).shape
    (-1, 4)
    """
    if is_variable(factor):
        return f.pow(x, stopped(factor))
    return f.pow(x, factor=factor)
