"""Functions of ``kernels/linear_algebra.py`` for large matrices: by generated kernels where these
are there, which have finite results only; by LAPACK for all else.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..kernels import linear_algebra as lapack
from ..kernels import threads

_KERNELS = f"{__package__}.native.matrices"  # read when matrices are first large
LEAST = 48  #: rows and columns from which on kernels are faster
MOST = 1024  #: up to which they are, by the number of the BLAS's threads
TRIANGLES = 16  #: and triangles
SIDES = 2048  #: bytes of right sides from which on a triangle is solved faster than many at once
READ = 300  #: rows up to which a turned matrix is read as it lies, and not copied


def fit(*stacks: Any, least: int = LEAST) -> bool:
    """Whether a kernel takes matrices: as many of each.

    Args:
        stacks: of matrices, the first of them of large ones.
        least: rows and columns from which on they count as large.
    """
    first = stacks[0]
    return (
        all(
            type(x) is np.ndarray
            and x.ndim >= 2
            and x.dtype.char in "fd"
            and x.dtype == first.dtype
            and x.shape[:-2] == first.shape[:-2]
            and x.size
            for x in stacks
        )
        and least <= min(first.shape[-2:]) <= max(first.shape[-2:]) <= MOST // threads.count()
    )


def lying(x: Any) -> tuple[Any, bool]:
    """Matrices whose elements lie one after the other, and whether they are to be transposed."""
    if not x.flags.c_contiguous:
        other = np.swapaxes(x, -1, -2)
        if other.flags.c_contiguous:
            return other, True
    return np.ascontiguousarray(x), False


@cache
def flags_of(*flags: bool) -> Any:
    """Flags as kernels take them."""
    return np.array(flags, np.int64)


def _read(x: Any, transpose: bool = False) -> tuple[Any, bool]:
    """The same of large matrices, or of their transposes; a copy where reading takes far steps."""
    array, turned = lying(x)
    if turned != transpose and x.shape[-1] > READ:
        return np.ascontiguousarray(np.swapaxes(array, -1, -2)), not turned
    return array, turned


def _run(name: str, rows: int, inputs: tuple[Any, ...], *outputs: Any) -> bool:
    native = import_module(_KERNELS)
    size = native.scratch_elements(name, rows, outputs[0].shape[-1])
    scratch = np.empty(size, inputs[0].dtype)
    return bool(native.PANELS.get().run(name, (*inputs, scratch, *outputs)))


def triangular_solve(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """What triangular matrices have to be multiplied by from the right to be ``b``."""
    if fit(a, b, least=TRIANGLES):
        (array, turned), (right, side) = _read(a), lying(b)
        out, flags = np.empty(b.shape, b.dtype), flags_of(turned, bool(upper), bool(unit), side)
        if _run("triangular_solve", a.shape[-1], (array, right, flags), out):
            return out
    return lapack.triangular_solve(a, b, upper, unit)


def cholesky(x: Any, upper: bool = False) -> Any:
    """Triangular factors of positive definite matrices, of which one triangle is read.

    Raises:
        OpError: a matrix is not positive definite.
    """
    if fit(x):
        array, turned = lying(lapack.turned(x) if upper else x)
        out = np.empty(x.shape, x.dtype)
        if _run("cholesky", x.shape[-1], (array, flags_of(turned)), out):
            return lapack.turned(out) if upper else out
    return lapack.cholesky(x, upper)


def _factors(x: Any) -> Any:
    """L and U in one matrix, and which rows were exchanged; None where a kernel has none."""
    if not fit(x):
        return None
    array, turned = lying(x)
    factors = np.empty(x.shape, x.dtype)
    pivots = np.empty((*x.shape[:-2], min(x.shape[-2:])), np.int32)
    is_done = _run("lu", x.shape[-2], (array, flags_of(turned)), factors, pivots)
    return (factors, pivots) if is_done else None


def lu(x: Any) -> Any:
    """Triangular factors of matrices whose rows are exchanged, both in one matrix."""
    factors = _factors(x)
    return lapack.lu(x) if factors is None else (*factors, np.zeros(x.shape[:-2], np.int32))


def det(x: Any) -> Any:
    """The determinants."""
    factors = _factors(x)
    return lapack.det(x) if factors is None else lapack.determinants(*factors)


def slogdet(x: Any) -> Any:
    """The signs of determinants, and the logarithms of their sizes."""
    factors = _factors(x)
    return lapack.slogdet(x) if factors is None else lapack.signs_and_logarithms(*factors)


def qr(x: Any, mode: Any = "reduced") -> Any:
    """An orthogonal matrix and a triangular one, whose product x is."""
    if mode == "reduced" and fit(x):
        *lead, rows, columns = x.shape
        array, turned = lying(x)
        q = np.empty((*lead, rows, min(rows, columns)), x.dtype)
        r = np.empty((*lead, min(rows, columns), columns), x.dtype)
        if _run("qr", rows, (array, flags_of(turned)), q, r):
            return q, r
    return lapack.qr(x, mode)


def _solutions(factors: Any, pivots: Any, b: Any, transpose: bool = False) -> Any:
    """What matrices of these factors are multiplied by to be ``b``; None where no kernel knows."""
    if pivots.dtype != np.int32 or not fit(factors, b):
        return None
    array, turned = _read(factors, transpose)
    inputs = array, *map(np.ascontiguousarray, (pivots, b)), flags_of(turned, bool(transpose))
    out = np.empty(b.shape, b.dtype)
    return out if _run("solve_by_factors", b.shape[-2], inputs, out) else None


def solve_by_factors(a: Any, factors: Any, pivots: Any, b: Any, transpose: bool = False) -> Any:
    """What ``a``, which may be transposed, has to be multiplied by from the right to be ``b``, by
    what ``lu`` gave for it.

    Raises:
        OpError: a matrix is singular.
    """
    solution = _solutions(factors, pivots, b, transpose)
    if solution is None:
        return lapack.solve_by_factors(a, factors, pivots, b, transpose)
    return solution


def solve(a: Any, b: Any) -> Any:
    """What ``a`` has to be multiplied by from the right to be ``b``.

    Raises:
        OpError: a matrix is singular.
    """
    if fit(a, b):
        factors = _factors(a)
        solution = None if factors is None else _solutions(factors[0], factors[1], b)
        if solution is not None:
            return solution
    return lapack.solve(a, b)


def _inverses(factors: Any, pivots: Any, transpose: bool = False) -> Any:
    """The inverses of matrices of these factors, or what they are transposed; None where a kernel
    has none.
    """
    if pivots.dtype != np.int32 or not fit(factors):
        return None
    array, turned = _read(factors)
    inputs = array, np.ascontiguousarray(pivots), flags_of(turned, transpose)
    out = np.empty(factors.shape, factors.dtype)
    return out if _run("inv_by_factors", out.shape[-1], inputs, out) else None


def _inverses_of(x: Any) -> Any:
    factors = _factors(x)
    return None if factors is None else _inverses(*factors)


def inv(x: Any) -> Any:
    """The inverses.

    Raises:
        OpError: a matrix is singular.
    """
    inverses = _inverses_of(x)
    return lapack.inv(x) if inverses is None else inverses


def inv_or_nan(x: Any) -> Any:
    """The inverses; NaN of singular matrices."""
    inverses = _inverses_of(x)
    return lapack.inv_or_nan(x) if inverses is None else inverses


def inv_by_factors(factors: Any, pivots: Any) -> Any:
    """The same by what ``lu`` gave."""
    inverses = _inverses(factors, pivots)
    return lapack.inv_by_factors(factors, pivots) if inverses is None else inverses


def cofactors_by_factors(x: Any, factors: Any, pivots: Any) -> Any:
    """The matrices of cofactors, of singular matrices, too, by what ``lu`` gave."""
    inverses = _inverses(factors, pivots, True)
    if inverses is None:
        return lapack.cofactors_by_factors(x, factors, pivots)
    return lapack.determinants(factors, pivots)[..., None, None] * inverses


def cofactors(x: Any) -> Any:
    """The matrices of cofactors, of singular matrices, too: the slopes of determinants."""
    factors = _factors(x)
    return lapack.cofactors(x) if factors is None else cofactors_by_factors(x, *factors)
