"""Arithmetic and comparisons of two tensors, or of a tensor and a number.

Shapes broadcast from the last dimension.  Where element types differ, the spelling of the tensors
chooses one (:mod:`.mixing`).  A Python number takes the type of the tensor; a fraction makes a
float of integers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..ground.brain_float import kind_of
from ..ground.dtypes import as_dtype
from ..ground.spellings import of_operator, parameters_of
from ..opdef.operand import Operand
from .mixing import default_float, number_in, promotion_of, set_default_float, warn_of_narrowing

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from ..eager.tensor_core import TensorCore
    from .arguments import DTypeLike, Other

_BOOL = np.dtype("bool")
_BYTE = np.dtype("uint8")


def get_default_dtype() -> str:
    """The name of the element type that fractions get: "float32", unless it was set.

    >>> fluid.get_default_dtype()
    'float32'
    """
    return _name_of(default_float())


@functools.lru_cache
def _name_of(dtype: np.dtype[Any]) -> str:
    return dtype.name  # which NumPy puts together


def set_default_dtype(d: DTypeLike) -> None:
    """Set the element type that fractions get.

    Args:
        d: float16, float32 or float64.

    Raises:
        ArgumentError: another type.

    >>> fluid.set_default_dtype("float64")
    >>> fluid.to_tensor(0.5).dtype
    VarType.FP64
    >>> fluid.set_default_dtype("float32")
    """
    dtype = as_dtype(d)
    if not dtype.is_float:
        raise ArgumentError(f"expected float16, float32 or float64, got {dtype}")
    set_default_float(dtype.dtype)


def cast_to(x: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor or an array in another element type."""
    if isinstance(x, Operand):
        return eager.cast(x, in_dtype=as_dtype(x.array.dtype), out_dtype=as_dtype(dtype))
    return x.astype(dtype)


def operands(x: Any, y: Other, what: str) -> tuple[Any, Any]:
    """Two operands in one element type, at least one of which is a tensor or an array.

    Args:
        x, y: tensors, arrays or numbers.
        what: the name of the function, by which the type is chosen.

    Raises:
        ArgumentError: one is neither that nor a number.
    """
    a, b = _operand(x, what), _operand(y, what)
    if a is None or b is None:
        scalar = y if a is not None else x
        if a is None and b is None:
            raise ArgumentError(
                f"{what}: expected at least one tensor, got {x!r:.60} and {y!r:.60}; make one with "
                f"fluidlite.to_tensor(...)"
            )
        known = a if b is None else b
        number = scalar.item() if isinstance(scalar, np.generic) else scalar
        dtype = promotion_of(x, y).of_number(what, known.dtype, number)
        if dtype.kind == "b" and not isinstance(number, bool):
            warn_of_narrowing(what, np.dtype("int64"), dtype, known.dtype)
        constant = number_in(what, dtype, number)
        tensor = x if b is None else y
        if known.dtype != constant.dtype:
            tensor = cast_to(tensor, constant.dtype)
        return (tensor, constant) if b is None else (constant, tensor)
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        tensor_first = (a, b) if isinstance(x, Operand) else (b, a)
        dtype = promotion_of(x, y).of_tensors(what, *tensor_first)
        warn_of_narrowing(what, a.dtype, dtype, b.dtype)
        warn_of_narrowing(what, b.dtype, dtype, a.dtype)
        x = x if a.dtype == dtype else cast_to(x, dtype)
        y = y if b.dtype == dtype else cast_to(y, dtype)
    return x, y


def _operand(value: Any, what: str) -> Any:
    """The array of an operand; None for numbers."""
    if isinstance(value, Operand):
        return value.array
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return None
    if isinstance(value, np.ndarray):
        return value
    raise ArgumentError(
        f"{what}: expected a tensor or a number, got {value!r:.60} of type {type(value).__name__}"
    )


class _OfTwo(Protocol):
    """A function of two operands that is one operator."""

    def __call__(self, x: Other, y: Other, name: str | None = None) -> Tensor: ...


def _of_two(x: Other, y: Other, name: str | None = None) -> Tensor:
    """An operator on two operands."""
    x, y = operands(x, y, "function")
    return eager.operator(x, y)


def _of_two_numbers(x: Other, y: Other, name: str | None = None) -> Tensor:
    """An operator on two operands; truth values are 0 and 1, and True where the result is not 0."""
    x, y = operands(x, y, "function")
    if _dtype(x) != _BOOL:
        return eager.operator(x, y)
    return cast_to(eager.operator(cast_to(x, _BYTE), cast_to(y, _BYTE)), _BOOL)


def _difference(x: Other, y: Other, name: str | None = None) -> Tensor:
    """x - y; of two masks where they differ, of a mask and a number where one of them is true."""
    a, b = operands(x, y, "function")
    if _dtype(a) != _BOOL:
        return eager.operator(a, b)
    both = isinstance(x, Operand) and isinstance(y, Operand)
    return eager.logical_xor(a, b) if both else eager.logical_or(a, b)


def _of_two_fractions(x: Other, y: Other, name: str | None = None) -> Tensor:
    """An operator on two fractions; integers are float64."""
    x, y = operands(x, y, "function")
    if _dtype(x).kind in "iu":
        x, y = (cast_to(each, np.dtype("float64")) for each in (x, y))
    return eager.operator(x, y)


add: _OfTwo = of_operator(
    _of_two_numbers,
    "add",
    """x + y.

    >>> fluid.add(fluid.to_tensor([1.0, 2.0]), fluid.to_tensor([3.0, 4.0])).tolist()
    [4.0, 6.0]
    """,
    "elementwise_add",
)
subtract: _OfTwo = of_operator(
    _difference,
    "subtract",
    """x - y.

    >>> fluid.subtract(fluid.to_tensor([3.0, 4.0]), fluid.to_tensor([1.0, 2.0])).tolist()
    [2.0, 2.0]
    """,
    "elementwise_sub",
)
multiply: _OfTwo = of_operator(
    _of_two_numbers,
    "multiply",
    """x * y, element by element.

    >>> x = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.multiply(x, fluid.to_tensor([1.0, 10.0])).tolist()
    [[1.0, 20.0], [3.0, 40.0]]
    """,
    "elementwise_mul",
)
whole_quotient: _OfTwo = of_operator(_of_two_numbers, "divide", "", "elementwise_div")
floor_divide: _OfTwo = of_operator(
    _of_two,
    "floor_divide",
    """x / y, rounded down as by Python's ``//``.

    >>> fluid.floor_divide(fluid.to_tensor([7, 9]), fluid.to_tensor([2, 3])).tolist()
    [3, 3]
    """,
)
remainder: _OfTwo = of_operator(
    _of_two_numbers,
    "remainder",
    """What x // y leaves, with the sign of y as by Python's ``%``.

    >>> fluid.remainder(fluid.to_tensor([7, -7]), 3).tolist()
    [1, 2]
    """,
)
maximum: _OfTwo = of_operator(
    _of_two_numbers,
    "maximum",
    """The larger of x and y, element by element; where they are equal, y gets the gradient.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> fluid.maximum(x, fluid.to_tensor([1.0, 0.0])).sum().backward()
    >>> x.grad.tolist()
    [0.0, 1.0]
    """,
    "elementwise_max",
)
minimum: _OfTwo = of_operator(
    _of_two_numbers,
    "minimum",
    """The smaller of x and y, element by element; where they are equal, y gets the gradient.

    >>> fluid.minimum(fluid.to_tensor([1.0, 5.0]), fluid.to_tensor([3.0, 2.0])).tolist()
    [1.0, 2.0]
    """,
    "elementwise_min",
)
shared_maximum: _OfTwo = of_operator(
    _of_two_numbers,
    "maximum",
    """The larger of x and y, element by element; where they are equal, both share the gradient.

    >>> x = fluid.flow.tensor([3.0, 5.0], requires_grad=True)
    >>> fluid.flow.maximum(x, fluid.flow.tensor([3.0, 2.0])).sum().backward()
    >>> x.grad.tolist()
    [0.5, 1.0]
    """,
)
shared_minimum: _OfTwo = of_operator(
    _of_two_numbers,
    "minimum",
    """The smaller of x and y, element by element; where they are equal, both share the gradient.

    >>> x = fluid.flow.tensor([1.0, 5.0])
    >>> fluid.flow.minimum(x, fluid.flow.tensor([3.0, 2.0])).tolist()
    [1.0, 2.0]
    """,
)
atan2: _OfTwo = of_operator(
    _of_two_fractions,
    "atan2",
    """The angle of the point (y, x) seen from the origin.

    >>> fluid.atan2(fluid.to_tensor([1.0, 0.0]), fluid.to_tensor([1.0, -1.0])).numpy().round(4)
    array([0.7854, 3.1416], dtype=float32)
    """,
    "atan2",
)


def true_divide(x: Other, y: Other, name: str | None = None) -> Tensor:
    """What Python's ``x / y`` is; integers make floats."""
    x, y = operands(x, y, "divide")
    if kind_of(_dtype(x)) not in "fc":
        x, y = cast_to(x, default_float()), cast_to(y, default_float())
    return eager.elementwise_div(x, y)


def _dtype(x: Any) -> np.dtype[Any]:
    if not isinstance(x, (Operand, np.ndarray, np.generic)):
        raise ArgumentError(f"expected a tensor, got {x!r:.60} of type {type(x).__name__}")
    return (x.array if isinstance(x, Operand) else x).dtype


def pow(x: Other, y: Other, name: str | None = None) -> Tensor:
    """x to the power of y.

    Args:
        x: a tensor, or a number where ``y`` is a tensor.
        y: a tensor or a number.

    >>> fluid.pow(fluid.to_tensor([1.0, 2.0]), 3).tolist()
    [1.0, 8.0]
    """
    if not isinstance(y, (bool, int, float, complex, np.generic)) or not isinstance(x, Operand):
        return eager.elementwise_pow(*_powers(*operands(x, y, "pow")))
    x, exponent = operands(x, y, "pow")
    if exponent.imag:
        return eager.elementwise_pow(x, exponent)
    number = float(exponent.real)
    if float(np.float32(number)) == number:  # then the operator's attribute holds it exactly
        return eager.pow(x, factor=number)
    return eager.pow(x, exponent)


def _powers(x: Any, y: Any) -> tuple[Any, Any]:
    """A base and an exponent; as fractions where the spelling has it so for two tensors."""
    tensors = isinstance(x, Operand) and isinstance(y, Operand)
    if tensors and promotion_of(x).float_powers and kind_of(_dtype(x)) not in "fc":
        return cast_to(x, default_float()), cast_to(y, default_float())
    return x, y


def matmul(
    x: TensorCore,
    y: TensorCore,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices, of stacks of them, or of vectors.

    Args:
        x: [..., m, k], or [k].
        y: [..., k, n], or [k].
        transpose_x, transpose_y: exchange the last two dimensions of matrices first.

    Raises:
        ShapeError: the sizes do not fit.

    >>> x = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.matmul(x, fluid.to_tensor([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    for each in (x, y):
        if isinstance(each, (bool, int, float, complex, np.generic)):
            raise ArgumentError(f"matmul: expected two tensors, got {each!r}; multiply with x * y")
    x, y = operands(x, y, "matmul")
    whole = _dtype(x)
    if (
        kind_of(whole) in "fc"
        and _ndim(x) > 1
        and _ndim(y) > 1
        and not (transpose_x or transpose_y)
    ):
        return eager.matmul(x, y)
    if whole.kind in "iu":  # float64 has all integers up to 2^53
        x, y = (cast_to(each, np.dtype("float64")) for each in (x, y))
    transpose_x, transpose_y = transpose_x and _ndim(x) > 1, transpose_y and _ndim(y) > 1
    out = eager.matmul(x, y, transpose_X=transpose_x, transpose_Y=transpose_y)
    out = eager.reshape(out, shape=()) if _ndim(x) == _ndim(y) == 1 else out
    return cast_to(out, whole) if whole.kind in "iu" else out


def _ndim(x: Any) -> int:
    return (x.array if isinstance(x, Operand) else x).ndim


def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """The product of matrices; the same as :func:`matmul`.

    >>> fluid.mm(fluid.to_tensor([[1.0, 2.0]]), fluid.to_tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return matmul(input, mat2)


def bmm(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The products of the matrices in two stacks.

    Args:
        x: [n, m, k].
        y: [n, k, l].

    Raises:
        ShapeError: one is no stack of matrices, or the sizes do not fit.

    >>> fluid.bmm(fluid.ones([2, 1, 3]), fluid.ones([2, 3, 1])).tolist()
    [[[3.0]], [[3.0]]]
    """
    for each in (x, y):
        if _ndim(each) != 3:
            raise ShapeError(f"bmm: expected stacks of matrices, got shape {list(each.shape)}")
    return matmul(x, y)


def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """The product of a matrix and a vector.

    Args:
        x: [m, n].
        vec: [n].

    Raises:
        ShapeError: they are none, or the sizes do not fit.

    >>> x = fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.mv(x, fluid.to_tensor([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    if _ndim(x) != 2 or _ndim(vec) != 1:
        raise ShapeError(
            f"mv: expected a matrix and a vector, got shapes {list(x.shape)} and {list(vec.shape)}"
        )
    return matmul(x, vec)


def dot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The sum of the products of the elements, along the last dimension.

    >>> fluid.dot(fluid.to_tensor([1.0, 2.0]), fluid.to_tensor([3.0, 4.0])).tolist()
    11.0
    """
    return eager.reduce_sum(multiply(x, y), dim=(-1,), zero_d=True)


def outer(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The products of every element of x with every element of y.

    >>> fluid.outer(fluid.to_tensor([1.0, 2.0]), fluid.to_tensor([1.0, 10.0])).tolist()
    [[1.0, 10.0], [2.0, 20.0]]
    """
    return multiply(eager.reshape(x, shape=(-1, 1)), eager.reshape(y, shape=(1, -1)))


def lerp(x: Tensor, y: Tensor, weight: Other, name: str | None = None) -> Tensor:
    """x + weight (y - x).

    >>> fluid.lerp(fluid.to_tensor([0.0, 10.0]), fluid.to_tensor([10.0, 20.0]), 0.5).tolist()
    [5.0, 15.0]
    """
    return add(x, multiply(subtract(y, x), weight))


# -- comparisons and truth values ------------------------------------------------------------------


equal: _OfTwo = of_operator(
    _of_two,
    "equal",
    """x == y, element by element, as truth values.

    >>> fluid.equal(fluid.to_tensor([1, 2]), fluid.to_tensor([1, 3])).tolist()
    [True, False]
    """,
)
not_equal: _OfTwo = of_operator(
    _of_two,
    "not_equal",
    """x != y, element by element, as truth values.

    >>> fluid.not_equal(fluid.to_tensor([1, 2]), fluid.to_tensor([1, 3])).tolist()
    [False, True]
    """,
)
less_than: _OfTwo = of_operator(
    _of_two,
    "less_than",
    """x < y, element by element, as truth values.

    >>> fluid.less_than(fluid.to_tensor([1, 3]), fluid.to_tensor([2, 2])).tolist()
    [True, False]
    """,
)
less_equal: _OfTwo = of_operator(
    _of_two,
    "less_equal",
    """x <= y, element by element, as truth values.

    >>> fluid.less_equal(fluid.to_tensor([1, 3]), fluid.to_tensor([2, 2])).tolist()
    [True, False]
    """,
)
greater_than: _OfTwo = of_operator(
    _of_two,
    "greater_than",
    """x > y, element by element, as truth values.

    >>> fluid.greater_than(fluid.to_tensor([1, 3]), fluid.to_tensor([2, 2])).tolist()
    [False, True]
    """,
)
greater_equal: _OfTwo = of_operator(
    _of_two,
    "greater_equal",
    """x >= y, element by element, as truth values.

    >>> fluid.greater_equal(fluid.to_tensor([1, 2]), fluid.to_tensor([2, 2])).tolist()
    [False, True]
    """,
)


def truths(x: Any) -> Any:
    """A tensor as truth values: what is not 0 is true."""
    if isinstance(x, (bool, int, float)):
        return np.asarray(bool(x))
    dtype = _dtype(x)
    return x if dtype == _BOOL else cast_to(x, _BOOL)


def _into(out: Any, made: Any) -> Any:
    """A result; written to a tensor where one is given for it."""
    return made if out is None else out.write(lambda old: made, reshaped=True)


def _of_truths(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """An operator on truth values."""
    return _into(out, eager.operator(truths(x), truths(y)))


_WRITTEN = """numbers but 0 are true.

The result is written to the tensor ``out``, if there is one.

>>> x, y = fluid.to_tensor([True, True, False]), fluid.to_tensor([True, False, False])
"""
logical_and: Callable[..., Tensor] = of_operator(
    _of_truths,
    "logical_and",
    f"Whether x and y are both true; {_WRITTEN}"
    ">>> fluid.logical_and(x, y).tolist()\n[True, False, False]",
)
logical_or: Callable[..., Tensor] = of_operator(
    _of_truths,
    "logical_or",
    f"Whether x or y is true; {_WRITTEN}>>> fluid.logical_or(x, y).tolist()\n[True, True, False]",
)
logical_xor: Callable[..., Tensor] = of_operator(
    _of_truths,
    "logical_xor",
    f"Whether one of x and y is true and the other not; {_WRITTEN}"
    ">>> fluid.logical_xor(x, y).tolist()\n[False, True, False]",
)


def logical_not(x: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Whether x is not true; what is not 0 is true.

    Given ``out``, a tensor, the result is written to that.

    >>> fluid.logical_not(fluid.to_tensor([True, False])).tolist()
    [False, True]
    """
    return _into(out, eager.logical_not(truths(x)))


def isclose(
    x: Tensor,
    y: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
    name: str | None = None,
) -> Tensor:
    """Whether |x - y| <= atol + rtol |y|, element by element.

    >>> fluid.isclose(fluid.to_tensor([1.0, 2.0]), fluid.to_tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    x, y = operands(x, y, "isclose")
    if kind_of(_dtype(x)) not in "fc":
        x, y = cast_to(x, np.dtype("float64")), cast_to(y, np.dtype("float64"))
    bound = add(multiply(eager.abs(y), rtol), atol)
    near = logical_and(less_equal(eager.abs(subtract(x, y)), bound), eager.isfinite_v2(y))
    close = logical_or(near, equal(x, y))
    if not equal_nan:
        return close
    return logical_or(close, logical_and(eager.isnan_v2(x), eager.isnan_v2(y)))


@parameters_of(isclose)
def allclose(*given: Any) -> Tensor:
    """Whether |x - y| <= atol + rtol |y| everywhere.

    >>> bool(fluid.allclose(fluid.to_tensor([1.0]), fluid.to_tensor([1.0 + 1e-7])))
    True
    """
    return _all(isclose(*given))


def _all(x: Any) -> Any:
    return eager.reduce_all(x, reduce_all=True, zero_d=True)


def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether x and y have one shape and are equal everywhere.

    >>> fluid.equal_all(fluid.to_tensor([1, 2]), fluid.to_tensor([1, 3])).tolist()
    False
    """
    shape, other = x.array.shape, y.array.shape
    if len(shape) != len(other) or any(m != n and -1 not in (m, n) for m, n in zip(shape, other)):
        return x.results(np.asarray(False))
    return _all(equal(x, y))


def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """Whether x has no elements.

    >>> bool(fluid.is_empty(fluid.zeros([0, 3])))
    True
    """
    return eager.reshape(eager.is_empty(x), shape=())
