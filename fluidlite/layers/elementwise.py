"""Sums, differences, products, quotients and the like of pairs of elements."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer

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
    },
    returns="A variable of the shape of ``x``.",
    example=_EXAMPLE,
)
_pairs = OperatorLayers(_PAIRS)
_INTEGERS = _PAIRS.extended({}, example=_EXAMPLE.replace("])", '], "int64")'))
_integers = OperatorLayers(_INTEGERS)


elementwise_add: Layer = _pairs("elementwise_add(x, y, axis, act, name)")
elementwise_sub: Layer = _pairs("elementwise_sub(x, y, axis, act, name)")
elementwise_mul: Layer = _pairs("elementwise_mul(x, y, axis, act, name)")
elementwise_div: Layer = _pairs("elementwise_div(x, y, axis, act, name)")
elementwise_max: Layer = _pairs("elementwise_max(x, y, axis, act, name)")
elementwise_min: Layer = _pairs("elementwise_min(x, y, axis, act, name)")
elementwise_pow: Layer = _pairs("elementwise_pow(x, y, axis, act, name)")
elementwise_mod: Layer = _integers("elementwise_mod(x, y, axis, act, name)")
elementwise_floordiv: Layer = _integers("elementwise_floordiv(x, y, axis, act, name)")


@operator_layer.signature(
    """
    addcmul(input: Variable, tensor1: Variable, tensor2: Variable, value: float = 1.0, out,
        name) -> assign
    """,
    stem="addcmul",
)
def addcmul(f: LayerBuilder, call: LayerCall) -> Variable:
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
    product: Any = elementwise_mul(call.tensor1, call.tensor2)
    total = elementwise_add(call.input, product * call.value)
    if call.out is None:
        return total
    f.into("assign", {"X": total}, {"Out": f.result(call.out)})
    return call.out
