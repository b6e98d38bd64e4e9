"""What moves along a dimension: sums of all that went before, and elements that change places."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .operator_layers import Layer, same_shape
from .reshaping import reshape
from .sizes import integers

cumsum: Layer = same_shape("""
    cumsum(x, axis=None, exclusive=None, reverse=None)

    >>> fluid.layers.cumsum(fluid.data("x", [None, 4]), axis=0, reverse=True).shape
    (-1, 4)
""")


@layer
def roll(
    f: LayerBuilder,
    input: Variable,
    shifts: int | Sequence[int],
    dims: int | Sequence[int] | None = None,
) -> Variable:
    """The elements moved along dimensions; what falls off one end comes back at the other.

    Args:
        input: a variable.
        shifts: how far, for each of ``dims``.
        dims: the dimensions, which may count from the end; when None, elements move through the
            rows of the whole variable, which must have a known shape.

    Returns:
        A variable of the shape of ``input``.

    Raises:
        ArgumentError: ``dims`` is None, and a size that the result needs is unknown.

    >>> fluid.layers.roll(fluid.data("x", [None, 4]), shifts=1, dims=-1).shape
    (-1, 4)
    """
    by = integers(shifts, "shifts")
    if dims is not None:
        return f.roll(input, shifts=by, dims=integers(dims, "dims"))
    if input.shape.count(-1) > 1:
        raise ArgumentError(
            f"expected dims, or an input with at most one unknown size, got shape "
            f"{list(input.shape)}"
        )
    return reshape(f.roll(reshape(input, [-1]), shifts=by, dims=[0]), list(input.shape))
