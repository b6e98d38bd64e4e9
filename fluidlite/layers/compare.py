"""Comparisons, logic, and questions about whole variables."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, layer, stopped
from .operator_layers import OperatorLayers

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
_logic = OperatorLayers(_LOGIC)
_QUESTION = LAYERS.extended(
    {"x": "a variable of numbers."},
    returns="A bool variable of shape [1].",
    example="""
    >>> fluid.layers.{name}(fluid.data("x", [None, 4])).shape
    (1,)
    """,
)
_question = OperatorLayers(_QUESTION)


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


logical_and = _logic("logical_and(x, y, out, name)")
logical_or = _logic("logical_or(x, y, out, name)")
logical_xor = _logic("logical_xor(x, y, out, name)")
logical_not = _logic("""
    logical_not(x, out, name)

    >>> fluid.layers.logical_not(fluid.data("x", [None, 4], "bool")).shape
    (-1, 4)
""")
isfinite = _question("isfinite(x)")
has_inf = _question("has_inf(x) -> isinf", stem="isinf")
has_nan = _question("has_nan(x) -> isnan", stem="isnan")


@layer(family=_QUESTION)
def is_empty(f: LayerBuilder, x: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` has no elements.

    Args:
        x: a variable.
    """
    out = f.result(cond)
    f.into("is_empty", {"X": x}, {"Out": out})
    return out if cond is not None else stopped(out)


allclose = _question("""
    allclose(input, other, rtol, atol, equal_nan, name)

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.allclose(x, y).shape
    (1,)
""")
