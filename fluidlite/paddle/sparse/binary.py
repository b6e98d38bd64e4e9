"""Arithmetic of two sparse tensors, and of one and a number."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...errors import ArgumentError, ShapeError, UnsupportedError
from ...functions import arithmetic, numeric
from ...functions.elementary import cast
from ...ground.spellings import given_first
from ...ground.tracebacks import api_boundaries
from .shaping import coalesce
from .tensor import SparseTensor, need_sparse, numbers_of, sum_at

__all__ = ["add", "divide", "is_same_shape", "multiply", "subtract"]

_NUMBERS = (int, float, np.integer, np.floating)


def _at(x: SparseTensor, numbers: Any) -> Any:
    """The values of a coalesced tensor at places that contain its own, and zeros elsewhere."""
    own = numbers_of(x.coordinates(), x.sparse_shape())
    return sum_at(x.values(), np.searchsorted(numbers, own), len(numbers))


def _together(function: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """What is made of the elements of two tensors of one shape.

    Args:
        function: of dense tensors.
        x: a sparse tensor.
        y: one in the same form, of the same shape; its values become of the type of those of x.
        name: accepted.

    Returns:
        a tensor in that form, with the places of both.

    Raises:
        ArgumentError: one of them is no sparse tensor.
        UnsupportedError: they have two forms, or coordinates of other dimensions.
        ShapeError: their shapes differ.
    """
    what = function.__name__
    if what in ("multiply", "divide") and isinstance(y, _NUMBERS) and isinstance(x, SparseTensor):
        return x.with_values(function(x.values(), y))
    if what == "multiply" and isinstance(x, _NUMBERS) and isinstance(y, SparseTensor):
        return y.with_values(function(x, y.values()))
    need_sparse(what, x=x, y=y)
    if type(x) is not type(y) or len(x.sparse_shape()) != len(y.sparse_shape()):
        raise UnsupportedError(
            f"{what}: expected two tensors in one form, got a {x.kind} tensor with coordinates of "
            f"{len(x.sparse_shape())} dimensions and a {y.kind} one of {len(y.sparse_shape())}; "
            "to_sparse_coo() and to_sparse_csr() change the form"
        )
    if x.shape != y.shape:
        raise ShapeError(f"{what}: expected equal shapes, got {x.shape} and {y.shape}")
    sizes = x.sparse_shape()
    x, y = coalesce(x), coalesce(y)
    if what == "divide":  # of zeros, too: 0 / 0 is no number
        numbers = np.arange(np.prod(sizes, dtype=int))
    else:
        both = [numbers_of(each.coordinates(), sizes) for each in (x, y)]
        numbers = np.union1d(*both)
    other = _at(y, numbers)
    values = _at(x, numbers)
    kind = "float32" if what == "divide" and values.array.dtype.kind in "iu" else x.dtype
    values = function(cast(values, kind), cast(other, kind))
    places = np.stack(np.unravel_index(numbers, sizes)).astype(x.coordinates().dtype)
    return type(x).of(places, values, x.shape)


_EXAMPLE = """The {} of two sparse tensors{}.

>>> from fluidlite import paddle
>>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 2.0], [3])
>>> y = paddle.sparse.sparse_coo_tensor([[1, 2]], [4.0, 8.0], [3])
>>> paddle.sparse.{}(x, y).to_dense().tolist()
{}
"""


def _line(function: Any, what: str, more: str, shown: str) -> Any:
    name = function.__name__
    return given_first(_together, function, name, _EXAMPLE.format(what, more, name, shown))


add: Final = _line(arithmetic.add, "sum", "", "[1.0, 6.0, 8.0]")
subtract: Final = _line(arithmetic.subtract, "difference", "", "[1.0, -2.0, -8.0]")
multiply: Final = _line(
    arithmetic.multiply, "product, by elements,", ", or of one and a number", "[0.0, 8.0, 0.0]"
)
divide: Final = _line(numeric.divide, "quotient", ", or of one and a number", "[inf, 0.5, 0.0]")


def is_same_shape(x: Any, y: Any) -> bool:
    """Whether two tensors, sparse or dense, have the same shape.

    Args:
        x, y: the tensors.

    Raises:
        ArgumentError: one of them is no tensor.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 2.0], [3])
    >>> paddle.sparse.is_same_shape(x, paddle.ones([3]))
    True
    """
    for each in (x, y):
        if not hasattr(each, "shape"):
            raise ArgumentError(f"is_same_shape: expected a tensor, got {each!r:.60}")
    return bool([*x.shape] == [*y.shape])


api_boundaries(globals())
