"""Comparisons, logic, and questions about whole variables."""

from __future__ import annotations

from .layer import LAYERS
from .operator_layers import Layer, OperatorLayers

_COMPARISON = LAYERS.extended(
    {"x": "a variable.", "y": "of the element type of ``x``; sizes of 1 stretch."},
    returns="A bool variable of the shape of ``x``.",
    example="""
    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.{name}(x, y).dtype
    VarType.BOOL
    """,
)
_comparison = OperatorLayers(_COMPARISON)
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


equal: Layer = _comparison("equal(x, y, cond)", is_stopped=True)
not_equal: Layer = _comparison("not_equal(x, y, cond)", is_stopped=True)
less_than: Layer = _comparison("less_than(x, y, force_cpu=None, cond)", is_stopped=True)
less_equal: Layer = _comparison("less_equal(x, y, cond)", is_stopped=True)
greater_than: Layer = _comparison("greater_than(x, y, cond)", is_stopped=True)
greater_equal: Layer = _comparison("greater_equal(x, y, cond)", is_stopped=True)
elementwise_equal: Layer = _comparison("elementwise_equal(x, y, name) -> equal", is_stopped=True)
logical_and: Layer = _logic("logical_and(x, y, out, name)")
logical_or: Layer = _logic("logical_or(x, y, out, name)")
logical_xor: Layer = _logic("logical_xor(x, y, out, name)")
logical_not: Layer = _logic("""
    logical_not(x, out, name)

    >>> fluid.layers.logical_not(fluid.data("x", [None, 4], "bool")).shape
    (-1, 4)
""")
isfinite: Layer = _question("isfinite(x)")
has_inf: Layer = _question("has_inf(x) -> isinf", stem="isinf")
has_nan: Layer = _question("has_nan(x) -> isnan", stem="isnan")
is_empty: Layer = _question("is_empty(x, cond)", is_stopped=True)
allclose: Layer = _question("""
    allclose(input, other, rtol, atol, equal_nan, name)

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.allclose(x, y).shape
    (1,)
""")
