"""Products with matrices of which few elements are stored: SciPy's where it is installed, which are
some thirty times as fast (``benchmarks/sparse_products.py``), else those of NumPy.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

import numpy as np

_CHUNK = 1 << 20  #: elements that are taken from matrices at once


@functools.cache
def _scipy() -> Any:
    """``scipy.sparse``; None where it is not installed."""
    try:
        return import_module("scipy.sparse")
    except ImportError:
        return None


def sum_of_rows(rows: Any, cols: Any, values: Any, dense: Any, size: int) -> Any:
    """``out[i]`` = the sum of ``values[k] * dense[cols[k]]`` where ``rows[k]`` is i.

    Args:
        rows, cols, values: [n].
        dense: a matrix.
        size: how many rows the result has.
    """
    sparse = _scipy()
    if sparse is not None and dense.dtype.char in "fdil" and dense.shape[0]:
        matrix = sparse.coo_array((values, (rows, cols)), shape=(size, dense.shape[0]))
        return np.asarray(matrix @ dense).astype(dense.dtype, copy=False)
    return by_columns(rows, cols, values, dense, size)


def added_by_product(out: Any, index: Any, updates: Any) -> bool:
    """Add rows to those of a matrix by a product, where SciPy is installed; whether it is.

    Args:
        out: the matrix.
        index: numbers of its rows, [n].
        updates: n rows.
    """
    sparse = _scipy() if out.dtype.char in "fd" else None
    if sparse is None:
        return False
    ones, ends = np.ones(len(index), out.dtype), np.arange(len(index) + 1)
    out += sparse.csc_array((ones, index, ends), shape=(len(out), len(index))) @ updates
    return True


def by_columns(rows: Any, cols: Any, values: Any, dense: Any, size: int) -> Any:
    """What :func:`sum_of_rows` gives, of NumPy alone."""
    out = np.zeros((size, dense.shape[1]), dense.dtype)
    for j in range(dense.shape[1]):
        terms = values * dense[cols, j]
        if dense.dtype.kind == "f":
            out[:, j] = np.bincount(rows, terms, size)
        else:
            np.add.at(out[:, j], rows, terms)
    return out


def sampled(rows: Any, cols: Any, x: Any, y: Any) -> Any:
    """The inner products of ``x[rows[k]]`` and ``y[cols[k]]``, [n]."""
    out = np.empty(len(rows), x.dtype)
    step = max(1, _CHUNK // max(1, x.shape[1]))
    for k in range(0, len(rows), step):
        part = slice(k, k + step)
        np.einsum("km,km->k", x[rows[part]], y[cols[part]], out=out[part])
    return out
