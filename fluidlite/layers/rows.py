"""Gradients of which only some rows are stored."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, layer


@layer
def merge_selected_rows(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """Rows of a tensor with those that are stored several times added up.

    Args:
        x: rows of a tensor, such as the gradient of a table of ``embedding(is_sparse=True)``.

    Returns:
        A variable of the same kind.

    >>> words = fluid.data("words", [None], "int64")
    >>> loss = fluid.layers.reduce_sum(fluid.embedding(words, [10, 4], is_sparse=True))
    >>> ((_, gradient),) = fluid.append_backward(loss)
    >>> fluid.layers.merge_selected_rows(gradient).type
    VarType.SELECTED_ROWS
    """
    return f.merge_selected_rows(x)


@layer
def get_tensor_from_selected_rows(
    f: LayerBuilder, x: Variable, name: str | None = None
) -> Variable:
    """The rows of a tensor that are stored, one behind the other.

    Args:
        x: rows of a tensor, such as the gradient of a table of ``embedding(is_sparse=True)``.

    Returns:
        A variable of as many rows as are stored.

    >>> words = fluid.data("words", [None], "int64")
    >>> loss = fluid.layers.reduce_sum(fluid.embedding(words, [10, 4], is_sparse=True))
    >>> ((_, gradient),) = fluid.append_backward(loss)
    >>> fluid.layers.get_tensor_from_selected_rows(gradient).shape
    (-1, 4)
    """
    return f.get_tensor_from_selected_rows(x)
