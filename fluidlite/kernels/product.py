"""Products of matrices: ``np.dot`` takes half a microsecond less than ``np.matmul``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.prepared import Prepared, prepares
from ..opdef.spec import Spec, flat, size_of
from .half import in_single


def _is_scaling(X: Spec, Y: Spec) -> bool:
    """Whether one has a single element: ``np.dot`` scales the other with it, which gives -0 where a
    sum, which begins with zero, is none, and leaves out what is infinite where it is zero.
    """
    return 1 in (size_of(X.shape), size_of(Y.shape))


@prepares("mul")
@in_single
def mul(op: Any, X: Spec, Y: Spec) -> Prepared | None:
    """The product of what X and Y are flattened to."""
    if _is_scaling(X, Y):
        return None
    if X.ndim == Y.ndim == 2:
        return Prepared(np.dot, out=True)
    rows, columns = op.x_num_col_dims, op.y_num_col_dims
    x, y = flat(X.shape, rows), flat(Y.shape, columns)
    shape = X.shape[:rows] + Y.shape[columns:]
    return Prepared(lambda a, b: np.matmul(a.reshape(x), b.reshape(y)).reshape(shape))


@prepares("matmul")
@in_single
def matmul(op: Any, X: Spec, Y: Spec) -> Prepared | None:
    """The product of two matrices, either of which may be transposed."""
    if X.ndim != 2 or Y.ndim != 2 or op.alpha != 1.0 or op.head_number != 1:
        return None
    if _is_scaling(X, Y):
        return None
    if op.transpose_X and op.transpose_Y:
        return Prepared(lambda a, b, out=None: np.dot(a.T, b.T, out=out), out=True)
    if op.transpose_X:
        return Prepared(lambda a, b, out=None: np.dot(a.T, b, out=out), out=True)
    if op.transpose_Y:
        return Prepared(lambda a, b, out=None: np.dot(a, b.T, out=out), out=True)
    return Prepared(np.dot, out=True)
