"""Gradients of decompositions, which are the rules of ``ops/decompositions.py`` and
``ops/linear_systems.py`` with fewer arrays in between, and without products that nothing reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .factors import row_permutations
from .triangular import triangular_solve

#: what kernels of gradients call as functions of NumPy's namespace
SLOPES = ("cholesky_slope", "eigh_slope", "lu_slope", "triangular_slope")
_PANEL = 128  # rows of the products of which one triangle is wanted


def _panels(n: int) -> list[slice]:
    return [slice(k, min(k + _PANEL, n)) for k in range(0, n, _PANEL)]


def _turned(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def cholesky_slope(low: Any, slope: Any, solve: Any = triangular_solve) -> Any:
    """The gradient by a matrix, of its lower factor and the gradient by that.

    Args:
        low, slope: these.
        solve: as :func:`triangular_solve`.
    """
    n, high = low.shape[-1], _turned(low).conj()
    inner = np.empty(np.broadcast_shapes(low.shape, slope.shape), low.dtype)
    for rows in _panels(n):
        before, after = slice(0, rows.start), slice(rows.start, None)
        inner[..., rows, : rows.stop] = np.matmul(
            high[..., rows, after], slope[..., after, : rows.stop]
        )
        inner[..., before, rows] = _turned(inner[..., rows, before]).conj()
        block = np.tril(inner[..., rows, rows], -1)
        at = range(rows.start, rows.stop)
        middle = inner[..., at, at].real
        inner[..., rows, rows] = block + _turned(block).conj()
        inner[..., at, at] = middle
    down = solve(high, inner, True)
    across = solve(high, _turned(down).conj(), True)
    across *= 0.5
    return across


def lu_slope(factors: Any, pivots: Any, slope: Any, solve: Any = triangular_solve) -> Any:
    """The gradient by matrices, of L and U in one matrix and the gradient by these.

    Args:
        factors, pivots, slope: these, and which rows were exchanged.
        solve: as :func:`triangular_solve`.
    """
    m, n = factors.shape[-2:]
    k = min(m, n)
    low, up = np.tril(factors[..., :k], -1), np.triu(factors[..., :k, :])
    low[..., range(k), range(k)] = 1
    of_low, of_up = np.tril(slope[..., :k], -1), np.triu(slope[..., :k, :])
    high, square = _turned(low[..., :k, :]), up[..., :k]
    behind = np.empty_like(slope)
    if n > k:  # what stands beside the square: L times it is X
        across = solve(high, of_up[..., k:], True, True)
        of_low -= np.tril(np.matmul(across, _turned(up[..., k:])), -1)
        behind[..., k:] = across
    if m > k:  # what stands below: it times U is X
        down = _turned(solve(square, _turned(of_low[..., k:, :]), True))
        of_up -= np.triu(np.matmul(_turned(low[..., k:, :]), down))
        behind[..., k:, :] = down
    inner = np.empty((*slope.shape[:-2], k, k), slope.dtype)
    for rows in _panels(k):
        after = slice(rows.start, k)
        beside = np.matmul(of_up[..., rows, after], _turned(up[..., after, after]))
        below = np.matmul(_turned(low[..., after, rows]), of_low[..., after, : rows.stop])
        inner[..., rows, after] = beside
        inner[..., rows, : rows.start] = below[..., : rows.start]
        inner[..., rows, rows] = np.tril(below[..., rows], -1)
        inner[..., rows, rows] += np.triu(beside[..., : rows.stop - rows.start])
    left = _turned(solve(high, inner, True, True))
    behind[..., :k, :k] = _turned(solve(square, left, True))
    out = np.empty_like(slope)
    np.put_along_axis(out, row_permutations(pivots, m)[..., None], behind, -2)
    return out


def triangular_slope(right: Any, out: Any, upper: bool, unit: bool) -> Any:
    """The gradient by triangular matrices, of what they gave and of the gradient by what they were
    given: minus a product, of which one triangle is kept.
    """
    right, out = np.negative(right), _turned(out)
    n, outside = right.shape[-2], bool(unit)
    lead = np.broadcast_shapes(right.shape[:-2], out.shape[:-2])
    slope = np.zeros((*lead, n, n), right.dtype)
    for rows in _panels(n):
        columns = slice(rows.start, None) if upper else slice(0, rows.stop)
        slope[..., rows, columns] = np.matmul(right[..., rows, :], out[..., columns])
        block = slope[..., rows, rows]
        block[...] = np.triu(block, outside) if upper else np.tril(block, -outside)
    return slope


def eigh_slope(values: Any, vectors: Any, of_values: Any, of_vectors: Any) -> Any:
    """The gradient by symmetric matrices, of their eigenvalues and eigenvectors.

    Args:
        values, vectors: as ``eigh`` gives them.
        of_values, of_vectors: the gradients by these; None for none.
    """
    turned, at = _turned(vectors).conj(), range(values.shape[-1])
    if of_vectors is None:
        return np.matmul(vectors * of_values[..., None, :], turned)
    inner = np.matmul(turned, of_vectors)
    apart = values[..., None, :] - values[..., :, None]
    apart[..., at, at] = np.inf
    with np.errstate(all="ignore"):
        inner /= apart
    if of_values is not None:
        inner[..., at, at] += of_values
    slope = np.matmul(np.matmul(vectors, inner), turned)
    slope = slope + _turned(slope).conj()
    slope *= 0.5
    return slope
