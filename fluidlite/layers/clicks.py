"""What models of clicks on the web put around their nets."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder
from .operator_layers import Layer, LayerCall, operator_layer


@operator_layer.signature("continuous_value_model(input: X, cvm, use_cvm) -> cvm")
def continuous_value_model(f: LayerBuilder, call: LayerCall) -> Variable:
    """Features with logarithms of their counts of shows and clicks, or without the counts.

    >>> x, counts = fluid.data("x", [None, 11]), fluid.data("counts", [None, 2])
    >>> fluid.layers.continuous_value_model(x, counts, use_cvm=False).shape
    (-1, 9)
    """
    out = f.block.create_var()
    f.into("cvm", call.ins, {"Y": out}, **call.attrs)
    return out


hash: Layer = operator_layer("""
    hash(input: X, hash_size: mod_by = ..., num_hash, name)

    >>> words = fluid.data("words", [None, 2], "int64")
    >>> fluid.layers.hash(words, hash_size=1000, num_hash=4).shape
    (-1, 4, 1)
""")
