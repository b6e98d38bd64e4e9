"""Systems of equations whose matrices are triangles, for stacks and for large ones."""

from __future__ import annotations

from typing import Any

import numpy as np

_BLOCK = 32  # rows of the blocks that are inverted, so that products of blocks do the rest
_TINY = 4  # rows of the smallest blocks, which are inverted element by element


def triangular_solve(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """What triangular matrices have to be multiplied by from the right to be ``b``; of singular
    ones infinite, or NaN.

    Blocks on the diagonal are inverted, all at once, so that products of matrices do the rest: of
    many small matrices and of large ones alike that takes a third of the time of LAPACK's routine
    for any matrices, which is what NumPy has, and less than that for triangles.

    Args:
        a: of which one triangle is read.
        b: with as many rows.
        upper: whether that is the upper one.
        unit: whether the diagonal counts as ones, and is not read.
    """
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*lead, *b.shape[-2:])))
    solve_in_place(a, x, upper, unit)
    return x if np.isfinite(x).all() else _substituted(a, b, upper, unit)


def solve_in_place(a: Any, x: Any, upper: bool, unit: bool = False) -> None:
    """Write what triangles have to be multiplied by to be ``x`` in its place.

    The result is infinite, or NaN, where a block of the triangle has no finite inverse.

    Args:
        a, upper, unit: as of :func:`triangular_solve`.
        x: the right sides, with all dimensions of the result.
    """
    if a.shape[-1]:
        with np.errstate(all="ignore"):
            blocks = _blocks(a.shape[-1])
            inverses = _inverses_of_blocks(a, blocks, upper, unit)
            _solve(a, x, [*zip(blocks, inverses, strict=True)], upper)


def inverted(a: Any, upper: bool, unit: bool = False) -> Any:
    """The inverse of one triangle of matrices, with zeros in the other one.

    Args:
        a: of which one triangle is read.
        upper: whether that is the upper one.
        unit: whether the diagonal counts as ones, and is not read.
    """
    out = np.zeros(a.shape, a.dtype)
    with np.errstate(all="ignore"):
        blocks = _blocks(a.shape[-1])
        for block, inverse in zip(blocks, _inverses_of_blocks(a, blocks, upper, unit), strict=True):
            out[..., block, block] = inverse
        _invert(a, out, blocks, upper)
    return out


def _blocks(n: int) -> list[slice]:
    """The rows of each block."""
    return [slice(k, min(k + _BLOCK, n)) for k in range(0, n, _BLOCK)]


def _inverses_of_blocks(a: Any, blocks: list[slice], upper: bool, unit: bool) -> list[Any]:
    """The inverses of the triangles on the diagonal."""
    parts = [a[..., block, block] for block in blocks]
    if upper:
        parts = [np.swapaxes(part, -1, -2) for part in parts]
    whole = parts if parts[-1].shape == parts[0].shape else parts[:-1]
    inverses = [*_inverses(np.stack(whole), unit)] if whole else []
    inverses += [_inverses(part, unit) for part in parts[len(whole) :]]
    return [np.swapaxes(each, -1, -2) for each in inverses] if upper else inverses


def _halves(blocks: list[Any], upper: bool) -> tuple[list[Any], list[Any]]:
    """The blocks that are solved first, and those that depend on them."""
    middle = len(blocks) // 2
    first, last = blocks[:middle], blocks[middle:]
    return (last, first) if upper else (first, last)


def _span(blocks: list[slice]) -> slice:
    """The rows of blocks that follow each other."""
    return slice(blocks[0].start, blocks[-1].stop)


def _solve(a: Any, x: Any, blocks: list[tuple[slice, Any]], upper: bool) -> None:
    """Write what the blocks of a triangle are multiplied by to give x in its place."""
    if len(blocks) == 1:
        ((block, inverse),) = blocks
        x[..., block, :] = np.matmul(inverse, x[..., block, :])
        return
    first, last = _halves(blocks, upper)
    near, far = (_span([block for block, _ in half]) for half in (first, last))
    _solve(a, x, first, upper)
    x[..., far, :] -= np.matmul(a[..., far, near], x[..., near, :])
    _solve(a, x, last, upper)


def _invert(a: Any, out: Any, blocks: list[slice], upper: bool) -> None:
    """Write the inverse of a triangle, of which ``out`` has that of each block."""
    if len(blocks) < 2:
        return
    halves = _halves(blocks, upper)
    for half in halves:
        _invert(a, out, half, upper)
    near, far = map(_span, halves)
    between = np.matmul(a[..., far, near], out[..., near, near])
    out[..., far, near] = -np.matmul(out[..., far, far], between)


def _inverses(low: Any, unit: bool) -> Any:
    """The inverses of lower triangles, by those of their halves."""
    n = low.shape[-1]
    if n <= _TINY:
        out = np.zeros(low.shape, low.dtype)
        for i in range(n):
            pivot = 1 if unit else 1 / low[..., i, i]
            out[..., i, i] = pivot
            for j in range(i):
                found = low[..., i, j] * out[..., j, j]
                for k in range(j + 1, i):
                    found = found + low[..., i, k] * out[..., k, j]
                out[..., i, j] = -found * pivot
        return out
    half = (n + 1) // 2
    first, last = slice(None, half), slice(half, None)
    out = np.zeros(low.shape, low.dtype)
    if n == 2 * half:
        parts = np.stack([low[..., first, first], low[..., last, last]])
        top, end = _inverses(parts, unit)
    else:
        top, end = _inverses(low[..., first, first], unit), _inverses(low[..., last, last], unit)
    out[..., first, first], out[..., last, last] = top, end
    out[..., last, first] = -np.matmul(end, np.matmul(low[..., last, first], top))
    return out


def _substituted(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The same, row by row for all matrices at once."""
    n = a.shape[-1]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.empty((*lead, *b.shape[-2:]), b.dtype)
    with np.errstate(all="ignore"):
        for i in reversed(range(n)) if upper else range(n):
            known = slice(i + 1, None) if upper else slice(None, i)
            row = b[..., i, :]
            if a[..., i, known].shape[-1]:
                row = row - np.matmul(a[..., i : i + 1, known], x[..., known, :])[..., 0, :]
            x[..., i, :] = row if unit else row / a[..., i, i, None]
    return x
