"""Elements at places that other variables name."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.variable import Variable
from .creation import zeros
from .layer import LayerBuilder, layer, variables_of
from .sizes import Given


@layer
def gather(f: LayerBuilder, input: Variable, index: Variable, overwrite: bool = True) -> Variable:
    """The rows of a variable that an index names.

    Args:
        input: a variable.
        index: numbers of rows, int32 or int64 of shape [n] or [n, 1].
        overwrite: accepted; in the gradient, rows named twice add up in any case.

    Returns:
        A variable of n rows.

    >>> x, i = fluid.data("x", [None, 4]), fluid.data("i", [7], "int64")
    >>> fluid.layers.gather(x, i).shape
    (7, 4)
    """
    return f.gather(input, index, overwrite=overwrite)


@layer
def gather_nd(
    f: LayerBuilder, input: Variable, index: Variable, name: str | None = None
) -> Variable:
    """The elements, or slices, of a variable at places that an index names.

    Args:
        input: a variable.
        index: places along its last dimension, int32 or int64; a place shorter than ``input`` has
            dimensions selects a slice.

    Returns:
        A variable of the shape of ``index`` with what a place selects in place of its last
        dimension.

    >>> x, i = fluid.data("x", [4, 5, 6]), fluid.data("i", [None, 2], "int64")
    >>> fluid.layers.gather_nd(x, i).shape
    (-1, 6)
    """
    return f.gather_nd(input, index)


@layer
def scatter(
    f: LayerBuilder,
    input: Variable,
    index: Variable,
    updates: Variable,
    name: str | None = None,
    overwrite: bool = True,
) -> Variable:
    """A variable with rows that an index names replaced.

    Args:
        input: a variable.
        index: numbers of rows, int32 or int64 of shape [n] or [n, 1].
        updates: the new rows, n of them.
        overwrite: of rows named twice the last update stays; if not, their updates add up.

    Returns:
        A variable of the shape of ``input``.

    >>> x, i = fluid.data("x", [9, 4]), fluid.data("i", [3], "int64")
    >>> fluid.layers.scatter(x, i, fluid.data("u", [3, 4])).shape
    (9, 4)
    """
    return f.scatter(input, index, updates, overwrite=overwrite)


@layer
def scatter_nd_add(
    f: LayerBuilder, ref: Variable, index: Variable, updates: Variable, name: str | None = None
) -> Variable:
    """A variable with updates added at places that an index names.

    Args:
        ref: a variable.
        index: places along its last dimension, as of ``gather_nd``; those named twice get both
            updates.
        updates: what to add, of the shape that ``gather_nd`` would give.

    Returns:
        A variable of the shape of ``ref``.

    >>> x, i = fluid.data("x", [9, 4]), fluid.data("i", [3, 1], "int64")
    >>> fluid.layers.scatter_nd_add(x, i, fluid.data("u", [3, 4])).shape
    (9, 4)
    """
    return f.scatter_nd_add(ref, index, updates)


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


@layer
def index_select(f: LayerBuilder, input: Variable, index: Variable, dim: int = 0) -> Variable:
    """The slices along a dimension that an index names.

    Args:
        input: a variable.
        index: int32 or int64 of shape [n].
        dim: the dimension; may count from the end.

    Returns:
        A variable of the shape of ``input`` with n slices along the dimension.

    >>> x, i = fluid.data("x", [None, 4]), fluid.data("i", [7], "int64")
    >>> fluid.layers.index_select(x, i, dim=1).shape
    (-1, 7)
    """
    return f.index_select(input, index, dim=dim)


@layer
def index_sample(f: LayerBuilder, x: Variable, index: Variable) -> Variable:
    """The elements of each row that an index names.

    Args:
        x: [N, M].
        index: numbers of columns, int32 or int64 of shape [N, K].

    Returns:
        A variable of shape [N, K].

    >>> x, i = fluid.data("x", [None, 9]), fluid.data("i", [None, 3], "int64")
    >>> fluid.layers.index_sample(x, i).shape
    (-1, 3)
    """
    return f.index_sample(x, index)


@layer
def multiplex(f: LayerBuilder, inputs: Sequence[Variable], index: Variable) -> Variable:
    """Each row from one of several variables.

    Args:
        inputs: variables of one shape, with n rows.
        index: which of them each row comes from, int32 of shape [n, 1].

    Returns:
        A variable of the shape of each of ``inputs``.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.multiplex([x, y], fluid.data("i", [None, 1], "int32")).shape
    (-1, 4)
    """
    return f.multiplex(index, variables_of(inputs, "inputs"))
