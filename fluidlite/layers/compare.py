"""Comparisons, logic, and questions about whole variables."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .layer import LayerBuilder, layer, stopped


@layer
def equal(f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` equals ``y``, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.equal(x, y).dtype
    VarType.BOOL
    """
    return _compared(f, "equal", x, y, cond)


def _compared(
    f: LayerBuilder, type: str, x: Variable, y: Variable, cond: Variable | None, **attrs: Any
) -> Variable:
    out = f.result(cond)
    f.into(type, {"X": x, "Y": y}, {"Out": out}, **attrs)
    return out if cond is not None else stopped(out)


@layer
def not_equal(f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` and ``y`` differ, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.not_equal(x, y).dtype
    VarType.BOOL
    """
    return _compared(f, "not_equal", x, y, cond)


@layer
def less_than(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    force_cpu: bool | None = None,
    cond: Variable | None = None,
) -> Variable:
    """Whether ``x`` is below ``y``, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        force_cpu: kept in the operator; there is one place.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.less_than(x, y).dtype
    VarType.BOOL
    """
    attrs = {} if force_cpu is None else {"force_cpu": force_cpu}
    return _compared(f, "less_than", x, y, cond, **attrs)


@layer
def less_equal(f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` is not above ``y``, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.less_equal(x, y).dtype
    VarType.BOOL
    """
    return _compared(f, "less_equal", x, y, cond)


@layer
def greater_than(
    f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None
) -> Variable:
    """Whether ``x`` is above ``y``, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.greater_than(x, y).dtype
    VarType.BOOL
    """
    return _compared(f, "greater_than", x, y, cond)


@layer
def greater_equal(
    f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None
) -> Variable:
    """Whether ``x`` is not below ``y``, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.greater_equal(x, y).dtype
    VarType.BOOL
    """
    return _compared(f, "greater_equal", x, y, cond)


@layer
def elementwise_equal(
    f: LayerBuilder, x: Variable, y: Variable, name: str | None = None
) -> Variable:
    """Whether ``x`` equals ``y``, for each element.

    Args:
        x: a variable.
        y: of the element type of ``x``; sizes of 1 stretch.
        name: of the layer.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.elementwise_equal(x, y).dtype
    VarType.BOOL
    """
    return _compared(f, "equal", x, y, None)


@layer
def logical_and(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """Whether ``x`` and ``y`` are both true, for each element.

    Args:
        x, y: bool variables; sizes of 1 stretch.
        out: the variable to write to; a new one when None.
        name: of the layer.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4], "bool"), fluid.data("y", [None, 4], "bool")
    >>> fluid.layers.logical_and(x, y).shape
    (-1, 4)
    """
    out = f.result(out)
    f.into("logical_and", {"X": x, "Y": y}, {"Out": out})
    return out


@layer
def logical_or(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """Whether ``x`` or ``y`` or both are true, for each element.

    Args:
        x, y: bool variables; sizes of 1 stretch.
        out: the variable to write to; a new one when None.
        name: of the layer.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4], "bool"), fluid.data("y", [None, 4], "bool")
    >>> fluid.layers.logical_or(x, y).shape
    (-1, 4)
    """
    out = f.result(out)
    f.into("logical_or", {"X": x, "Y": y}, {"Out": out})
    return out


@layer
def logical_xor(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """Whether one of ``x`` and ``y`` is true and the other is not, for each element.

    Args:
        x, y: bool variables; sizes of 1 stretch.
        out: the variable to write to; a new one when None.
        name: of the layer.

    Returns:
        A bool variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [None, 4], "bool"), fluid.data("y", [None, 4], "bool")
    >>> fluid.layers.logical_xor(x, y).shape
    (-1, 4)
    """
    out = f.result(out)
    f.into("logical_xor", {"X": x, "Y": y}, {"Out": out})
    return out


@layer
def logical_not(
    f: LayerBuilder, x: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """Whether ``x`` is not true, for each element.

    Args:
        x: a bool variable.
        out: the variable to write to; a new one when None.
        name: of the layer.

    Returns:
        A bool variable of the shape of ``x``.

    >>> fluid.layers.logical_not(fluid.data("x", [None, 4], "bool")).shape
    (-1, 4)
    """
    out = f.result(out)
    f.into("logical_not", {"X": x}, {"Out": out})
    return out


@layer
def isfinite(f: LayerBuilder, x: Variable) -> Variable:
    """Whether all elements of ``x`` are finite numbers.

    Args:
        x: a variable of numbers.

    Returns:
        A bool variable of shape [1].

    >>> fluid.layers.isfinite(fluid.data("x", [None, 4])).shape
    (1,)
    """
    return f.isfinite(x)


@layer("isinf")
def has_inf(f: LayerBuilder, x: Variable) -> Variable:
    """Whether an element of ``x`` is infinite.

    Args:
        x: a variable of numbers.

    Returns:
        A bool variable of shape [1].

    >>> fluid.layers.has_inf(fluid.data("x", [None, 4])).shape
    (1,)
    """
    return f.isinf(x)


@layer("isnan")
def has_nan(f: LayerBuilder, x: Variable) -> Variable:
    """Whether an element of ``x`` is not a number.

    Args:
        x: a variable of numbers.

    Returns:
        A bool variable of shape [1].

    >>> fluid.layers.has_nan(fluid.data("x", [None, 4])).shape
    (1,)
    """
    return f.isnan(x)


@layer
def is_empty(f: LayerBuilder, x: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` has no elements.

    Args:
        x: a variable.
        cond: the variable to write to; a new one when None.

    Returns:
        A bool variable of shape [1].

    >>> fluid.layers.is_empty(fluid.data("x", [None, 4])).shape
    (1,)
    """
    out = f.result(cond)
    f.into("is_empty", {"X": x}, {"Out": out})
    return out if cond is not None else stopped(out)


@layer
def allclose(
    f: LayerBuilder,
    input: Variable,
    other: Variable,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Variable:
    """Whether ``|input - other| <= atol + rtol * |other|`` everywhere.

    Args:
        input: a float variable.
        other: of the shape and element type of ``input``.
        rtol, atol: how far they may be apart.
        equal_nan: whether two elements that are no numbers count as close.
        name: of the layer.

    Returns:
        A bool variable of shape [1].

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.allclose(x, y).shape
    (1,)
    """
    return f.allclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)
