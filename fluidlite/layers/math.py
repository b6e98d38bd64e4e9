"""Sums, differences, products and quotients of variables."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.variable import Variable
from .layer import LayerBuilder, layer, stopped, variables_of


@layer(act=True)
def elementwise_add(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x + y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_add(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_add(x, y, axis=axis)


@layer(act=True)
def elementwise_sub(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x - y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_sub(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_sub(x, y, axis=axis)


@layer(act=True)
def elementwise_mul(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x * y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_mul(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_mul(x, y, axis=axis)


@layer(act=True)
def elementwise_div(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x / y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_div(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_div(x, y, axis=axis)


@layer(act=True)
def elementwise_max(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The larger of ``x`` and ``y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_max(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_max(x, y, axis=axis)


@layer(act=True)
def elementwise_min(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The smaller of ``x`` and ``y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_min(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_min(x, y, axis=axis)


@layer(act=True)
def elementwise_pow(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``x`` to the power of ``y``, for each element.

    Args:
        x: a variable of numbers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4]), fluid.data("y", [3])
    >>> fluid.layers.elementwise_pow(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_pow(x, y, axis=axis)


@layer(act=True)
def elementwise_mod(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The remainder of ``x / y``, with the sign of ``y``, for each element.

    Args:
        x: a variable of integers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4], "int64"), fluid.data("y", [3], "int64")
    >>> fluid.layers.elementwise_mod(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_mod(x, y, axis=axis)


@layer(act=True)
def elementwise_floordiv(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    axis: int = -1,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The largest integer that is not above ``x / y``, for each element.

    Args:
        x: a variable of integers.
        y: of the element type of ``x``; its dimensions are those of ``x`` from ``axis`` on, and
            its sizes equal those of ``x`` or are 1.
        axis: where ``y`` begins in ``x``; -1 for the place where both end together.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> x, y = fluid.data("x", [2, 3, 4], "int64"), fluid.data("y", [3], "int64")
    >>> fluid.layers.elementwise_floordiv(x, y, axis=1).shape
    (2, 3, 4)
    """
    return f.elementwise_floordiv(x, y, axis=axis)


@layer
def mul(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    x_num_col_dims: int = 1,
    y_num_col_dims: int = 1,
    name: str | None = None,
) -> Variable:
    """The product of the matrices that ``x`` and ``y`` are flattened to.

    Args:
        x, y: float variables.
        x_num_col_dims: so many first dimensions of ``x`` are its rows, the others its columns.
        y_num_col_dims: the same for ``y``.
        name: of the layer.

    Returns:
        A variable of the row sizes of ``x``, then the column sizes of ``y``.

    Raises:
        ShapeError: ``x`` has not as many columns as ``y`` has rows.

    >>> x, y = fluid.data("x", [None, 5, 6]), fluid.data("y", [6, 7])
    >>> fluid.layers.mul(x, y, x_num_col_dims=2).shape
    (-1, 5, 7)
    """
    return f.mul(x, y, x_num_col_dims=x_num_col_dims, y_num_col_dims=y_num_col_dims)


@layer
def matmul(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    transpose_x: bool = False,
    transpose_y: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> Variable:
    """``alpha`` times the product of the matrices in the last two dimensions of ``x`` and ``y``.

    Args:
        x, y: float variables; a vector ``x`` is a row, a vector ``y`` a column.  The dimensions
            before the last two are aligned at the end, and sizes of 1 stretch.
        transpose_x, transpose_y: swap the last two dimensions of ``x`` or ``y``.
        alpha: factor of the product.
        name: of the layer.

    Returns:
        A variable with a product for each of the dimensions in front; of shape [1] for two
        vectors.

    Raises:
        ShapeError: ``x`` has not as many columns as ``y`` has rows.

    >>> x, y = fluid.data("x", [8, 2, 3]), fluid.data("y", [8, 5, 3])
    >>> fluid.layers.matmul(x, y, transpose_y=True).shape
    (8, 2, 5)
    """
    return f.matmul(x, y, transpose_X=transpose_x, transpose_Y=transpose_y, alpha=alpha)


@layer(act=True)
def scale(
    f: LayerBuilder,
    x: Variable,
    scale: float | Variable = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """``scale * x + bias``, for each element.

    Args:
        x: a variable of numbers.
        scale: a number, or a variable of one element.
        bias: a number.
        bias_after_scale: False for ``scale * (x + bias)``.
        act: the activation.
        name: of the layer.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.scale(fluid.data("x", [None, 4]), scale=2.0, bias=1.0).shape
    (-1, 4)
    """
    more = {"bias": bias, "bias_after_scale": bias_after_scale}
    if isinstance(scale, Variable):
        return f.scale(x, stopped(scale), **more)
    return f.scale(x, scale=scale, **more)


@layer
def sum(f: LayerBuilder, x: Variable | Sequence[Variable]) -> Variable:
    """The sum of variables, element by element.

    Args:
        x: a variable or a list of them, all of one shape.

    Returns:
        A variable of that shape.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.sum([x, y]).shape
    (-1, 4)
    """
    return f.sum(variables_of(x, "x"))


@layer("sum")
def sums(
    f: LayerBuilder, input: Variable | Sequence[Variable], out: Variable | None = None
) -> Variable:
    """The sum of variables, element by element, in a variable that may be given.

    Args:
        input: a variable or a list of them, all of one shape.
        out: the variable to write to; a new one when None.

    Returns:
        ``out``, or the new variable.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.sums([x, y], out=x) is x
    True
    """
    out = f.result(out)
    f.into("sum", {"X": variables_of(input, "input")}, {"Out": out})
    return out
