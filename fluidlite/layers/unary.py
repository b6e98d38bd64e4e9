"""Elementary functions of each element: exponentials, powers, angles, roundings.

Each layer appends one operator of the same name, and gives a variable of the shape of its input.
"""

from __future__ import annotations

from .layer import LAYERS
from .operator_layers import OperatorLayers

UNARY = LAYERS.extended(
    {"x": "a float variable."},
    returns="A variable of the shape of ``x``.",
    example="""
    >>> fluid.layers.{name}(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """,
)
_unary = OperatorLayers(UNARY)


exp = _unary("exp(x, name)")
log = _unary("log(x, name)")
log1p = _unary("log1p(x, out, name)")
sqrt = _unary("sqrt(x, name)")
rsqrt = _unary("rsqrt(x, name)")
square = _unary("square(x, name)")
reciprocal = _unary("reciprocal(x, name)")
abs = _unary("abs(x, name)")
sign = _unary("sign(x)")
ceil = _unary("ceil(x, name)")
floor = _unary("floor(x, name)")
round = _unary("round(x, name)")
sin = _unary("sin(x, name)")
cos = _unary("cos(x, name)")
asin = _unary("asin(x, name)")
acos = _unary("acos(x, name)")
atan = _unary("atan(x, name)")
erf = _unary("erf(x)")
pow = _unary("""
    pow(x, factor: factor | FactorTensor, name)

    >>> fluid.layers.pow(fluid.data("x", [None, 4]), factor=3.0).shape
    (-1, 4)
""")
