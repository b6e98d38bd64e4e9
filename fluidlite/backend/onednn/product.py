"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels import threads
from ...opdef.prepared import Laid, Prepared
from ...opdef.spec import flat
from .library import Library
from .memory import address_of
from .planner import Layouts, Planner, serves

#: operations from which on a product is faster here: on one thread, and where the BLAS of NumPy
#: would take several
SMALLEST, SMALLEST_OF_MANY = 1 << 21, 1 << 19
NARROW = 32  #: rows or columns, below which that BLAS is faster on one thread
NARROW_TRANSPOSED = 128  #: columns, if what they come from is transposed
FLOAT, ITEM = np.dtype("float32"), 4

#: a function of two matrices and ``out``
Multiply = Callable[..., Any]


def _steps(matrix: Any) -> tuple[bytes, int] | None:
    """Whether a matrix is transposed, and the elements between its rows; None for other views."""
    (down, across), (rows, columns) = matrix.strides, matrix.shape
    if across == ITEM and down >= columns * ITEM and down % ITEM == 0:
        return b"N", down // ITEM
    if down == ITEM and across >= rows * ITEM and across % ITEM == 0:
        return b"T", across // ITEM
    return None


def multiply(library: Library) -> Multiply:
    """A function that multiplies matrices of float32 as ``np.matmul`` does."""
    sgemm = library.sgemm

    def product(a: Any, b: Any, out: Any = None) -> Any:
        if out is None:
            out = np.empty((a.shape[0], b.shape[1]), FLOAT)
        first, second, third = _steps(a), _steps(b), _steps(out)
        if first is None or second is None or third is None or third[0] != b"N":
            return np.matmul(a, b, out=out)
        count, depth = a.shape
        columns = b.shape[1]
        failed = sgemm(
            *(first[0], second[0], count, columns, depth, 1.0),
            *(address_of(a), first[1], address_of(b), second[1], 0.0, address_of(out), third[1]),
        )
        return np.matmul(a, b, out=out) if failed else out

    return product


def _prepared(planner: Planner, op: Any, x: Any, y: Any) -> Prepared | None:
    """A kernel for matrices."""
    product = multiply(planner.library)
    if op.type == "mul":
        rows, columns = op.x_num_col_dims, op.y_num_col_dims
        first, second = flat(x.shape, rows), flat(y.shape, columns)
        if x.ndim == y.ndim == 2:
            return Prepared(product, out=True)
        shape = x.shape[:rows] + y.shape[columns:]
        return Prepared(lambda a, b: product(a.reshape(first), b.reshape(second)).reshape(shape))
    if x.ndim != 2 or y.ndim != 2 or op.alpha != 1.0:
        return None
    if op.transpose_X and op.transpose_Y:
        return Prepared(lambda a, b, out=None: product(a.T, b.T, out=out), out=True)
    if op.transpose_X:
        return Prepared(lambda a, b, out=None: product(a.T, b, out=out), out=True)
    if op.transpose_Y:
        return Prepared(lambda a, b, out=None: product(a, b.T, out=out), out=True)
    return Prepared(product, out=True)


@serves("mul", "matmul")
def matmul(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The product of two matrices, either of which may be transposed."""
    x, y = kernel.arguments
    prepared = _prepared(planner, kernel.op, x, y)
    if prepared is None or not (planner.everywhere or _pays(kernel.op, x, y, kernel.outputs[0])):
        return None
    return Laid(prepared, (None, None), (None,))


def _pays(op: Any, x: Any, y: Any, product: Any) -> bool:
    """Whether a product of matrices is faster here.

    Where there are several threads it is, if only because those of one library do not get into the
    way of those of another one.
    """
    depth = (x.size * y.size / product.size) ** 0.5
    rows, columns = x.size / depth, y.size / depth
    operations = 2 * rows * columns * depth
    if threads.count() > 1:
        return bool(operations > SMALLEST_OF_MANY)
    transposed = op.type == "matmul" and op.transpose_Y
    narrow = min(rows, columns) < NARROW or (transposed and columns < NARROW_TRANSPOSED)
    return bool(operations >= SMALLEST and not narrow)
