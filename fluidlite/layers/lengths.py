"""Lengths of sequences as masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ground.dtypes import as_dtype
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, stopped
from .operator_layers import LayerCall, operator_layer

if TYPE_CHECKING:
    pass


@operator_layer.signature("""
    sequence_mask(x, maxlen: int | Variable | None, dtype: DTypeLike = "int64", name)
""")
def sequence_mask(f: LayerBuilder, call: LayerCall) -> Variable:
    """1 where a position is below a length, else 0.

    Args:
        x: lengths, of any shape.
        maxlen: how many positions there are: a number, or an integer variable of one element; the
            largest length when None.
        dtype: element type of the result.

    Returns:
        A variable of the shape of ``x`` with ``maxlen`` behind it.

    Raises:
        AttributeValueError: ``maxlen`` is 0.

    >>> n = fluid.layers.assign(np.array([2, 0, 3]))
    >>> fluid.Executor().run(fetch_list=[fluid.layers.sequence_mask(n, 3)])
    [array([[1, 1, 0],
           [0, 0, 0],
           [1, 1, 1]])]
    """
    ins: dict[str, Any] = {"X": call.x}
    attrs: dict[str, Any] = {"out_dtype": as_dtype(call.dtype)}
    if is_variable(call.maxlen):
        ins["MaxLenTensor"] = call.maxlen
    else:
        attrs["maxlen"] = -1 if call.maxlen is None else call.maxlen
    out = f.new_variable()
    f.into("sequence_mask", ins, {"Y": out}, **attrs)
    return stopped(out)
