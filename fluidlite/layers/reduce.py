"""Sums, means, extremes and products over dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .sizes import integers
from .unary import exp

Dims = int | Sequence[int] | None

_EXAMPLE = """
>>> fluid.layers.{name}(fluid.data("x", [None, 3, 4]), dim=[1, -1]).shape
(-1,)
"""
_REDUCTION = LAYERS.extended(
    {
        "input": "a variable of numbers.",
        "dim": "a dimension or a list of them, which may count from the end; all when None or "
        "empty.",
        "keep_dim": "leave the dimensions, with size 1.",
        "keepdim": "leave the dimensions, with size 1.",
    },
    returns="A variable without the dimensions; of shape [1] where none is left.",
    example=_EXAMPLE,
)
_TRUTHS = _REDUCTION.extended(
    {"input": "a bool variable."}, example=_EXAMPLE.replace("4])", '4], "bool")')
)


def _over(dim: Dims = None, keep_dim: bool = False) -> dict[str, Any]:
    """The attributes of a reduction over ``dim``."""
    dims = [] if dim is None else integers(dim, "dim")
    return {"dim": dims or [0], "keep_dim": keep_dim, "reduce_all": not dims}


_reduction = OperatorLayers(_REDUCTION, _over)
_truths = OperatorLayers(_TRUTHS, _over)

reduce_sum, reduce_max, reduce_min, reduce_prod = _reduction.each(
    "reduce_sum reduce_max reduce_min reduce_prod", "input: X, dim, keep_dim, name"
)
reduce_mean: Layer = _reduction("""
    reduce_mean(input: X, dim, keep_dim, name)

    Args:
        input: a float variable.
""")
reduce_all, reduce_any = _truths.each("reduce_all reduce_any", "input: X, dim, keep_dim, name")
mean: Layer = operator_layer("""
    mean(x, name)

    >>> fluid.layers.mean(fluid.data("x", [None, 4])).shape
    (1,)
""")


@_reduction.signature("""
    logsumexp(x, dim: Dims = None, keepdim: bool = False, out, name) -> log
""")
def logsumexp(f: LayerBuilder, call: LayerCall) -> Variable:
    """The logarithm of the sum of exponentials over some dimensions, or over all of them.

    Args:
        x: a float variable.
        out: a variable to write to; a new one when None.

    >>> fluid.layers.logsumexp(fluid.data("x", [None, 3, 4]), dim=1).shape
    (-1, 4)
    """
    total = reduce_sum(exp(call.x), call.dim, call.keepdim)
    result = f.result(call.out)
    f.into("log", {"X": total}, {"Out": result})
    return result
