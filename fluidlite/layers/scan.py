"""What moves along a dimension: sums of all that went before, and elements that change places."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .reshaping import reshape
from .sizes import integers


@layer
def cumsum(
    f: LayerBuilder,
    x: Variable,
    axis: int | None = None,
    exclusive: bool | None = None,
    reverse: bool | None = None,
) -> Variable:
    """The sums of all elements up to each one, along a dimension.

    Args:
        x: a variable of numbers.
        axis: the dimension; the last one when None.
        exclusive: leave each element out of its own sum.
        reverse: sum from the end.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.cumsum(fluid.data("x", [None, 4]), axis=0, reverse=True).shape
    (-1, 4)
    """
    given = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    return f.cumsum(x, **{name: value for name, value in given.items() if value is not None})


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
