"""The largest elements, the smallest ones, and orders."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, layer, stopped


@layer("arg_max")
def argmax(f: LayerBuilder, x: Variable, axis: int = 0) -> Variable:
    """The places of the largest elements along a dimension.

    Args:
        x: a variable of numbers.
        axis: the dimension; may count from the end.

    Returns:
        An int64 variable without the dimension.  No gradient flows through.

    >>> fluid.layers.argmax(fluid.data("x", [None, 10]), axis=-1).shape
    (-1,)
    """
    return stopped(f.arg_max(x, axis=axis))


@layer("arg_min")
def argmin(f: LayerBuilder, x: Variable, axis: int = 0) -> Variable:
    """The places of the smallest elements along a dimension.

    Args:
        x: a variable of numbers.
        axis: the dimension; may count from the end.

    Returns:
        An int64 variable without the dimension.  No gradient flows through.

    >>> fluid.layers.argmin(fluid.data("x", [None, 10]), axis=-1).shape
    (-1,)
    """
    return stopped(f.arg_min(x, axis=axis))


@layer("top_k")
def topk(
    f: LayerBuilder, input: Variable, k: int | Variable, name: str | None = None
) -> tuple[Variable, Variable]:
    """The ``k`` largest elements along the last dimension, the largest first, and their places.

    Args:
        input: a variable of numbers.
        k: how many; a number or a variable of one element.
        name: of the layer.

    Returns:
        The elements and their int64 indices, both of the shape of ``input`` with ``k`` as last
        size.  No gradient flows through.

    >>> values, indices = fluid.layers.topk(fluid.data("x", [None, 10]), k=3)
    >>> values.shape, indices.dtype
    ((-1, 3), VarType.INT64)
    """
    found = f.top_k(input, k) if isinstance(k, Variable) else f.top_k(input, k=k)
    return stopped(found)
