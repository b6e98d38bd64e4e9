"""What is reduced along a short last dimension, of many rows.

NumPy takes longer to begin a row than to read it.  A product with ones sums all rows at once;
the largest are found along columns of a transposed copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.spec import Spec, normal_axis, size_of

SHORT, MANY = 64, 128  #: elements of a row at most, and rows at least
_largest: Any = np.maximum.reduce
_total: Any = np.add.reduce
Reduction = Callable[[Any], Any]


def _is_short(X: Spec, axis: int) -> bool:
    """Whether rows of X are short and many."""
    if X.ndim < 2 or normal_axis(axis, X.ndim) != X.ndim - 1:
        return False
    return 1 < X.shape[-1] <= SHORT and size_of(X.shape[:-1]) >= MANY


def largest(X: Spec, axis: int) -> Reduction:
    """A function of values like X, or of some rows: the largest along a dimension, which stays with
    size 1.

    Args:
        X: floats.
        axis: the dimension; may count from the end.
    """
    if not _is_short(X, axis):
        return lambda x: _largest(x, axis, None, None, True)
    width = X.shape[-1]
    return lambda x: _largest(x.reshape(-1, width).T.copy(), 0).reshape(*x.shape[:-1], 1)


def totals(X: Spec, axis: int) -> Reduction:
    """A function of values like X, or of some rows: their sums along a dimension, which stays with
    size 1.

    Args:
        X: floats.
        axis: the dimension; may count from the end.
    """
    if not _is_short(X, axis) or X.dtype is DType.FP16:
        return lambda x: _total(x, axis, None, None, True)
    width, ones = X.shape[-1], np.ones(X.shape[-1], X.dtype.dtype)
    return lambda x: np.dot(x.reshape(-1, width), ones).reshape(*x.shape[:-1], 1)
