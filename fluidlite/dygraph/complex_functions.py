"""The functions of ``paddle.complex`` in 1.8: what takes and gives complex variables.

Products and quotients are those of complex element types; what is linear is done to both parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .. import layers
from ..functions.composed import kron as kron_of
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .complex_variable import ComplexVariable, Part, complex_variable_exists, of_value

__all__ = [
    "elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div", "kron", "trace",
    "sum", "reshape", "transpose", "matmul",
]  # fmt: skip

#: what is complex or real; at least one of two operands is complex
Numbers: TypeAlias = "ComplexVariable | Part"


def elementwise_add(
    x: Numbers, y: Numbers, axis: int = -1, name: str | None = None
) -> ComplexVariable:
    """The sums of elements.

    Args:
        x, y: of one precision, one of them complex; y may have fewer dimensions.
        axis: the dimension of x that the first one of y belongs to; the last ones when -1.
        name: accepted for old scripts.

    Raises:
        ArgumentError: neither is complex.

    >>> from fluidlite.dygraph import complex_functions
    >>> with fluid.dygraph.guard():
    ...     x = fluid.dygraph.to_variable(np.array([1 + 2j]))
    ...     y = complex_functions.elementwise_add(x, x)
    >>> y.numpy()
    array([2.+4.j])
    """
    return _of_two("elementwise_add", layers.elementwise_add, x, y, axis=axis)


def elementwise_sub(
    x: Numbers, y: Numbers, axis: int = -1, name: str | None = None
) -> ComplexVariable:
    """The differences of elements; arguments as of :func:`elementwise_add`."""
    return _of_two("elementwise_sub", layers.elementwise_sub, x, y, axis=axis)


def elementwise_mul(
    x: Numbers, y: Numbers, axis: int = -1, name: str | None = None
) -> ComplexVariable:
    """The products of elements; arguments as of :func:`elementwise_add`."""
    return _of_two("elementwise_mul", layers.elementwise_mul, x, y, axis=axis)


def elementwise_div(
    x: Numbers, y: Numbers, axis: int = -1, name: str | None = None
) -> ComplexVariable:
    """The quotients of elements; arguments as of :func:`elementwise_add`."""
    return _of_two("elementwise_div", layers.elementwise_div, x, y, axis=axis)


def kron(x: Numbers, y: Numbers, name: str | None = None) -> ComplexVariable:
    """The products of all elements of x with y, in blocks; arguments as of :func:`matmul`."""
    return _of_two("kron", kron_of, x, y)


def matmul(
    x: Numbers,
    y: Numbers,
    transpose_x: bool = False,
    transpose_y: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> ComplexVariable:
    """The product of matrices, or of sets of them.

    Args:
        x: [..., M, K].
        y: [..., K, N]; of x's precision; one of them is complex.
        transpose_x, transpose_y: whether the last two dimensions change places first, without a
            conjugation.
        alpha: a real number that the product is multiplied with.
        name: accepted for old scripts.

    Raises:
        ArgumentError: neither is complex.
    """
    options: dict[str, Any] = {"transpose_x": transpose_x, "transpose_y": transpose_y}
    return _of_two("matmul", layers.matmul, x, y, **options, alpha=float(alpha))


def trace(
    input: ComplexVariable, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> ComplexVariable:
    """The sums of diagonals.

    Args:
        input: of two dimensions or more.
        offset: how far above the main diagonal.
        dim1, dim2: the dimensions of rows and columns.
        name: accepted for old scripts.

    Raises:
        ArgumentError: ``input`` is not complex.
    """
    return _of_parts("trace", layers.trace, input, offset=offset, dim1=dim1, dim2=dim2)


def sum(
    input: ComplexVariable,
    dim: int | Sequence[int] | None = None,
    keep_dim: bool = False,
    name: str | None = None,
) -> ComplexVariable:
    """The sums along dimensions.

    Args:
        input: any shape.
        dim: one dimension or several; all when None.
        keep_dim: whether dimensions of size 1 stay in their places.
        name: accepted for old scripts.

    Raises:
        ArgumentError: ``input`` is not complex.
    """
    return _of_parts("sum", layers.reduce_sum, input, dim=dim, keep_dim=keep_dim)


def reshape(
    x: ComplexVariable, shape: Sequence[int], inplace: bool = False, name: str | None = None
) -> ComplexVariable:
    """The elements in another shape.

    Args:
        x: any shape.
        shape: sizes; 0 keeps one, and one may be -1.
        inplace: whether ``x`` itself takes the new shape, and is returned.  Tensors that were its
            parts keep theirs; variables of a program do not.
        name: accepted for old scripts.

    Raises:
        ArgumentError: ``x`` is not complex.
    """
    writes = inplace and isinstance(getattr(x, "real", None), Variable)
    reshaped = _of_parts("reshape", layers.reshape, x, shape=shape, inplace=writes)
    if not inplace:
        return reshaped
    x.real, x.imag = reshaped.real, reshaped.imag
    return x


def transpose(x: ComplexVariable, perm: Sequence[int], name: str | None = None) -> ComplexVariable:
    """The dimensions in another order.

    Args:
        x: any shape.
        perm: x's dimensions, in their new order.
        name: accepted for old scripts.

    Raises:
        ArgumentError: ``x`` is not complex.
    """
    return _of_parts("transpose", layers.transpose, x, perm=perm)


def _of_two(
    name: str, function: Callable[..., Any], x: Numbers, y: Numbers, **options: Any
) -> ComplexVariable:
    complex_variable_exists([x, y], name)
    values = [each.value if isinstance(each, ComplexVariable) else each for each in (x, y)]
    return of_value(function(*values, **options))


def _of_parts(
    name: str, function: Callable[..., Any], x: ComplexVariable, **options: Any
) -> ComplexVariable:
    complex_variable_exists([x], name)
    return ComplexVariable(function(x.real, **options), function(x.imag, **options))


list_public_names(globals())
api_boundaries(globals())

answer(globals())
