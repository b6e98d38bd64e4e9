"""The largest elements, the smallest ones, and orders."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, layer, stopped


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
