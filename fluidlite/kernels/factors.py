"""LU and QR decompositions, and what follows from them: NumPy lacks the former, and is slow at the
latter.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .triangular import inverted, solve_in_place, triangular_solve

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
    a, lead = x.reshape(-1, m, n), x.shape[:-2]
    pivots = np.empty((len(a), count), np.int32)
    factor = _scipy("getrf", a.dtype) if count >= _FEW and len(a) else None
    if factor is None:
        a = a.copy()
        _factor(a, pivots)
    else:
        factors = [factor(one) for one in a]
        for k, (_, exchanged, _) in enumerate(factors):
            np.add(exchanged, 1, pivots[k])
        a = factors[0][0][None] if len(a) == 1 else np.stack([one for one, *_ in factors])
    zero = np.diagonal(a, axis1=-2, axis2=-1) == 0
    infos = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if count else np.zeros(len(a))
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


def has_lapack() -> bool:
    """Whether SciPy is installed."""
    return _scipy("getrf", np.dtype(np.float32)) is not None


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


def _factors(x: Any) -> tuple[Any, Any]:
    """L and U in one matrix, and the row that each row was exchanged with, counted from 1."""
    factors, pivots, _ = _scipy("getrf", x.dtype)(x)
    return factors, pivots + 1


def turned_inverses(x: Any) -> tuple[Any, Any]:
    """The transposed inverses of large matrices, NaN of singular ones, and their determinants."""
    return _each(lambda one: _turned_inverse(*_factors(one)), x)


def turned_inverses_by_factors(factors: Any, pivots: Any) -> tuple[Any, Any]:
    """The same of matrices of which :func:`lu` gave this."""
    return _each(_turned_inverse, factors, pivots[..., None])


def _turned_inverse(factors: Any, pivots: Any) -> tuple[Any, Any]:
    size = determinants(factors, pivots.reshape(-1))
    if not np.diagonal(factors).all():
        return np.full_like(factors, np.nan, order="C"), size
    turned, out = factors.T, np.empty_like(factors, order="C")
    left = _solved(lambda: inverted(turned, False), (turned, True, True))
    out[row_permutations(pivots.reshape(-1), len(factors))] = left
    return out, size


def determinants(factors: Any, pivots: Any) -> Any:
    """The determinants of matrices of which :func:`lu` gave this."""
    signs, sizes = signs_and_logarithms(factors, pivots)
    with np.errstate(all="ignore"):
        return signs * np.exp(sizes)


def signs_and_logarithms(factors: Any, pivots: Any) -> tuple[Any, Any]:
    """The signs of determinants, and the logarithms of their sizes, as NumPy finds them."""
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    exchanges = (pivots != np.arange(1, pivots.shape[-1] + 1)).sum(-1)
    with np.errstate(all="ignore"):
        sizes = np.abs(diagonal)
        signs = np.where(sizes == 0, 0, diagonal / sizes).prod(-1, dtype=factors.dtype)
        return np.where(exchanges % 2, -signs, signs), np.log(sizes).sum(-1)


def solutions(a: Any, b: Any) -> Any:
    """What large matrices have to be multiplied by from the right to be ``b``; NaN of singular
    ones.
    """
    return _each(lambda one, right: _solution(*_factors(one), right), a, b)[0]


def solutions_by_factors(factors: Any, pivots: Any, b: Any, transpose: bool = False) -> Any:
    """The same for matrices of which :func:`lu` gave this, or for their transposes."""
    one = _solution_of_transpose if transpose else _solution
    return _each(one, factors, pivots[..., None], b)[0]


def _solution(factors: Any, pivots: Any, b: Any) -> tuple[Any]:
    order = row_permutations(pivots.reshape(-1), len(factors))
    return (_solved(lambda: b[order], (factors, False, True), (factors, True, False)),)


def _solution_of_transpose(factors: Any, pivots: Any, b: Any) -> tuple[Any]:
    out, turned = np.empty_like(b, order="C"), factors.T
    left = _solved(lambda: np.array(b), (turned, False, False), (turned, True, True))
    out[row_permutations(pivots.reshape(-1), len(factors))] = left
    return (out,)


def _solved(right: Callable[[], Any], *triangles: tuple[Any, bool, bool]) -> Any:
    """What triangles have to be multiplied by in turn to be a new right side; NaN where one of them
    is singular.

    Args:
        right: makes the right side.
        triangles: a matrix, whether its upper triangle is read, and whether its diagonal is ones.
    """
    x = right()
    if not all(unit or np.diagonal(a).all() for a, _, unit in triangles):
        x[...] = np.nan
        return x
    for triangle in triangles:
        solve_in_place(triangle[0], x, *triangle[1:])
    if np.isfinite(x).all():
        return x
    x = right()
    for a, upper, unit in triangles:
        x = triangular_solve(a, x, upper, unit)
    return x


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
