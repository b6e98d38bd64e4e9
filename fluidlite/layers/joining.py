"""Several variables made one, and one made several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..ground.callsite import warn
from ..ground.dtypes import Kind
from ..ir.variable import Variable
from ..opdef.spec import normal_axis
from .layer import LayerBuilder, is_variable, layer, stopped, variables_of
from .sizes import Given, integer, sizes_of


@layer
def concat(
    f: LayerBuilder,
    input: Variable | Sequence[Variable],
    axis: int | Variable = 0,
    name: str | None = None,
) -> Variable:
    """Variables one after the other along a dimension.

    Args:
        input: a variable or a list of them, of equal sizes but for that dimension; or one array of
            tensors, which are joined.
        axis: the dimension, which may count from the end; a number or an integer variable of one
            element.

    Returns:
        A variable whose size along ``axis`` is the sum of theirs.

    Raises:
        ShapeError: other sizes differ.

    >>> x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 4])
    >>> fluid.layers.concat([x, y], axis=1).shape
    (-1, 7)
    """
    array = _array_in(input)
    if array is not None:
        if is_variable(axis):
            raise ArgumentError(
                f"expected axis to be a number where an array of tensors is joined, got the "
                f"variable {axis.name!r}"
            )
        return f.tensor_array_to_tensor(array, axis=axis, use_stack=False)[0]
    if not isinstance(input, (list, tuple)):
        what = f"variable {input.name!r}" if is_variable(input) else f"{input!r:.60}"
        warn(
            f"concat joins a list of variables, got the one {what}: there is nothing to join", None
        )
    return f.concat(variables_of(input, "input"), **_along(axis))


def _array_in(given: Any) -> Variable | None:
    """The array of tensors that is given in place of a list of variables.

    Raises:
        ArgumentError: it is one of several.
    """
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    for variable in listed:
        if isinstance(variable, Variable) and variable.kind is Kind.LOD_TENSOR_ARRAY:
            if len(listed) > 1:
                raise ArgumentError(
                    f"expected variables, or one array of tensors, got the array {variable.name!r} "
                    f"among {len(listed)} of them; read its elements: layers.array_read(...)"
                )
            return variable
    return None


def _along(axis: int | Variable) -> dict[str, Any]:
    """A dimension as the attribute, or as the input, of an operator."""
    return {"AxisTensor": stopped(axis)} if is_variable(axis) else {"axis": axis}


@layer
def split(
    f: LayerBuilder,
    input: Variable,
    num_or_sections: int | Given,
    dim: int | Variable = -1,
    name: str | None = None,
) -> list[Variable]:
    """The parts of a variable along a dimension.

    Args:
        input: a variable.
        num_or_sections: how many parts of equal size; or their sizes, one of which may be -1 and
            takes what is left, and some of which may be integer variables of one element.
        dim: the dimension, which may count from the end; a number or an integer variable of one
            element.

    Returns:
        A list of variables.

    Raises:
        ArgumentError: ``num_or_sections`` is neither a positive number nor a list.
        ShapeError: the size is no multiple of the number of parts, or not the sum of the sizes.

    >>> parts = fluid.layers.split(fluid.data("x", [None, 6]), [1, 2, -1], dim=1)
    >>> [part.shape for part in parts]
    [(-1, 1), (-1, 2), (-1, 3)]
    """
    axis = dim if is_variable(dim) else normal_axis(dim, input.ndim, "dim")
    ins: dict[str, Any] = {"X": input}
    if isinstance(num_or_sections, (list, tuple)):
        sections = sizes_of(f, num_or_sections, "num_or_sections")
        ins["SectionsTensorList"] = sections.each
        count, attrs = len(num_or_sections), {"num": 0, "sections": sections.numbers}
    else:
        count = integer(num_or_sections, "num_or_sections")
        if count < 1:
            raise ArgumentError(f"expected num_or_sections of at least 1, got {count}")
        attrs = {"num": count, "sections": []}
    where = _along(axis)
    ins["AxisTensor"] = where.pop("AxisTensor", None)
    parts = [f.new_variable() for _ in range(count)]
    f.into("split", ins, {"Out": parts}, **attrs, **where)
    return parts


@layer
def stack(f: LayerBuilder, x: Variable | Sequence[Variable], axis: int = 0) -> Variable:
    """Variables beside each other along a new dimension.

    Args:
        x: a variable or a list of them, or one array of tensors, all of one shape.
        axis: where the new dimension is in the result; may count from the end.

    Returns:
        A variable with one dimension more, of the size of the list.

    Raises:
        ShapeError: their shapes differ.

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.stack([x, y], axis=1).shape
    (-1, 2, 4)
    """
    array = _array_in(x)
    if array is not None:
        return f.tensor_array_to_tensor(array, axis=axis, use_stack=True)[0]
    parts, out = variables_of(x, "x"), f.new_variable()
    f.into("stack", {"X": parts}, {"Y": out}, axis=axis)
    return out


@layer
def unstack(f: LayerBuilder, x: Variable, axis: int = 0, num: int | None = None) -> list[Variable]:
    """The slices of a variable along a dimension, which they lack.

    Args:
        x: a variable.
        axis: the dimension; may count from the end.
        num: its size; that of ``x`` when None.

    Returns:
        A list of variables.

    Raises:
        ShapeError: the size along ``axis`` is unknown, or is not ``num``.

    >>> [part.shape for part in fluid.layers.unstack(fluid.data("x", [2, 4]))]
    [(4,), (4,)]
    """
    known = x.shape[normal_axis(axis, x.ndim)]
    count = known if num is None else num
    if count < 1:
        raise ShapeError(
            f"expected the size of {x.name!r} along axis {axis} to be known, got shape "
            f"{list(x.shape)}; say it by num"
        )
    parts = [f.new_variable() for _ in range(count)]
    f.into("unstack", {"X": x}, {"Y": parts}, axis=axis, num=count)
    return parts
