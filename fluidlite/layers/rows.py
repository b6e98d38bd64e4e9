"""Gradients of which only some rows are stored."""

from __future__ import annotations

from .operator_layers import Layer, operator_layer

merge_selected_rows: Layer = operator_layer("""
    merge_selected_rows(x, name)

    >>> words = fluid.data("words", [None], "int64")
    >>> loss = fluid.layers.reduce_sum(fluid.embedding(words, [10, 4], is_sparse=True))
    >>> ((_, gradient),) = fluid.append_backward(loss)
    >>> fluid.layers.merge_selected_rows(gradient).type
    VarType.SELECTED_ROWS
""")
get_tensor_from_selected_rows: Layer = operator_layer("""
    get_tensor_from_selected_rows(x, name)

    >>> words = fluid.data("words", [None], "int64")
    >>> loss = fluid.layers.reduce_sum(fluid.embedding(words, [10, 4], is_sparse=True))
    >>> ((_, gradient),) = fluid.append_backward(loss)
    >>> fluid.layers.get_tensor_from_selected_rows(gradient).shape
    (-1, 4)
""")
