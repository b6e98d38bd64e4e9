"""Other shapes of the same elements, other orders, repetitions, and shapes as values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..ir.variable import Variable
from ..opdef.spec import resolved
from .creation import assign
from .layer import LayerBuilder, is_variable, layer, variables_of
from .sizes import Given, integer, integers, sizes_of


@layer("reshape2", act=True)
def reshape(
    f: LayerBuilder,
    x: Variable,
    shape: Given,
    actual_shape: Variable | None = None,
    act: str | None = None,
    inplace: bool = False,
    name: str | None = None,
) -> Variable:
    """The elements of ``x``, in their order, in another shape.

    Args:
        x: a variable.
        shape: sizes; 0 copies the size of ``x`` there, one size may be -1 and takes what is left,
            and some may be integer variables of one element; or one integer variable that holds
            them all.
        actual_shape: a variable that holds the shape when run, where ``shape`` is no variable; the
            result is declared as ``shape`` says.
        inplace: write to ``x``.

    Returns:
        A variable of that shape.

    Raises:
        ShapeError: the number of elements would change, or two sizes are -1.

    >>> x = fluid.data("x", [None, 3, 4])
    >>> fluid.layers.reshape(x, [-1, 12]).shape
    (-1, 12)
    """
    sizes = sizes_of(f, shape, "shape")
    whole = actual_shape if sizes.whole is None else sizes.whole
    outs = {"Out": x if inplace else f.new_variable(), "XShape": f.new_variable()}
    ins = {"X": x, "Shape": whole, "ShapeTensor": sizes.each}
    declared = None
    if actual_shape is not None and sizes.are_known and isinstance(x, Variable) and x.has_shape:
        declared = resolved(sizes.numbers, x.shape)
    f.into("reshape2", ins, outs, shape=sizes.numbers)
    if declared is not None:
        outs["Out"].redeclare(declared)
    return outs["Out"]


@layer
def transpose(
    f: LayerBuilder, x: Variable, perm: Sequence[int], name: str | None = None
) -> Variable:
    """``x`` with its dimensions in another order.

    Args:
        x: a variable.
        perm: dimension i of the result is dimension perm[i] of ``x``.

    Returns:
        A variable with the sizes of ``x`` in the order ``perm``.

    Raises:
        ShapeError: ``perm`` does not name each dimension once.

    >>> fluid.layers.transpose(fluid.data("x", [None, 3, 4]), [0, 2, 1]).shape
    (-1, 4, 3)
    """
    return f.transpose2(x, axis=integers(perm, "perm"))


@layer
def t(f: LayerBuilder, input: Variable, name: str | None = None) -> Variable:
    """The transposed matrix; a vector as it is.

    Args:
        input: a variable of at most 2 dimensions.

    Returns:
        A variable with the sizes of ``input`` in reverse order.

    Raises:
        ShapeError: there are more dimensions.

    >>> fluid.layers.t(fluid.data("x", [3, 4])).shape
    (4, 3)
    """
    if input.ndim > 2:
        raise ShapeError(
            f"expected a matrix or a vector, got {input.name!r} of shape {list(input.shape)}; "
            f"transpose takes any number of dimensions"
        )
    return f.transpose2(input, axis=[1, 0]) if input.ndim == 2 else input


@layer
def squeeze(
    f: LayerBuilder, input: Variable, axes: Sequence[int], name: str | None = None
) -> Variable:
    """``input`` without some dimensions of size 1.

    Args:
        input: a variable.
        axes: the dimensions, which may count from the end; all of size 1 when empty.

    Returns:
        A variable with fewer dimensions.

    >>> fluid.layers.squeeze(fluid.data("x", [None, 1, 4]), axes=[1]).shape
    (-1, 4)
    """
    return f.squeeze2(input, axes=integers(axes, "axes"))


@layer("unsqueeze2")
def unsqueeze(
    f: LayerBuilder, input: Variable, axes: int | Given, name: str | None = None
) -> Variable:
    """``input`` with dimensions of size 1 put in.

    Args:
        input: a variable.
        axes: where the new dimensions are in the result: an integer; a list of integers, some of
            which may be integer variables of one element; or one integer variable.

    Returns:
        A variable with more dimensions.

    >>> fluid.layers.unsqueeze(fluid.data("x", [None, 4]), axes=[1, 3]).shape
    (-1, 1, 4, 1)
    """
    if not is_variable(axes) and not isinstance(axes, (list, tuple)):
        axes = [integer(axes, "axes")]
    where = sizes_of(f, axes, "axes")
    return f.unsqueeze2(
        input,
        axes=where.numbers if where.are_known else [],
        AxesTensor=where.whole,
        AxesTensorList=where.each,
    )


@layer
def flatten(f: LayerBuilder, x: Variable, axis: int = 1, name: str | None = None) -> Variable:
    """The elements of ``x``, in their order, as a matrix.

    Args:
        x: a variable.
        axis: so many first dimensions of ``x`` are the rows, the others the columns.

    Returns:
        A variable of 2 dimensions.

    Raises:
        ArgumentError: ``x`` has not so many dimensions.

    >>> fluid.layers.flatten(fluid.data("x", [None, 3, 4])).shape
    (-1, 12)
    """
    if axis not in range(x.ndim + 1):
        raise ArgumentError(
            f"expected axis from 0 to {x.ndim}, the number of dimensions of {x.name!r}, got "
            f"{axis!r}"
        )
    return f.flatten2(x, axis=axis)


@layer
def expand(f: LayerBuilder, x: Variable, expand_times: Given, name: str | None = None) -> Variable:
    """``x`` repeated along its dimensions.

    Args:
        x: a variable.
        expand_times: how often, for each dimension; some may be integer variables of one element;
            or one integer variable that holds them all.

    Returns:
        A variable of the sizes of ``x`` times ``expand_times``.

    Raises:
        ShapeError: there is not one number for each dimension.

    >>> fluid.layers.expand(fluid.data("x", [None, 4]), [1, 3]).shape
    (-1, 12)
    """
    times = sizes_of(f, expand_times, "expand_times")
    return f.expand(
        x, expand_times=times.numbers, ExpandTimes=times.whole, expand_times_tensor=times.each
    )


@layer
def expand_as(
    f: LayerBuilder, x: Variable, target_tensor: Variable, name: str | None = None
) -> Variable:
    """``x`` repeated along its dimensions to the shape of another variable.

    Args:
        x: a variable.
        target_tensor: gives the shape, whose sizes are multiples of those of ``x``.

    Returns:
        A variable of the shape of ``target_tensor``.

    >>> x, y = fluid.data("x", [1, 4]), fluid.data("y", [3, 8])
    >>> fluid.layers.expand_as(x, y).shape
    (3, 8)
    """
    return f.expand_as(x, target_tensor)


@layer
def reverse(f: LayerBuilder, x: Variable, axis: int | Sequence[int]) -> Variable:
    """``x`` in the opposite order along some dimensions.

    Args:
        x: a variable.
        axis: a dimension or a list of them; may count from the end.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.reverse(fluid.data("x", [None, 4]), axis=1).shape
    (-1, 4)
    """
    return f.reverse(x, axis=integers(axis, "axis"))


@layer
def flip(
    f: LayerBuilder, input: Variable, dims: Sequence[int], name: str | None = None
) -> Variable:
    """``input`` in the opposite order along some dimensions.

    Args:
        input: a variable.
        dims: a list of dimensions; may count from the end.
        name: of the result.

    Returns:
        A variable of the shape of ``input``.

    >>> fluid.layers.flip(fluid.data("x", [None, 4]), dims=[1]).shape
    (-1, 4)
    """
    out = f.named_result()
    f.into("flip", {"X": input}, {"Out": out}, dims=integers(dims, "dims"))
    return out


@layer
def shape(f: LayerBuilder, input: Variable) -> Variable:
    """The shape of a variable when the program runs.

    Args:
        input: a variable.

    Returns:
        An int32 variable with an element for each dimension.

    >>> fluid.layers.shape(fluid.data("x", [None, 4])).shape
    (2,)
    """
    return f.shape(input)


@layer
def size(f: LayerBuilder, input: Variable) -> Variable:
    """The number of elements of a variable when the program runs.

    Args:
        input: a variable.

    Returns:
        An int64 variable of one element.

    >>> fluid.layers.size(fluid.data("x", [None, 4])).dtype
    VarType.INT64
    """
    return f.size(input)


@layer
def rank(f: LayerBuilder, input: Variable) -> Variable:
    """The number of dimensions of a variable.

    Args:
        input: a variable.

    Returns:
        An int32 variable of shape [].

    >>> fluid.layers.rank(fluid.data("x", [None, 4])).shape
    ()
    """
    return assign(np.array(input.ndim, "int32"))


@layer
def meshgrid(f: LayerBuilder, input: Sequence[Variable], name: str | None = None) -> list[Variable]:
    """The coordinates of all points of a grid.

    Args:
        input: a vector of coordinates for each dimension.

    Returns:
        A variable for each dimension, whose shape has the sizes of all vectors.

    >>> x, y = fluid.data("x", [3]), fluid.data("y", [5])
    >>> [v.shape for v in fluid.layers.meshgrid([x, y])]
    [(3, 5), (3, 5)]
    """
    return f.meshgrid(variables_of(input, "input"))
