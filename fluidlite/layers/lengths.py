"""Lengths of sequences as masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ground.dtypes import as_dtype
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


@layer
def sequence_mask(
    f: LayerBuilder,
    x: Variable,
    maxlen: int | Variable | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Variable:
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
    ins: dict[str, Any] = {"X": x}
    attrs: dict[str, Any] = {"out_dtype": as_dtype(dtype)}
    if is_variable(maxlen):
        ins["MaxLenTensor"] = maxlen
    else:
        attrs["maxlen"] = -1 if maxlen is None else maxlen
    out = f.new_variable()
    f.into("sequence_mask", ins, {"Y": out}, **attrs)
    return stopped(out)
