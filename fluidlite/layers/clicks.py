"""What models of clicks on the web put around their nets."""

from __future__ import annotations

from .operator_layers import Layer, operator_layer

continuous_value_model: Layer = operator_layer(
    """
    continuous_value_model(input: X, cvm, use_cvm) -> cvm

    >>> x, counts = fluid.data("x", [None, 11]), fluid.data("counts", [None, 2])
    >>> fluid.layers.continuous_value_model(x, counts, use_cvm=False).shape
    (-1, 9)
    """,
    stem="cvm",
)
hash: Layer = operator_layer("""
    hash(input: X, hash_size: mod_by = ..., num_hash, name)

    >>> words = fluid.data("words", [None, 2], "int64")
    >>> fluid.layers.hash(words, hash_size=1000, num_hash=4).shape
    (-1, 4, 1)
""")
