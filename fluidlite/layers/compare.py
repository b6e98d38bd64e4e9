"""Comparisons, logic, and questions about whole variables."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, layer, stopped

_COMPARISON = LAYERS.extended(
    {"x": "a variable.", "y": "of the element type of ``x``; sizes of 1 stretch."},
    returns="A bool variable of the shape of ``x``.",
    example="""
    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.{name}(x, y).dtype
    VarType.BOOL
    """,
)
_LOGIC = _COMPARISON.extended(
    {"x": "a bool variable.", "y": "a bool variable; sizes of 1 stretch."},
    example="""
    >>> x, y = fluid.data("x", [None, 4], "bool"), fluid.data("y", [None, 4], "bool")
    >>> fluid.layers.{name}(x, y).shape
    (-1, 4)
    """,
)
_QUESTION = LAYERS.extended(
    {"x": "a variable of numbers."},
    returns="A bool variable of shape [1].",
    example="""
    >>> fluid.layers.{name}(fluid.data("x", [None, 4])).shape
    (1,)
    """,
)


@layer(family=_COMPARISON)
def equal(f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` equals ``y``, for each element."""
    return _compared(f, "equal", x, y, cond)


def _compared(
    f: LayerBuilder, type: str, x: Variable, y: Variable, cond: Variable | None, **attrs: Any
) -> Variable:
    out = f.result(cond)
    f.into(type, {"X": x, "Y": y}, {"Out": out}, **attrs)
    return out if cond is not None else stopped(out)


@layer(family=_COMPARISON)
def not_equal(f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` and ``y`` differ, for each element."""
    return _compared(f, "not_equal", x, y, cond)


@layer(family=_COMPARISON)
def less_than(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    force_cpu: bool | None = None,
    cond: Variable | None = None,
) -> Variable:
    """Whether ``x`` is below ``y``, for each element."""
    attrs = {} if force_cpu is None else {"force_cpu": force_cpu}
    return _compared(f, "less_than", x, y, cond, **attrs)


@layer(family=_COMPARISON)
def less_equal(f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` is not above ``y``, for each element."""
    return _compared(f, "less_equal", x, y, cond)


@layer(family=_COMPARISON)
def greater_than(
    f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None
) -> Variable:
    """Whether ``x`` is above ``y``, for each element."""
    return _compared(f, "greater_than", x, y, cond)


@layer(family=_COMPARISON)
def greater_equal(
    f: LayerBuilder, x: Variable, y: Variable, cond: Variable | None = None
) -> Variable:
    """Whether ``x`` is not below ``y``, for each element."""
    return _compared(f, "greater_equal", x, y, cond)


@layer(family=_COMPARISON)
def elementwise_equal(
    f: LayerBuilder, x: Variable, y: Variable, name: str | None = None
) -> Variable:
    """Whether ``x`` equals ``y``, for each element."""
    return _compared(f, "equal", x, y, None)


@layer(family=_LOGIC)
def logical_and(
    f: LayerBuilder, x: Variable, y: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """Whether ``x`` and ``y`` are both true, for each element."""
    out = f.result(out)
    f.into("logical_and", {"X": x, "Y": y}, {"Out": out})
    return out


@layer(family=_LOGIC)
def logical_or(
    f: LayerBuilder, x: Variable, y: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """Whether ``x`` or ``y`` or both are true, for each element."""
    out = f.result(out)
    f.into("logical_or", {"X": x, "Y": y}, {"Out": out})
    return out


@layer(family=_LOGIC)
def logical_xor(
    f: LayerBuilder, x: Variable, y: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """Whether one of ``x`` and ``y`` is true and the other is not, for each element."""
    out = f.result(out)
    f.into("logical_xor", {"X": x, "Y": y}, {"Out": out})
    return out


@layer(family=_LOGIC)
def logical_not(
    f: LayerBuilder, x: Variable, out: Variable | None = None, name: str | None = None
) -> Variable:
    """Whether ``x`` is not true, for each element.

    >>> fluid.layers.logical_not(fluid.data("x", [None, 4], "bool")).shape
    (-1, 4)
    """
    out = f.result(out)
    f.into("logical_not", {"X": x}, {"Out": out})
    return out


@layer(family=_QUESTION)
def isfinite(f: LayerBuilder, x: Variable) -> Variable:
    """Whether all elements of ``x`` are finite numbers."""
    return f.isfinite(x)


@layer("isinf", family=_QUESTION)
def has_inf(f: LayerBuilder, x: Variable) -> Variable:
    """Whether an element of ``x`` is infinite."""
    return f.isinf(x)


@layer("isnan", family=_QUESTION)
def has_nan(f: LayerBuilder, x: Variable) -> Variable:
    """Whether an element of ``x`` is not a number."""
    return f.isnan(x)


@layer(family=_QUESTION)
def is_empty(f: LayerBuilder, x: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` has no elements.

    Args:
        x: a variable.
    """
    out = f.result(cond)
    f.into("is_empty", {"X": x}, {"Out": out})
    return out if cond is not None else stopped(out)


@layer(family=_QUESTION)
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

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.allclose(x, y).shape
    (1,)
    """
    return f.allclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)
