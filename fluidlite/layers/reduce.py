"""Sums, means, extremes and products over dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, layer
from .operator_layers import operator_layer
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


def _over(dim: Dims, keep_dim: bool) -> dict[str, Any]:
    """The attributes of a reduction over ``dim``."""
    dims = [] if dim is None else integers(dim, "dim")
    return {"dim": dims or [0], "keep_dim": keep_dim, "reduce_all": not dims}


@layer(family=_REDUCTION)
def reduce_sum(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """The sum of the elements over some dimensions, or over all of them."""
    return f.reduce_sum(input, **_over(dim, keep_dim))


@layer(family=_REDUCTION)
def reduce_mean(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """The mean of the elements over some dimensions, or over all of them.

    Args:
        input: a float variable.
    """
    return f.reduce_mean(input, **_over(dim, keep_dim))


@layer(family=_REDUCTION)
def reduce_max(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """The largest of the elements over some dimensions, or over all of them."""
    return f.reduce_max(input, **_over(dim, keep_dim))


@layer(family=_REDUCTION)
def reduce_min(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """The smallest of the elements over some dimensions, or over all of them."""
    return f.reduce_min(input, **_over(dim, keep_dim))


@layer(family=_REDUCTION)
def reduce_prod(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """The product of the elements over some dimensions, or over all of them."""
    return f.reduce_prod(input, **_over(dim, keep_dim))


@layer(family=_TRUTHS)
def reduce_all(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """Whether all of the elements are true over some dimensions, or over all of them."""
    return f.reduce_all(input, **_over(dim, keep_dim))


@layer(family=_TRUTHS)
def reduce_any(
    f: LayerBuilder,
    input: Variable,
    dim: Dims = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> Variable:
    """Whether any of the elements is true over some dimensions, or over all of them."""
    return f.reduce_any(input, **_over(dim, keep_dim))


mean = operator_layer("""
    mean(x, name)

    >>> fluid.layers.mean(fluid.data("x", [None, 4])).shape
    (1,)
""")


@layer("log", family=_REDUCTION)
def logsumexp(
    f: LayerBuilder,
    x: Variable,
    dim: Dims = None,
    keepdim: bool = False,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """The logarithm of the sum of exponentials over some dimensions, or over all of them.

    Args:
        x: a float variable.
        out: a variable to write to; a new one when None.

    >>> fluid.layers.logsumexp(fluid.data("x", [None, 3, 4]), dim=1).shape
    (-1, 4)
    """
    total = reduce_sum(exp(x), dim, keepdim)
    result = f.result(out)
    f.into("log", {"X": total}, {"Out": result})
    return result
