"""Gradients of which only some rows are stored."""

from __future__ import annotations

from .layer import LAYERS
from .operator_layers import Layer, OperatorLayers

_rows = OperatorLayers(
    LAYERS.extended(
        {},
        setup="""
        >>> words = fluid.data("words", [None], "int64")
        >>> loss = fluid.layers.reduce_sum(fluid.embedding(words, [10, 4], is_sparse=True))
        >>> ((_, gradient),) = fluid.append_backward(loss)
        """,
    )
)
merge_selected_rows: Layer = _rows("""
    merge_selected_rows(x, name)

    >>> fluid.layers.merge_selected_rows(gradient).type
    VarType.SELECTED_ROWS
""")
get_tensor_from_selected_rows: Layer = _rows("""
    get_tensor_from_selected_rows(x, name)

    >>> fluid.layers.get_tensor_from_selected_rows(gradient).shape
    (-1, 4)
""")
