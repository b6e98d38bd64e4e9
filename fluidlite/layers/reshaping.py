"""Other shapes of the same elements, other orders, repetitions, and shapes as values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..ir.variable import Variable
from ..opdef.spec import resolved
from .creation import assign
from .layer import LayerBuilder, is_variable, layer
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer, same_shape
from .sizes import Given, integer, sizes_of


@operator_layer.signature("""
    reshape(x, shape: Given, actual_shape: Variable | None, act, inplace: bool = False,
        name) -> reshape2
""")
def reshape(f: LayerBuilder, call: LayerCall) -> Variable:
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
    sizes = sizes_of(f, call.shape, "shape")
    x, actual_shape = call.x, call.actual_shape
    whole = actual_shape if sizes.whole is None else sizes.whole
    outs = {"Out": x if call.inplace else f.new_variable(), "XShape": f.new_variable()}
    ins = {"X": x, "Shape": whole, "ShapeTensor": sizes.each}
    declared = None
    if actual_shape is not None and sizes.are_known and isinstance(x, Variable) and x.has_shape:
        declared = resolved(sizes.numbers, x.shape)
    f.into("reshape2", ins, outs, shape=sizes.numbers)
    if declared is not None:
        outs["Out"].redeclare(declared)
    return outs["Out"]


transpose: Layer = operator_layer("""
    transpose(x, perm: axis, name) -> transpose2

    Raises:
        ShapeError: ``perm`` does not name each dimension once.

    >>> fluid.layers.transpose(fluid.data("x", [None, 3, 4]), [0, 2, 1]).shape
    (-1, 4, 3)
""")


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


squeeze: Layer = operator_layer("""
    squeeze(input: X, axes=..., name) -> squeeze2

    >>> fluid.layers.squeeze(fluid.data("x", [None, 1, 4]), axes=[1]).shape
    (-1, 4)
""")


def _where(f: LayerBuilder, axes: int | Given) -> dict[str, Any]:
    if not is_variable(axes) and not isinstance(axes, (list, tuple)):
        axes = [integer(axes, "axes")]
    where = sizes_of(f, axes, "axes")
    known = where.numbers if where.are_known else []
    return {"axes": known, "AxesTensor": where.whole, "AxesTensorList": where.each}


unsqueeze: Layer = OperatorLayers(convert=_where)(
    """
    unsqueeze(input: X, axes, name) -> unsqueeze2

    Args:
        axes: where the new dimensions are in the result: an integer; a list of integers, some of
            which may be integer variables of one element; or one integer variable.

    Returns:
        A variable with more dimensions.

    >>> fluid.layers.unsqueeze(fluid.data("x", [None, 4]), axes=[1, 3]).shape
    (-1, 1, 4, 1)
    """,
    stem="unsqueeze2",
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


def _times(f: LayerBuilder, expand_times: Given) -> dict[str, Any]:
    times = sizes_of(f, expand_times, "expand_times")
    slots = {"ExpandTimes": times.whole, "expand_times_tensor": times.each}
    return {**slots, "expand_times": times.numbers}


expand: Layer = OperatorLayers(convert=_times)("""
    expand(x, expand_times, name)

    Args:
        expand_times: how often, for each dimension; some may be integer variables of one element;
            or one integer variable that holds them all.

    Returns:
        A variable of the sizes of ``x`` times ``expand_times``.

    Raises:
        ShapeError: there is not one number for each dimension.

    >>> fluid.layers.expand(fluid.data("x", [None, 4]), [1, 3]).shape
    (-1, 12)
""")
expand_as: Layer = operator_layer("""
    expand_as(x, target_tensor, name)

    >>> x, y = fluid.data("x", [1, 4]), fluid.data("y", [3, 8])
    >>> fluid.layers.expand_as(x, y).shape
    (3, 8)
""")
reverse: Layer = same_shape("""
    reverse(x, axis)

    >>> fluid.layers.reverse(fluid.data("x", [None, 4]), axis=1).shape
    (-1, 4)
""")
flip: Layer = same_shape(
    """
    flip(input: X, dims, name)

    >>> fluid.layers.flip(fluid.data("x", [None, 4]), dims=[1]).shape
    (-1, 4)
    """,
    is_named=True,
)
shape: Layer = operator_layer("""
    shape(input)

    >>> fluid.layers.shape(fluid.data("x", [None, 4])).shape
    (2,)
""")
size: Layer = operator_layer("""
    size(input)

    >>> fluid.layers.size(fluid.data("x", [None, 4])).dtype
    VarType.INT64
""")


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


meshgrid: Layer = operator_layer("""
    meshgrid(input: X, name)

    >>> x, y = fluid.data("x", [3]), fluid.data("y", [5])
    >>> [v.shape for v in fluid.layers.meshgrid([x, y])]
    [(3, 5), (3, 5)]
""")
