"""Functions of each value: those of which zeros are zeros again."""

from __future__ import annotations

from typing import Any, Final

from ...functions import arithmetic, composed, elementary
from ...ground.docstrings import Family
from ...ground.dtypes import as_dtype
from ...ground.spellings import given_first
from ...ground.tracebacks import api_boundaries
from .tensor import CooTensor, CsrTensor, SparseTensor, need_sparse

__all__ = [
    "abs", "asin", "asinh", "atan", "atanh", "cast", "deg2rad", "expm1", "isnan", "log1p", "neg",
    "pow", "rad2deg", "sin", "sinh", "sqrt", "square", "tan", "tanh",
]  # fmt: skip

_OF = Family({"x": "a sparse tensor.", "name": "accepted."})


def _of_values(function: Any, x: SparseTensor, name: str | None = None) -> Any:
    """A function of each value.

    Args:
        function: of a dense tensor.
        x: a sparse tensor, in either form.
        name: accepted.

    Returns:
        a sparse tensor with the same places.

    Raises:
        ArgumentError: it is no sparse tensor.
    """
    need_sparse(function.__name__, x=x)
    return x.with_values(function(x.values()))


def _line(function: Any, what: str) -> Any:
    return given_first(_of_values, function, function.__name__, f"The {what} of each value.")


abs: Final = _line(elementary.abs, "absolute value")
asin: Final = _line(elementary.asin, "arc sine")
asinh: Final = _line(composed.asinh, "inverse hyperbolic sine")
atan: Final = _line(elementary.atan, "arc tangent")
atanh: Final = _line(composed.atanh, "inverse hyperbolic tangent")
deg2rad: Final = _line(composed.deg2rad, "radians of degrees")
expm1: Final = _line(elementary.expm1, "exponential, less 1,")
isnan: Final = _line(elementary.isnan, "question whether it is no number,")
log1p: Final = _line(elementary.log1p, "logarithm of 1 and more")
neg: Final = _line(elementary.neg, "opposite")
rad2deg: Final = _line(composed.rad2deg, "degrees of radians")
sin: Final = _line(elementary.sin, "sine")
sinh: Final = _line(elementary.sinh, "hyperbolic sine")
sqrt: Final = _line(elementary.sqrt, "square root")
square: Final = _line(elementary.square, "square")
tan: Final = _line(elementary.tan, "tangent")
tanh: Final = _line(elementary.tanh, "hyperbolic tangent")


@_OF
def pow(x: SparseTensor, factor: float, name: str | None = None) -> Any:
    """A power of each value; zeros that are not stored stay zeros.

    Args:
        factor: the exponent.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [2.0, 3.0], [3])
    >>> paddle.sparse.pow(x, 2).to_dense().tolist()
    [4.0, 0.0, 9.0]
    """
    need_sparse("pow", x=x)
    return x.with_values(arithmetic.pow(x.values(), factor))


@_OF
def cast(
    x: SparseTensor, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None
) -> Any:
    """A tensor with places and values of other types.

    Args:
        index_dtype: of the places, int32 or int64; as they are when None.
        value_dtype: of the values; as they are when None.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [2.0, 3.0], [3])
    >>> paddle.sparse.cast(x, "int32", "float64").numpy().dtype.name
    'float64'
    """
    need_sparse("cast", x=x)
    values = x.values() if value_dtype is None else elementary.cast(x.values(), value_dtype)
    if index_dtype is None:
        return x.with_values(values)
    kind = as_dtype(index_dtype).dtype
    if isinstance(x, CsrTensor):
        return CsrTensor(x.begins.astype(kind), x.columns.astype(kind), values, x.shape)
    return CooTensor(x.coordinates().astype(kind), values, x.shape)


api_boundaries(globals())
