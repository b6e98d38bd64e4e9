"""Elementary functions of each element: exponentials, powers, angles, roundings.

Each layer appends one operator of the same name, and gives a variable of the shape of its input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.variable import Variable
from .creation import assign
from .layer import LAYERS, LayerBuilder, is_variable, layer
from .operator_layers import Layer, OperatorLayers

UNARY = LAYERS.extended(
    {"x": "a float variable."},
    returns="A variable of the shape of ``x``.",
    example="""
    >>> fluid.layers.{name}(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """,
)
_unary = OperatorLayers(UNARY)


exp, log, sqrt, rsqrt, square, reciprocal, abs, ceil, floor, round, sin, cos, asin, acos, atan = (
    _unary.each(
        "exp log sqrt rsqrt square reciprocal abs ceil floor round sin cos asin acos atan",
        "x, name",
    )
)
log1p: Layer = _unary("log1p(x, out, name)")
erf: Layer = _unary("erf(x)")
pow: Layer = _unary("""
    pow(x, factor: factor | FactorTensor, name)

    >>> fluid.layers.pow(fluid.data("x", [None, 4]), factor=3.0).shape
    (-1, 4)
""")


@layer
def sign(f: LayerBuilder, x: Variable | np.ndarray[Any, Any]) -> Variable:
    """-1, 0 or 1, as each element is negative, zero or positive.

    Args:
        x: a float variable; or an array, whose elements are written into the program.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ArgumentError: ``x`` is neither.

    >>> fluid.layers.sign(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    return f.sign(x if is_variable(x) else assign(x))
