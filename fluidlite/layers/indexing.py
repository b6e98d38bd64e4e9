"""Elements at places that other variables name."""

from __future__ import annotations

from ..ir.variable import Variable
from .creation import zeros
from .operator_layers import Layer, operator_layer, same_shape
from .sizes import Given

gather: Layer = operator_layer("""
    gather(input: X, index, overwrite)

    >>> x, i = fluid.data("x", [None, 4]), fluid.data("i", [7], "int64")
    >>> fluid.layers.gather(x, i).shape
    (7, 4)
""")
gather_nd: Layer = operator_layer("""
    gather_nd(input: X, index, name)

    >>> x, i = fluid.data("x", [4, 5, 6]), fluid.data("i", [None, 2], "int64")
    >>> fluid.layers.gather_nd(x, i).shape
    (-1, 6)
""")
scatter: Layer = same_shape("""
    scatter(input: X, index: Ids, updates, name, overwrite)

    >>> x, i = fluid.data("x", [9, 4]), fluid.data("i", [3], "int64")
    >>> fluid.layers.scatter(x, i, fluid.data("u", [3, 4])).shape
    (9, 4)
""")
scatter_nd_add: Layer = same_shape("""
    scatter_nd_add(ref: X, index, updates, name)

    >>> x, i = fluid.data("x", [9, 4]), fluid.data("i", [3, 1], "int64")
    >>> fluid.layers.scatter_nd_add(x, i, fluid.data("u", [3, 4])).shape
    (9, 4)
""")


def scatter_nd(
    index: Variable, updates: Variable, shape: Given, name: str | None = None
) -> Variable:
    """Zeros with updates added at places that an index names.

    Args:
        index: places along its last dimension, as of ``gather_nd``; those named twice get both
            updates.
        updates: what to add, of the shape that ``gather_nd`` would give.
        shape: sizes, as of ``fill_constant``.
        name: of the layer.

    Returns:
        A variable of that shape.

    >>> i, u = fluid.data("i", [3, 1], "int64"), fluid.data("u", [3, 4])
    >>> fluid.layers.scatter_nd(i, u, shape=[9, 4]).shape
    (9, 4)
    """
    return scatter_nd_add(zeros(shape, updates.dtype), index, updates, name)


index_select: Layer = operator_layer("""
    index_select(input: X, index, dim)

    >>> x, i = fluid.data("x", [None, 4]), fluid.data("i", [7], "int64")
    >>> fluid.layers.index_select(x, i, dim=1).shape
    (-1, 7)
""")
index_sample: Layer = operator_layer("""
    index_sample(x, index)

    >>> x, i = fluid.data("x", [None, 9]), fluid.data("i", [None, 3], "int64")
    >>> fluid.layers.index_sample(x, i).shape
    (-1, 3)
""")
multiplex: Layer = operator_layer("""
    multiplex(inputs: X, index: Ids)

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.multiplex([x, y], fluid.data("i", [None, 1], "int32")).shape
    (-1, 4)
""")
