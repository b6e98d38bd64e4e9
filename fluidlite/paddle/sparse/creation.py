"""Sparse tensors made of places and values, and of dense tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.recording import TensorRecord
from ...errors import ArgumentError, AxisError, ShapeError, UnsupportedError
from ...functions.arguments import ArrayLike, DTypeLike
from ...functions.creation import array_of, to_tensor
from ...functions.elementary import cast
from ...functions.selection import gather_nd
from ...ground.docstrings import Family
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand
from .tensor import CooTensor, CsrTensor, need_places

__all__ = ["coo_of", "csr_of", "sparse_coo_tensor", "sparse_csr_tensor"]

_MADE = Family(
    {
        "values": "[stored, ...]: what is stored; gradients flow to a tensor that has some, where "
        "``stop_gradient`` is False.",
        "dtype": "the element type of the values; theirs when None.",
        "place": "accepted.",
        "stop_gradient": "whether gradients stop at it.",
    }
)


def _values(given: Any, dtype: Any, stop_gradient: bool) -> Any:
    """The values as a tensor of the sparse one's own, or one that gradients flow through."""
    if not isinstance(given, TensorRecord):
        _need_values("values", given)
        return to_tensor(given, dtype, stop_gradient=stop_gradient)
    tensor: Any = given
    values: Any = tensor if dtype is None else cast(tensor, dtype)
    if values.stop_gradient or stop_gradient:
        values = values.detach()
        values.stop_gradient = stop_gradient
    return values


def _need_values(what: str, given: Any) -> None:
    if isinstance(given, Operand) and not isinstance(given, TensorRecord):
        raise UnsupportedError(
            f"expected {what} to be a tensor or numbers, got {given!r:.60}; programs have no "
            "sparse tensors"
        )


def _places(what: str, given: Any) -> Any:
    _need_values(what, given)
    array = np.asarray(array_of(given))
    if array.dtype.kind not in "iu":
        if array.size:
            raise ArgumentError(f"expected {what} to be whole numbers, got {array.dtype}")
        array = array.astype("int64")
    return array if array.dtype in ("int32", "int64") else array.astype("int64")


@_MADE
def sparse_coo_tensor(
    indices: ArrayLike,
    values: ArrayLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> CooTensor:
    """A tensor of which elements, or rows of elements, are given with their coordinates.

    Args:
        indices: [dimensions, stored]: the coordinates, int32 or int64.
        shape: of the whole; as small as can be when None.

    Raises:
        ArgumentError: the coordinates are no matrix of whole numbers, or there are more or fewer
            of them than values.
        ShapeError: the shape has another number of dimensions.
        OutOfRangeError: an element lies outside of the shape.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], [2, 3])
    >>> x.to_dense().tolist()
    [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    places = _places("indices", indices)
    if places.ndim != 2:
        raise ArgumentError(f"expected indices to be a matrix, got shape {list(places.shape)}")
    stored = _values(values, dtype, stop_gradient)
    if not len(stored.shape) or stored.shape[0] != places.shape[1]:
        raise ArgumentError(
            f"expected a value for each of {places.shape[1]} places, got values of shape "
            f"{list(stored.shape)}"
        )
    within = [*stored.shape[1:]]
    if shape is None:
        least = places.max(axis=1) + 1 if places.shape[1] else np.zeros(len(places), int)
        shape = [*least.tolist(), *within]
    sizes = [int(size) for size in shape]
    if len(sizes) != len(places) + len(within) or sizes[len(places) :] != within:
        raise ShapeError(
            f"expected a shape of {len(places)} sizes and {within}, those of a value, got {sizes}"
        )
    need_places(places, sizes[: len(places)])
    return CooTensor(places, stored, sizes)


@_MADE
def sparse_csr_tensor(
    crows: ArrayLike,
    cols: ArrayLike,
    values: ArrayLike,
    shape: Sequence[int],
    dtype: DTypeLike = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> CsrTensor:
    """A matrix of which elements are given by rows, or several such matrices.

    Args:
        crows: [rows + 1]: where each row begins, and where the last one ends; those of several
            matrices one after the other.
        cols: [stored]: the column of each element.
        shape: [rows, columns] or [matrices, rows, columns].

    Raises:
        ShapeError: the shape has not two or three sizes.
        ArgumentError: the rows do not begin at 0, or do not end at the last value.
        OutOfRangeError: there is no such column.

    >>> from fluidlite import paddle
    >>> paddle.sparse.sparse_csr_tensor([0, 1, 3], [1, 0, 1], [1.0, 2.0, 3.0], [2, 2]).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    begins, columns = _places("crows", crows), _places("cols", cols)
    stored = _values(values, dtype, stop_gradient)
    sizes = [int(size) for size in shape]
    if len(sizes) not in (2, 3):
        raise ShapeError(f"expected a shape of two or three sizes, got {sizes}")
    matrices, rows = (1, sizes[0]) if len(sizes) == 2 else sizes[:2]
    if begins.shape != (matrices * (rows + 1),):
        raise ArgumentError(
            f"expected {matrices * (rows + 1)} crows, {rows} and one for each matrix, got shape "
            f"{list(begins.shape)}"
        )
    if columns.ndim != 1 or [*stored.shape] != [len(columns)]:
        raise ArgumentError(
            f"expected as many values as cols, {list(columns.shape)}, got {list(stored.shape)}"
        )
    lines = begins.reshape(matrices, rows + 1)
    if lines[:, 0].any():
        raise ArgumentError("expected the first of crows to be 0")
    if (np.diff(lines, axis=1) < 0).any() or lines[:, -1].sum() != len(columns):
        raise ArgumentError(
            f"expected crows in ascending order, up to {len(columns)} values, got {begins.tolist()}"
        )
    need_places(columns[None], sizes[-1:])
    return CsrTensor(begins, columns, stored, sizes)


def coo_of(x: Any, sparse_dim: int) -> CooTensor:
    """A dense tensor with the coordinates of what is not zero.

    Args:
        x: the tensor.
        sparse_dim: how many dimensions have coordinates, from the first on.

    Raises:
        AxisError: there are fewer dimensions, or it is 0 or less.
    """
    array = np.asarray(x.array)
    if not 0 < sparse_dim <= array.ndim:
        raise AxisError(f"expected sparse_dim from 1 to {array.ndim}, got {sparse_dim}")
    stored = (array != 0).any(axis=tuple(range(sparse_dim, array.ndim)))
    places = np.stack(np.nonzero(stored)).astype("int64")
    return CooTensor(places, gather_nd(x, to_tensor(places.T)), array.shape)


def csr_of(x: Any) -> CsrTensor:
    """A dense tensor by rows: which columns of each are not zero.

    Args:
        x: the tensor.

    Raises:
        ShapeError: it has not two or three dimensions.
    """
    array = np.asarray(x.array)
    if array.ndim not in (2, 3):
        raise ShapeError(f"expected a tensor of 2 or 3 dimensions, got shape {list(array.shape)}")
    return coo_of(x, array.ndim).to_sparse_csr()


api_boundaries(globals())
