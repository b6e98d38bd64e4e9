"""Functions of elements, sums and products that are made of others."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..ground.spellings import parameters_of
from ..opdef.conjugation import is_complex
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .arithmetic import (
    add,
    equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    multiply,
    operands,
    shared_maximum,
    subtract,
    true_divide,
)
from .elementary import abs as size
from .elementary import cast, exp, floats, isnan, log1p, sign, sqrt, square, trunc
from .items import get_item
from .reduction import mean
from .reduction import sum as total
from .selection import chosen
from .shaping import concat, fits, reshape, transpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from .arguments import Axes, Other


def asinh(x: Tensor, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine.

    >>> fluid.asinh(fluid.to_tensor([0.0, -1.0])).numpy().round(4)
    array([ 0.    , -0.8814], dtype=float32)
    """
    return eager.asinh(floats(x))


def acosh(x: Tensor, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine.

    >>> fluid.acosh(fluid.to_tensor([1.0, 2.0])).numpy().round(4)
    array([0.   , 1.317], dtype=float32)
    """
    return eager.acosh(floats(x))


def atanh(x: Tensor, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent.

    >>> fluid.atanh(fluid.to_tensor([0.0, 0.5])).numpy().round(4)
    array([0.    , 0.5493], dtype=float32)
    """
    return eager.atanh(floats(x))


def frac(x: Tensor, name: str | None = None) -> Tensor:
    """What is behind the point, with the sign of x.

    >>> fluid.frac(fluid.to_tensor([1.5, -2.25])).tolist()
    [0.5, -0.25]
    """
    return subtract(x, trunc(x))


def sgn(x: Tensor, name: str | None = None) -> Tensor:
    """-1, 0 or 1; of complex numbers those in the same direction at distance 1, and 0 of 0.

    >>> fluid.sgn(fluid.to_tensor([3 + 4j, 0j])).numpy().round(4)
    array([0.6+0.8j, 0. +0.j ], dtype=complex64)
    """
    if not is_complex(x.array):
        return sign(x)
    distance: Any = size(x)
    return true_divide(x, add(distance, cast(equal(distance, 0.0), distance.dtype)))


def deg2rad(x: Tensor, name: str | None = None) -> Tensor:
    """Degrees as radians.

    >>> fluid.deg2rad(fluid.to_tensor([0.0, 180.0])).numpy().round(4)
    array([0.    , 3.1416], dtype=float32)
    """
    return multiply(x, pi / 180)


def rad2deg(x: Tensor, name: str | None = None) -> Tensor:
    """Radians as degrees.

    >>> fluid.rad2deg(fluid.to_tensor([0.0, 3.1415927])).tolist()
    [0.0, 180.0]
    """
    return multiply(x, 180 / pi)


def logit(x: Tensor, eps: float | None = None, name: str | None = None) -> Tensor:
    """The logarithm of ``x / (1 - x)``.

    Args:
        x: probabilities.
        eps: keeps them in [eps, 1 - eps]; None leaves them as they are.

    >>> fluid.logit(fluid.to_tensor([0.5, 0.75])).numpy().round(4)
    array([0.    , 1.0986], dtype=float32)
    """
    return eager.logit(floats(x), eps=0.0 if eps is None else float(eps))


def stanh(
    x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None
) -> Tensor:
    """``scale_b tanh(scale_a x)``.

    >>> fluid.stanh(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 1.0038], dtype=float32)
    """
    return eager.stanh(x, scale_a=float(scale_a), scale_b=float(scale_b))


def logaddexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of ``e^x + e^y``, without overflow.

    >>> x = fluid.to_tensor([1000.0])
    >>> fluid.logaddexp(x, x).numpy().round(3).tolist()
    [1000.6929931640625]
    """
    x, y = floats(x), floats(y)
    apart = size(subtract(x, y))
    return add(shared_maximum(x, y), log1p(exp(multiply(apart, -1.0))))


def hypot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The length of the long side of right-angled triangles.

    >>> fluid.hypot(fluid.to_tensor([3.0]), fluid.to_tensor([4.0])).tolist()
    [5.0]
    """
    return sqrt(add(square(x), square(y)))


def fmax(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The larger element, or the one that is a number; x gets the gradient of equal ones.

    >>> fluid.fmax(fluid.to_tensor([1.0, float("nan")]), fluid.to_tensor([3.0, 2.0])).tolist()
    [3.0, 2.0]
    """
    return eager.elementwise_fmax(*operands(x, y, "fmax"))


def fmin(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The smaller element, or the one that is a number; x gets the gradient of equal ones.

    >>> fluid.fmin(fluid.to_tensor([1.0, float("nan")]), fluid.to_tensor([3.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return eager.elementwise_fmin(*operands(x, y, "fmin"))


def nan_to_num(
    x: Tensor,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Tensor:
    """x with numbers in place of NaN and infinities.

    Args:
        x: a tensor.
        nan: in place of NaN.
        posinf, neginf: in place of infinities; the largest and smallest numbers when None.

    >>> x = fluid.to_tensor([float("nan"), float("inf"), 1.0])
    >>> fluid.nan_to_num(x, nan=0.0, posinf=9.0).tolist()
    [0.0, 9.0, 1.0]
    """
    if x.array.dtype.kind != "f":
        raise ArgumentError(f"nan_to_num: expected fractions, got {x.array.dtype}")
    limits = np.finfo(x.array.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    out = chosen(isnan(x), nan, x)
    out = chosen(eager.equal(out, np.asarray(np.inf, x.array.dtype)), high, out)
    return chosen(eager.equal(out, np.asarray(-np.inf, x.array.dtype)), low, out)


@parameters_of(total)
def nansum(x: Tensor, *given: Any) -> Tensor:
    """The sum of what is no NaN.

    >>> float(fluid.nansum(fluid.to_tensor([1.0, float("nan"), 2.0])))
    3.0
    """
    whole = x.array.dtype.kind != "f"
    return total(x if whole else chosen(isnan(x), 0.0, x), *given)


@parameters_of(mean)
def nanmean(x: Tensor, axis: Axes, keepdim: bool, *given: Any) -> Tensor:
    """The mean of what is no NaN.

    >>> fluid.nanmean(fluid.to_tensor([1.0, float("nan"), 3.0])).item()
    2.0
    """
    count = total(cast(logical_not(isnan(x)), x.dtype), axis, keepdim=keepdim)
    return true_divide(nansum(x, axis, keepdim=keepdim), count)


def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape.

    Args:
        inputs: tensors, or one.

    >>> x = fluid.to_tensor([1.0])
    >>> fluid.add_n([x, fluid.to_tensor([2.0]), fluid.to_tensor([3.0])]).tolist()
    [6.0]
    """
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return eager.sum(given)


def diff(
    x: Tensor,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """What each element is more than the one before it.

    Args:
        x: a tensor.
        n: how often differences are taken.
        axis: the dimension.
        prepend, append: what x begins and ends with besides.

    >>> fluid.to_tensor([1.0, 4.0, 9.0]).diff().tolist()
    [3.0, 5.0]
    """
    if n < 1:
        raise ArgumentError(f"expected n from 1, got {n!r}")
    along = normal_axis(axis, x.array.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    out = concat(parts, along) if len(parts) > 1 else x
    before = (slice(None),) * along
    for _ in range(n):
        later, sooner = (get_item(out, (*before, s)) for s in (slice(1, None), slice(None, -1)))
        out = subtract(later, sooner)
    return out


def inner(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Products of the vectors along the last dimensions; of one element with what the other is.

    >>> x = fluid.to_tensor([[1.0, 2.0]])
    >>> fluid.inner(x, fluid.to_tensor([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [[11.0, 17.0]]
    """
    if any(all(n == 1 for n in each.array.shape) for each in (x, y)):
        return multiply(x, y)
    return tensordot(x, y, [[-1], [-1]])


def tensordot(
    x: Tensor, y: Tensor, axes: int | Sequence[int | Sequence[int]] = 2, name: str | None = None
) -> Tensor:
    """Sums of products over some dimensions of both tensors.

    Args:
        x, y: tensors.
        axes: how many dimensions: the last of x and the first of y; or a list of dimensions of x
            and one of dimensions of y.

    Raises:
        ShapeError: the dimensions are not of the same sizes.

    >>> x = fluid.ones([2, 3, 4])
    >>> fluid.tensordot(x, x, [[1, 2], [1, 2]]).tolist()
    [[12.0, 12.0], [12.0, 12.0]]
    """
    if isinstance(axes, int):
        first, second = [*range(x.array.ndim - axes, x.array.ndim)], [*range(axes)]
    else:
        pair: list[Any] = list(axes)
        if isinstance(pair[0], int):
            pair = [pair, pair]
        one, other = pair[0], pair[-1]
        first = [normal_axis(a, x.array.ndim) for a in one]
        second = [normal_axis(a, y.array.ndim) for a in other]
    sizes, others = [x.array.shape[a] for a in first], [y.array.shape[a] for a in second]
    if not fits(sizes, others):
        raise ShapeError(
            f"tensordot: expected the same sizes along {first} of x and {second} of y, got shapes "
            f"{list(x.array.shape)} and {list(y.array.shape)}"
        )
    rows = [a for a in range(x.array.ndim) if a not in first]
    columns = [a for a in range(y.array.ndim) if a not in second]
    left, right = transpose(x, [*rows, *first]), transpose(y, [*second, *columns])
    sizes = [n if m == -1 else m for m, n in zip(sizes, others)]
    inner, above, across = prod(sizes) if -1 not in sizes else -1, -1, -1
    if inner == -1:
        above, across = (prod(v.array.shape[a] for a in d) for v, d in ((x, rows), (y, columns)))
    if not len(rows) == len(first) == 1:
        left = reshape(left, [above, inner])
    if not len(second) == len(columns) == 1:
        right = reshape(right, [inner, across])
    out = matmul(left, right)
    if len(rows) == len(columns) == 1:
        return out
    shape = [*(x.array.shape[a] for a in rows), *(y.array.shape[a] for a in columns)]
    return reshape(out, shape)


def kron(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The products of all elements of x with y, in blocks.

    >>> fluid.kron(fluid.to_tensor([1.0, 10.0]), fluid.to_tensor([1.0, 2.0])).tolist()
    [1.0, 2.0, 10.0, 20.0]
    """
    return eager.kron(*operands(x, y, "kron"))


def addmm(
    input: Tensor,
    x: Tensor,
    y: Tensor,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """``beta input + alpha x y`` with matrices x and y.

    >>> x, y = fluid.to_tensor([[1.0, 2.0]]), fluid.to_tensor([[3.0], [4.0]])
    >>> fluid.addmm(fluid.to_tensor([[10.0]]), x, y, beta=0.5, alpha=1.0).tolist()
    [[16.0]]
    """
    return add(multiply(input, float(beta)), multiply(matmul(x, y), float(alpha)))


def cross(x: Tensor, y: Tensor, axis: int | None = 9, name: str | None = None) -> Tensor:
    """The products of vectors of three elements that are at right angles to both.

    Args:
        x, y: of one shape.
        axis: the dimension of the vectors; the first of size 3 when 9 or None.

    Raises:
        ShapeError: no dimension is of size 3.

    >>> x = fluid.to_tensor([[1.0, 0.0, 0.0]])
    >>> fluid.cross(x, fluid.to_tensor([[0.0, 1.0, 0.0]]), axis=1).tolist()
    [[0.0, 0.0, 1.0]]
    """
    if axis in (9, None):
        if -1 in x.array.shape:
            return eager.cross(x, y)
        found = [a for a, n in enumerate(x.array.shape) if n == 3]
        if not found:
            raise ShapeError(f"expected a dimension of size 3, got shape {list(x.array.shape)}")
        axis = found[0]
    return eager.cross(x, y, dim=normal_axis(axis, x.array.ndim))


def bitwise_and(x: Tensor, y: Other, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that are set in both of two integers; of truth values whether both are true.

    >>> fluid.bitwise_and(fluid.to_tensor([6]), fluid.to_tensor([3])).tolist()
    [2]
    """
    return _of_bits("bitwise_and", x, y, out)


def bitwise_or(x: Tensor, y: Other, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that are set in one of two integers, or in both.

    >>> fluid.bitwise_or(fluid.to_tensor([5, 6]), fluid.to_tensor([3, 1])).tolist()
    [7, 7]
    """
    return _of_bits("bitwise_or", x, y, out)


def bitwise_xor(x: Tensor, y: Other, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that are set in one of two integers and not in the other.

    >>> fluid.bitwise_xor(fluid.to_tensor([5, 6]), fluid.to_tensor([3, 1])).tolist()
    [6, 7]
    """
    return _of_bits("bitwise_xor", x, y, out)


def bitwise_not(x: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that are not set in integers; of truth values the others.

    >>> fluid.bitwise_not(fluid.to_tensor([0, 5])).tolist()
    [-1, -6]
    """
    if x.array.dtype.kind == "b":
        return logical_not(x, out)
    made = subtract(multiply(x, -1), 1)
    return made if out is None else out.write(lambda old: made, reshaped=True)


def _of_bits(type: str, x: Any, y: Any, out: Any) -> Any:
    if not isinstance(x, Operand):
        x, y = y, x
    dtype = _type_of(type, x)
    if not isinstance(y, Operand):
        y = x.results(np.asarray(y, dtype))
    if dtype.kind == "b" and y.array.dtype.kind == "b":
        logical = {"bitwise_and": "logical_and", "bitwise_or": "logical_or"}
        result = getattr(eager, logical.get(type, "logical_xor"))(x, y)
    else:
        common = np.promote_types(dtype, y.array.dtype)
        x, y = (v if v.array.dtype == common else cast(v, str(common)) for v in (x, y))
        result = getattr(eager, type)(x, y)
    return result if out is None else out.write(lambda old: result, reshaped=True)


def _type_of(function: str, x: Any) -> np.dtype[Any]:
    if not isinstance(x, Operand):
        raise ArgumentError(f"{function}: expected a tensor, got {x!r:.60}")
    dtype: np.dtype[Any] = x.array.dtype
    return dtype


def _python(bits: Any, logical: Any) -> Any:
    """Python's operator: on bits where integers are given, else on truth values."""

    def operator(x: Any, *y: Any) -> Any:
        return (bits if x.array.dtype.kind in "iu" else logical)(x, *y)

    return operator


#: what Python's operators mean
python_and: Callable[..., Tensor] = _python(bitwise_and, logical_and)
python_or: Callable[..., Tensor] = _python(bitwise_or, logical_or)
python_xor: Callable[..., Tensor] = _python(bitwise_xor, logical_xor)
python_not: Callable[..., Tensor] = _python(bitwise_not, logical_not)
