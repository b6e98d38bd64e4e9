"""LU and QR decompositions, and what follows from them: NumPy lacks the former, and is slow at the
latter.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .triangular import inverted, triangular_solve

_BLOCK = 32  # columns from which on products of blocks do most of the work
_FEW = 12  # columns from which on a call for each matrix is faster
LARGE = 256  #: rows from which on SciPy's factors are faster than NumPy's solutions
REFLECTED = 100  #: rows and columns from which on SciPy's QR decompositions are


def lu(x: Any) -> Any:
    """Triangular factors of matrices whose rows are exchanged, both in one matrix.

    Where SciPy is installed, its LAPACK factors what is not small; else, and small matrices of
    which there are many, NumPy does, column by column for all at once.

    Returns:
        the factors, the row that each row was exchanged with, counted from 1, and for each matrix
        the first zero on the diagonal of U, counted from 1; 0 if there is none.
    """
    m, n = x.shape[-2:]
    count = min(m, n)
    a = np.array(x.reshape(-1, m, n))
    pivots = np.empty((len(a), count), np.int32)
    factor = _scipy("getrf", a.dtype) if count >= _FEW else None
    if factor is None:
        _factor(a, pivots)
    else:
        for k in range(len(a)):
            a[k], pivots[k], _ = factor(a[k])
        pivots += 1
    zero = np.diagonal(a, axis1=-2, axis2=-1) == 0
    infos = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if count else np.zeros(len(a))
    lead = x.shape[:-2]
    return a.reshape(x.shape), pivots.reshape(*lead, count), infos.astype(np.int32).reshape(lead)


def _scipy(name: str, dtype: Any) -> Any:
    """LAPACK's routine for an element type; None where SciPy is not installed."""
    try:
        routines = importlib.import_module("scipy.linalg.lapack")
    except ImportError:
        return None
    return getattr(routines, {"f": "s", "d": "d", "F": "c", "D": "z"}[dtype.char] + name)


def _factor(a: Any, pivots: Any) -> None:
    """Write the factors of matrices in their place, and the rows that were exchanged."""
    n, count = a.shape[-1], pivots.shape[-1]
    matrix = np.arange(len(a))
    with np.errstate(all="ignore"):
        for start in range(0, count, _BLOCK):
            end = min(start + _BLOCK, count)
            for j in range(start, end):
                chosen = _sizes(a[:, j:, j]).argmax(-1) + j
                pivots[:, j] = chosen + 1
                if (chosen != j).any():
                    kept = a[:, j].copy()
                    a[:, j] = a[matrix, chosen]
                    a[matrix, chosen] = kept
                pivot = a[:, j, j, None]
                below = a[:, j + 1 :, j]
                np.divide(below, pivot, out=below, where=pivot != 0)
                right = a[:, j + 1 :, j + 1 : end]
                right -= below[:, :, None] * a[:, j, None, j + 1 : end]
            if end < n:
                right = a[:, start:end, end:]
                right[...] = triangular_solve(a[:, start:end, start:end], right, False, True)
                a[:, end:, end:] -= np.matmul(a[:, end:, start:end], right)


def _sizes(x: Any) -> Any:
    """How large numbers are; complex ones as LAPACK compares them."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def row_permutations(pivots: Any, rows: int) -> Any:
    """Where each row of a matrix was before rows were exchanged: of L U of :func:`lu`."""
    lead, count = pivots.shape[:-1], pivots.shape[-1]
    flat = pivots.reshape(-1, count)
    if len(flat) < count:
        found = [_exchanged(each.tolist(), rows) for each in flat]
        return np.array(found, np.int64).reshape(*lead, rows)
    order = np.tile(np.arange(rows), (len(flat), 1))
    matrix = np.arange(len(flat))
    for j in range(count):
        other = flat[:, j] - 1
        kept = order[:, j].copy()
        order[:, j] = order[matrix, other]
        order[matrix, other] = kept
    return order.reshape(*lead, rows)


def _exchanged(pivots: list[int], rows: int) -> list[int]:
    order = list(range(rows))
    for j, other in enumerate(pivots):
        order[j], order[other - 1] = order[other - 1], order[j]
    return order


def is_large(x: Any, least: int) -> bool:
    """Whether matrices are taken by what stands below: those of finite numbers, for SciPy.

    Args:
        x: the matrices.
        least: rows and columns from which on they are.
    """
    return bool(
        min(x.shape[-2:]) >= least
        and x.size
        and _scipy("getrf", x.dtype) is not None
        and np.isfinite(x).all()
    )


def _each(function: Any, *stacks: Any) -> tuple[Any, ...]:
    """The results of a function of single matrices, for stacks."""
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in stacks))
    if not lead:
        return tuple(function(*stacks))
    flat = [np.broadcast_to(x, lead + x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in stacks]
    columns = zip(*map(function, *flat), strict=True)
    return tuple([np.stack(each).reshape(*lead, *each[0].shape) for each in columns])


def _factors(x: Any) -> tuple[Any, list[int]]:
    """L and U in one matrix, and the row that each row was exchanged with, counted from 1; NaN of
    what is singular.
    """
    factors, pivots, info = _scipy("getrf", x.dtype)(x)
    if info:
        factors[...] = np.nan
    return factors, (pivots + 1).tolist()


def inverses(x: Any) -> tuple[Any, Any]:
    """The inverses of large matrices, and their determinants; NaN of singular ones."""
    return _each(_inverse, x)


def _inverse(x: Any) -> tuple[Any, Any]:
    factors, pivots = _factors(x)
    out = np.empty_like(x, order="C")
    if np.isnan(factors[0, 0]):
        out[...] = np.nan
        return out, np.zeros((), x.dtype)
    left = inverted(factors, False, True)
    out[:, _exchanged(pivots, len(x))] = triangular_solve(factors, left, True)
    exchanges = sum(row != k for k, row in enumerate(pivots, 1))
    with np.errstate(all="ignore"):
        return out, (-1) ** exchanges * np.prod(np.diagonal(factors))


def solutions(a: Any, b: Any) -> Any:
    """What large matrices have to be multiplied by from the right to be ``b``; NaN of singular
    ones.
    """
    return _each(_solution, a, b)[0]


def _solution(a: Any, b: Any) -> tuple[Any]:
    factors, pivots = _factors(a)
    right = b[_exchanged(pivots, len(a))]
    return (triangular_solve(factors, triangular_solve(factors, right, False, True), True),)


def reflected(x: Any) -> tuple[Any, Any]:
    """An orthogonal matrix of large ones, and a triangular one, whose product x is."""
    return _each(_reflected, x)


def _reflected(x: Any) -> tuple[Any, Any]:
    rows, columns = x.shape
    least = min(rows, columns)
    work = 64 * columns  # of which LAPACK makes blocks
    packed, scales, *_ = _scipy("geqrf", x.dtype)(x, lwork=work)
    q, *_ = _scipy("orgqr" if x.dtype.kind == "f" else "ungqr", x.dtype)(
        packed[:, :least], scales, lwork=work
    )
    return np.ascontiguousarray(q), np.triu(packed[:least])
