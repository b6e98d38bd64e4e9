"""Products with sparse matrices.  paddle 2.6 has none of them on the CPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...eager.recording import TensorRecord, eager
from ...errors import ArgumentError, ShapeError
from ...functions import arithmetic, views
from ...functions.creation import to_tensor
from ...functions.linear_algebra import pca_lowrank as dense_pca_lowrank
from ...ground.docstrings import Family
from ...ground.tracebacks import api_boundaries
from .binary import add
from .shaping import coalesce, transpose
from .tensor import SparseTensor, need_sparse, numbers_of, shaped, sum_at, taken

__all__ = ["addmm", "masked_matmul", "matmul", "mv", "pca_lowrank"]

_PRODUCTS = Family({"name": "accepted."})


def _lines(x: SparseTensor) -> tuple[Any, Any]:
    """Rows and columns of what is stored; of several matrices as of one with blocks."""
    *matrix, row, column = x.coordinates()
    if matrix:
        row, column = matrix[0] * x.shape[1] + row, matrix[0] * x.shape[2] + column
    return row, column


def _need_matrices(what: str, x: Any, y: Any) -> None:
    """Check that two tensors are matrices, or as many of them, that can be multiplied."""
    fits = len(x.shape) == len(y.shape) and len(x.shape) in (2, 3)
    if not fits or [*x.shape[:-2], x.shape[-1]] != [*y.shape[:-1]]:
        raise ShapeError(
            f"{what}: expected matrices, or as many of each, with as many columns in x as rows in "
            f"y, got shapes {[*x.shape]} and {[*y.shape]}"
        )
    for each in (x, y):
        if isinstance(each, SparseTensor) and len(each.sparse_shape()) != len(each.shape):
            raise ShapeError(
                f"{what}: expected coordinates of all dimensions, got {each.nnz()} rows"
            )


def _with_dense(x: SparseTensor, y: Any) -> Any:
    """A sparse matrix, or several, times dense ones."""
    rows, columns = (to_tensor(each) for each in _lines(x))
    shape = [*x.shape[:-1], y.shape[-1]]
    size = math.prod(shape[:-1])
    flat = shaped(y, [math.prod(y.shape[:-1]), y.shape[-1]])
    found = eager.sparse_product(rows, columns, x.values(), flat, size=size)
    return shaped(found, shape)


def _of_sparse(x: SparseTensor, y: SparseTensor) -> Any:
    """The product of two sparse matrices, or of several: of each element of ``x`` with the elements
    in the row of ``y`` that its column names.
    """
    x, y = coalesce(x), coalesce(y)
    (rows, inner), (lines, columns) = _lines(x), _lines(y)
    height, width = math.prod(x.shape[:-1]), y.shape[-1]
    begins = np.searchsorted(lines, np.arange(math.prod(y.shape[:-1]) + 1))
    counts = np.diff(begins)[inner]
    left = np.repeat(np.arange(len(inner)), counts)
    right = np.arange(len(left)) + np.repeat(begins[inner] - np.cumsum(counts) + counts, counts)
    numbers = numbers_of(np.stack([rows[left], columns[right] % width]), (height, width))
    reached, inverse = np.unique(numbers, return_inverse=True)
    terms = taken(x.values(), left) * taken(y.values(), right)
    values = sum_at(terms, inverse.reshape(-1), len(reached))
    shape = [*x.shape[:-1], width]
    places = np.stack(np.unravel_index(reached, shape)).astype(x.coordinates().dtype)
    return type(x).of(places, values, shape)


@_PRODUCTS
def matmul(x: Any, y: Any, name: str | None = None) -> Any:
    """The product of matrices of which at least one is sparse.

    Args:
        x: [n, k], or several such matrices, [batch, n, k].
        y: [k, m] or [batch, k, m].

    Returns:
        a dense tensor where one of them is dense; else a sparse one in the form of ``x``.

    Raises:
        ShapeError: they do not fit each other.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
    >>> paddle.sparse.matmul(x, paddle.to_tensor([[1.0], [10.0]])).tolist()
    [[20.0], [3.0]]
    """
    if isinstance(x, SparseTensor) and isinstance(y, SparseTensor):
        _need_matrices("matmul", x, y)
        return _of_sparse(x, y)
    if isinstance(x, SparseTensor) and isinstance(y, TensorRecord):
        _need_matrices("matmul", x, y)
        return _with_dense(x, y)
    if isinstance(x, TensorRecord):
        need_sparse("matmul", y=y)
        _need_matrices("matmul", x, y)
        return _turned(_with_dense(_turned(y), _turned(x)))
    raise ArgumentError(f"matmul: expected tensors, got {x!r:.60} and {y!r:.60}")


def _turned(x: Any) -> Any:
    """Matrices with rows and columns exchanged."""
    last = len(x.shape) - 1
    turn = transpose if isinstance(x, SparseTensor) else views.transpose
    return turn(x, [*range(last - 1), last, last - 1])


@_PRODUCTS
def masked_matmul(x: Any, y: Any, mask: SparseTensor, name: str | None = None) -> Any:
    """The elements of a product of dense matrices at the places of a sparse one.

    Args:
        x: [n, k], or several such matrices, [batch, n, k].
        y: [k, m] or [batch, k, m].
        mask: [n, m] or [batch, n, m]: says the places; its values do not matter.

    Returns:
        a tensor in the form of ``mask``, with its places.

    Raises:
        ShapeError: they do not fit each other.

    >>> from fluidlite import paddle
    >>> mask = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 1.0], [2, 2])
    >>> paddle.sparse.masked_matmul(
    ...     paddle.ones([2, 3]), paddle.ones([3, 2]), mask
    ... ).values().tolist()
    [3.0, 3.0]
    """
    need_sparse("masked_matmul", mask=mask)
    _need_matrices("masked_matmul", x, y)
    if [*x.shape[:-1], y.shape[-1]] != mask.shape or len(mask.sparse_shape()) != mask.ndim:
        raise ShapeError(
            f"masked_matmul: expected a mask of shape {[*x.shape[:-1], y.shape[-1]]} with "
            f"coordinates of all dimensions, got {mask.shape}"
        )
    rows, columns = (to_tensor(each) for each in _lines(mask))
    left, right = (
        shaped(each, [math.prod(each.shape[:-1]), x.shape[-1]]) for each in (x, _turned(y))
    )
    return mask.with_values(eager.sampled_product(rows, columns, left, right))


@_PRODUCTS
def mv(x: SparseTensor, vec: Any, name: str | None = None) -> Any:
    """A sparse matrix times a vector.

    Args:
        x: [n, k].
        vec: [k]: a dense tensor.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
    >>> paddle.sparse.mv(x, paddle.to_tensor([1.0, 10.0])).tolist()
    [20.0, 3.0]
    """
    need_sparse("mv", x=x)
    if len(vec.shape) != 1 or x.ndim != 2:
        raise ShapeError(f"mv: expected a matrix and a vector, got {x.shape} and {[*vec.shape]}")
    return shaped(matmul(x, shaped(vec, [vec.shape[0], 1])), [x.shape[0]])


@_PRODUCTS
def addmm(
    input: Any,
    x: SparseTensor,
    y: Any,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Any:
    """``beta * input + alpha * x y``.

    Args:
        input: [n, m]: dense where ``y`` is, else sparse.
        x: [n, k]: a sparse matrix.
        y: [k, m].
        beta: the factor of ``input``.
        alpha: that of the product.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
    >>> paddle.sparse.addmm(paddle.ones([2, 1]), x, paddle.ones([2, 1]), 10.0, 1.0).tolist()
    [[12.0], [13.0]]
    """
    need_sparse("addmm", x=x)
    product = matmul(x, y)
    if isinstance(input, SparseTensor) != isinstance(product, SparseTensor):
        raise ArgumentError("addmm: expected input and y to be both sparse or both dense")
    if [*input.shape] != [*product.shape]:
        raise ShapeError(f"addmm: expected input of shape {[*product.shape]}, got {[*input.shape]}")
    plus = add if isinstance(product, SparseTensor) else arithmetic.add
    return plus(input * beta, product * alpha)


@_PRODUCTS
def pca_lowrank(
    x: SparseTensor,
    q: int | None = None,
    center: bool = True,
    niter: int = 2,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The principal components of a sparse matrix: those of the dense one.

    Args:
        x: [n, m].
        q: how many; 6 at most when None.
        center: subtract the mean of each column first.
        niter: how many steps are taken.

    Returns:
        U, S and V.
    """
    need_sparse("pca_lowrank", x=x)
    found: tuple[Any, Any, Any] = dense_pca_lowrank(x.to_dense(), q, center, niter)
    return found


api_boundaries(globals())
