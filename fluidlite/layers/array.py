"""Arrays of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, OutOfRangeError
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.state import in_dygraph_mode
from ..ir.program import default_main_program
from ..ir.variable import Variable, is_tensor
from .creation import assign, fill_constant
from .joining import concat, stack
from .layer import LayerBuilder, layer, stopped

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


def create_array(dtype: DTypeLike) -> Variable | Any:
    """An array that holds nothing yet: within ``dygraph.guard()`` a list of Python.

    Args:
        dtype: element type of the tensors.

    >>> fluid.layers.create_array("float32").kind.name
    'LOD_TENSOR_ARRAY'
    """
    if in_dygraph_mode():
        return []
    block = default_main_program().current_block()
    name = f"{unique_name.generate('array')}.out"
    return block.create_var(name=name, type=Kind.LOD_TENSOR_ARRAY, dtype=as_dtype(dtype))


def _checked(array: Any) -> Variable:
    if not isinstance(array, Variable) or array.kind is not Kind.LOD_TENSOR_ARRAY:
        raise ArgumentError(f"expected an array of tensors, got {array!r:.60}")
    return array


def _checked_list(array: Any) -> list[Any]:
    if not isinstance(array, list):
        raise ArgumentError(f"expected a list as an array of tensors, got {array!r:.60}")
    return array


def _checked_position(i: Any) -> Variable:
    if not isinstance(i, Variable) or i.dtype not in (DType.INT64, DType.INT32):
        found = i.dtype if isinstance(i, Variable) else f"{i!r:.60}"
        raise ArgumentError(
            f"expected the position in an array to be a variable of type int64, got {found}"
        )
    return i


def array_write(
    x: Variable, i: Variable, array: Variable | list[Any] | None = None
) -> Variable | Any:
    """The array with ``x`` at position ``i``.

    Args:
        x: what to write.
        i: a position: one integer.
        array: where; a new one when None.  A list of Python where ``x`` is a tensor.

    Raises:
        ArgumentError: ``array`` is no array, or ``i`` no integer.

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> x = fluid.layers.fill_constant([2], "float32", 5.0)
    >>> array = fluid.layers.array_write(x, i)
    >>> fluid.Executor().run(fetch_list=[fluid.layers.array_read(array, i)])
    [array([5., 5.], dtype=float32)]
    """
    if not is_tensor(x):
        return _array_write(x, i, None if array is None else _checked(array))
    listed = [] if array is None else _checked_list(array)
    place = int(i)
    if not 0 <= place <= len(listed):
        raise OutOfRangeError(
            f"expected a position in [0, {len(listed)}], up to the end of the array, got {place}"
        )
    listed[place : place + 1] = [x]
    return listed


@layer("array_write")
def _array_write(f: LayerBuilder, x: Variable, i: Variable, array: Variable | None) -> Variable:
    if array is None:
        array = f.block.create_var(name=f"{f.name}.out", type=Kind.LOD_TENSOR_ARRAY, dtype=x.dtype)
    f.into("write_to_array", {"X": x, "I": _checked_position(i)}, {"Out": _checked(array)})
    return array


def array_read(array: Variable | list[Any], i: Variable) -> Variable | Any:
    """The tensor at position ``i`` of an array.

    Args:
        array: an array; a list of Python where layers run at once.
        i: a position: one integer.

    Raises:
        ArgumentError: ``array`` is no array, or ``i`` no integer.

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([2], "float32", 5.0), i)
    >>> fluid.layers.array_read(array, i).shape
    (2,)
    """
    if not isinstance(array, list):
        return _array_read(array, i)
    place = int(i)
    if not 0 <= place < len(array):
        raise OutOfRangeError(f"expected a position in [0, {len(array)}), got {place}")
    return array[place]


@layer("array_read")
def _array_read(f: LayerBuilder, array: Variable, i: Variable) -> Variable:
    return f.read_from_array(_checked(array), _checked_position(i))


def array_length(array: Variable | list[Any]) -> Variable | Any:
    """How many tensors an array has: [1], int64.

    Args:
        array: an array; a list of Python where layers run at once.

    Raises:
        ArgumentError: ``array`` is no array.

    >>> i = fluid.layers.fill_constant([1], "int64", 3)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([2], "float32", 5.0), i)
    >>> fluid.Executor().run(fetch_list=[fluid.layers.array_length(array)])
    [array([4])]
    """
    if isinstance(array, list):
        return fill_constant([1], "int64", len(array))
    return _array_length(array)


@layer("array_length")
def _array_length(f: LayerBuilder, array: Variable) -> Variable:
    length = f.new_variable(DType.INT64)  # also of an array of which nothing is known yet
    f.into("lod_array_length", {"X": _checked(array)}, {"Out": length})
    length.declare(shape=[1], dtype=DType.INT64)
    return stopped(length)


def tensor_array_to_tensor(
    input: Variable | list[Any], axis: int = 1, name: str | None = None, use_stack: bool = False
) -> tuple[Any, Any]:
    """The tensors of an array as one, and the size of each along ``axis``, int32.

    Args:
        input: an array; a list of Python where layers run at once.
        axis: the dimension along which they are joined; may count from the end.
        name: of the layer.
        use_stack: whether ``axis`` is a new dimension, in which they lie one after the other.

    Raises:
        ArgumentError: ``input`` is no array.
        ShapeError: there is no such dimension.

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([2, 3], "float32", 5.0), i)
    >>> fluid.layers.tensor_array_to_tensor(array)[0].shape
    (2, -1)
    """
    if not isinstance(input, list):
        return _joined(input, axis, name, use_stack)
    sizes = [1 if use_stack else each.shape[axis] for each in input]
    whole = stack(input, axis) if use_stack else concat(input, axis)
    return whole, assign(np.array(sizes, "int32"))


@layer("tensor_array_to_tensor")
def _joined(
    f: LayerBuilder, input: Variable, axis: int, name: str | None, use_stack: bool
) -> tuple[Variable, Variable]:
    return f.tensor_array_to_tensor(_checked(input), axis=axis, use_stack=use_stack)
