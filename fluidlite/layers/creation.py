"""Variables made from numbers and arrays: constants, copies, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, DTypeError
from ..ground import state
from ..ground.dtypes import DType, as_dtype
from ..ir.variable import Variable
from .joining import stack
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped
from .math import cast
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .sizes import Given, Sizes, integer, sizes_of

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike

Number = float | Variable

#: variables that are filled, with a shape that is given or that of ``input``
FILLED = LAYERS.extended(
    {
        "shape": "sizes, some of which may be integer variables of one element; or one integer "
        "variable that holds them all.",
        "dtype": "element type.",
        "value": "the number.",
        "fill_value": "the number.",
        "x": "a variable.",
        "input": "a variable.",
        "input_dim_idx": "the dimension of ``input`` whose size is taken.",
        "output_dim_idx": "the dimension that gets it.",
    },
    returns="A variable of that shape, at which gradients stop.",
)
_filled = OperatorLayers(FILLED)


@layer(family=FILLED)
def fill_constant(
    f: LayerBuilder,
    shape: Given,
    dtype: DTypeLike,
    value: Number,
    force_cpu: bool = False,
    out: Variable | None = None,
) -> Variable:
    """One number everywhere.

    Args:
        value: the number, or a variable of one element.

    Raises:
        DTypeError: ``out`` has another element type.

    >>> fluid.layers.fill_constant([2, 3], "float32", 1.5).shape
    (2, 3)
    """
    dtype = as_dtype(dtype)
    if state.builds.get():
        unique_name.generate("fill_constant")  # paddle 2 counts it twice
    out = f.result(out, dtype)
    if out.has_dtype and out.dtype is not dtype:
        raise DTypeError(
            f"expected an out of {dtype}, the element type to fill with, got {out.name!r} of "
            f"{out.dtype}"
        )
    sizes = shape_of(f, shape)
    ins = {"ShapeTensor": sizes.whole, "ShapeTensorList": sizes.each}
    if is_variable(value):
        number: dict[str, Any] = {}
        ins["ValueTensor"] = value
    else:
        number = _number(value, dtype)
    f.into(
        "fill_constant",
        ins,
        {"Out": out},
        shape=sizes.numbers,
        dtype=dtype,
        force_cpu=force_cpu,
        **number,
    )
    return stopped(out)


def shape_of(f: LayerBuilder, shape: Given) -> Sizes:
    """A shape for operators that take its sizes as int32 variables.

    Args:
        f: the layer.
        shape: sizes, as of ``fill_constant``.
    """
    return sizes_of(
        f,
        shape,
        "shape",
        constant=lambda n: fill_constant([1], DType.INT32, n, force_cpu=True),
        convert=lambda n: n if n.dtype is DType.INT32 else cast(n, DType.INT32),
    )


def _number(value: Any, dtype: DType) -> dict[str, Any]:
    """The attributes that say a number, exact where a C float is not."""
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:
        value = value.item()
    try:
        if dtype.is_complex:
            number = complex(value)
            exact: complex = number if number.imag else number.real
            return {"value": number.real, "str_value": str(exact)}
        exact = float(value) if dtype.is_float or dtype is DType.BOOL else int(value)
        return {"value": float(value), "str_value": str(exact)}
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"expected a number of {dtype} for value, got {value!r:.60}") from None


def _value(dtype: DTypeLike, value: float) -> dict[str, Any]:
    kind = as_dtype(dtype)
    return {"dtype": kind, **_number(value, kind)}


fill_constant_batch_size_like: Layer = OperatorLayers(FILLED, _value)(
    """
    fill_constant_batch_size_like(input, shape, dtype, value, input_dim_idx, output_dim_idx,
        force_cpu)

    Returns:
        A variable at which gradients stop.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.fill_constant_batch_size_like(x, [1, 5], "int64", 0).shape
    (-1, 5)
    """,
    is_stopped=True,
)


#: what layers of one number everywhere may be told besides
_FULL = "out, dtype: DTypeLike = None, device: str | None, stop_gradient: bool = True, name"


@_filled.signature(
    f"full(shape: Given, fill_value: float | Variable, {_FULL}) -> fill_constant", "full"
)
def full(f: LayerBuilder, call: LayerCall) -> Variable:
    """One number everywhere.

    Args:
        fill_value: the number, or a variable of one element.
        dtype: element type; float32 when None.

    Returns:
        A variable of that shape.

    Raises:
        DTypeError: ``out`` has another element type.

    >>> fluid.layers.full([2, 3], 1.5).shape
    (2, 3)
    """
    dtype = DType.FP32 if call.dtype is None else as_dtype(call.dtype)
    made = fill_constant(call.shape, dtype, call.fill_value, out=f.result(call.out, dtype))
    made.stop_gradient = call.stop_gradient
    return made


@_filled.signature(f"full_like(input: X, fill_value: float, {_FULL}) -> fill_any_like", "full_like")
def full_like(f: LayerBuilder, call: LayerCall) -> Variable:
    """One number everywhere, in the shape of ``input``.

    Args:
        dtype: element type; that of ``input`` when None.

    Returns:
        A variable of the shape of ``input``.

    >>> fluid.layers.full_like(fluid.data("x", [None, 4]), 1.5).shape
    (-1, 4)
    """
    dtype = call.input.dtype if call.dtype is None else as_dtype(call.dtype)
    out = f.result(call.out)
    outs = {"Out": out}
    f.into("fill_any_like", call.ins, outs, value=float(call.fill_value), dtype=dtype)
    out.stop_gradient = call.stop_gradient
    return out


@FILLED
def zeros(shape: Given, dtype: DTypeLike, force_cpu: bool = False) -> Variable:
    """0 everywhere.

    >>> fluid.layers.zeros([2, 3], "float32").shape
    (2, 3)
    """
    return fill_constant(shape, dtype, 0.0, force_cpu)


@FILLED
def ones(shape: Given, dtype: DTypeLike, force_cpu: bool = False) -> Variable:
    """1 everywhere.

    >>> fluid.layers.ones([2, 3], "float32").shape
    (2, 3)
    """
    return fill_constant(shape, dtype, 1.0, force_cpu)


zeros_like: Layer = _filled(
    """
    zeros_like(x, out) -> fill_zeros_like

    >>> fluid.layers.zeros_like(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """,
    is_stopped=True,
)
ones_like: Layer = _filled(
    """
    ones_like(x, out) -> fill_any_like

    1 everywhere, in the shape of ``x``.

    Returns:
        A variable of the shape and element type of ``x``.

    >>> fluid.layers.ones_like(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """,
    value=1.0,
)


@layer("eye")
def _identity(f: LayerBuilder, num_rows: int, num_columns: int, dtype: Any) -> Variable:
    made: Variable = f.eye(num_rows=num_rows, num_columns=num_columns, dtype=dtype)
    return stopped(made)


def eye(
    num_rows: int,
    num_columns: int | None = None,
    batch_shape: Sequence[int] | None = None,
    dtype: DTypeLike = "float32",
) -> Variable:
    """1 where row and column are the same, 0 elsewhere.

    Args:
        num_rows: how many rows.
        num_columns: how many columns; as many as rows when None.
        batch_shape: sizes in front of those two, along which the matrix is repeated.
        dtype: element type.

    Returns:
        A variable of shape [*batch_shape, num_rows, num_columns].

    >>> fluid.layers.eye(2, 3, batch_shape=[4]).shape
    (4, 2, 3)
    """
    made = _identity(num_rows, num_rows if num_columns is None else num_columns, dtype)
    for size in reversed(batch_shape or ()):
        made = stack([made] * integer(size, "batch_shape"))
    return made


def range(start: Number, end: Number, step: Number, dtype: DTypeLike) -> Variable:
    """``start``, ``start + step``, ``start + 2 * step``, ... as long as they lie before ``end``.

    Args:
        start, end, step: numbers, or variables of one element.
        dtype: element type.

    Returns:
        A variable of one dimension of unknown size, at which gradients stop.

    >>> fluid.layers.range(0, 10, 2, "int64").shape
    (-1,)
    """
    return arange(start, end, step, dtype)


@operator_layer.signature(
    """
    arange(start: float | Variable, end: float | Variable, step: float | Variable = 1,
        dtype: DTypeLike = None, name) -> range
    """
)
def arange(f: LayerBuilder, call: LayerCall) -> Variable:
    """``start``, ``start + step``, ``start + 2 * step``, ... as long as they lie before ``end``.

    Args:
        start, end, step: numbers, or variables of one element.
        dtype: element type; float32 when None.

    Returns:
        A variable of one dimension of unknown size, at which gradients stop.

    >>> fluid.layers.arange(0, 10, 2, dtype="int64").shape
    (-1,)
    """
    dtype = DType.FP32 if call.dtype is None else as_dtype(call.dtype)
    numbers = [
        (cast(n, dtype) if n.dtype is not dtype else n)
        if is_variable(n)
        else fill_constant([1], dtype, n)
        for n in (call.start, call.end, call.step)
    ]
    made: Variable = f.range(*numbers)
    return stopped(made)


@layer
def linspace(
    f: LayerBuilder, start: Number, stop: Number, num: int | Variable, dtype: DTypeLike
) -> Variable:
    """Numbers from ``start`` to ``stop``, both included, at equal distances.

    Args:
        start, stop: numbers, or variables of one element of type ``dtype``.
        num: how many; a number or an int32 variable of one element.
        dtype: float32 or float64.

    Returns:
        A variable of one dimension of unknown size.

    >>> fluid.layers.linspace(0.0, 1.0, 5, "float32").shape
    (-1,)
    """
    ends = [n if is_variable(n) else fill_constant([1], dtype, n) for n in (start, stop)]
    count = num if is_variable(num) else fill_constant([1], DType.INT32, num)
    return f.linspace(*ends, count)


#: element types of arrays that can be written into a program -> the attribute
_LISTS = {
    DType.BOOL: "bool_values",
    DType.FP32: "fp32_values",
    DType.INT32: "int32_values",
    DType.INT64: "int64_values",
}


@layer
def assign(
    f: LayerBuilder, input: Variable | np.ndarray[Any, Any], output: Variable | None = None
) -> Variable:
    """A copy of a variable, or the elements of an array.

    Args:
        input: a variable; or a NumPy array of bool, float32, int32 or int64, whose elements are
            written into the program.
        output: the variable to write to; a new one when None.

    Returns:
        A variable of the shape and element type of ``input``.

    Raises:
        ArgumentError: ``input`` is neither.
        DTypeError: the array has another element type.

    >>> fluid.layers.assign(np.ones([2, 3], "float32")).shape
    (2, 3)
    """
    if is_variable(input):
        out = f.result(output)
        f.into("assign", {"X": input}, {"Out": out})
        return out
    if not isinstance(input, np.ndarray):
        raise ArgumentError(
            f"expected input to be a variable or an array, got {input!r:.60} of type "
            f"{type(input).__name__}; make it one: np.array(..., 'float32')"
        )
    dtype = as_dtype(input.dtype)
    if dtype not in _LISTS:
        known = ", ".join(map(str, _LISTS))
        raise DTypeError(
            f"expected an array of {known}, which can be written into a program, got {dtype}; "
            f"convert it: array.astype('float32')"
        )
    element = float if dtype.is_float else int
    values = {_LISTS[dtype]: [element(n) for n in input.reshape(-1).tolist()]}
    out = f.result(output)
    f.into("assign_value", {}, {"Out": out}, shape=input.shape, dtype=dtype, **values)
    return out
