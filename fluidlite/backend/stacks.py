"""Functions of ``kernels/linear_algebra.py`` for stacks of small matrices: by generated kernels
where these are there, which have finite results only; as large ones for all else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..kernels import linear_algebra as lapack
from ..kernels import slopes
from . import panels
from .panels import flags_of, lying

_KERNELS = f"{__package__}.native.matrices"  # read when matrices are first small
MOST = 32  #: rows and columns up to which kernels are faster
LEAST = 8  #: matrices from which on they are


def _fit(x: Any) -> bool:
    """Whether a kernel takes a stack."""
    if type(x) is not np.ndarray or x.ndim < 3 or x.dtype.char not in "fd":
        return False
    rows, columns = x.shape[-2:]
    return 0 < rows <= MOST and 0 < columns <= MOST and x.size >= LEAST * rows * columns


def _fit_beside(x: Any, y: Any) -> bool:
    """Whether a kernel takes a stack, and right sides."""
    return _fit(x) and _fit(y) and x.shape[:-2] == y.shape[:-2] and x.dtype == y.dtype


def _run(name: str, arrays: tuple[Any, ...]) -> bool:
    return bool(import_module(_KERNELS).STACKS.get().run(name, arrays))


def _computed(name: str, x: Any, *shapes: tuple[int, ...]) -> Any:
    """Results of shapes; None where the kernel has none."""
    if not _fit(x):
        return None
    array, turned = lying(x)
    results = [np.empty(shape, x.dtype) for shape in shapes]
    if not _run(name, (array, flags_of(turned), *results)):
        return None
    return results if len(results) > 1 else results[0]


def _substituted(name: str, a: Any, b: Any, *flags: bool) -> Any:
    """Right sides that a kernel has solved; None where it has not."""
    if not _fit_beside(a, b):
        return None
    array, turned = lying(a)
    out = np.empty(b.shape, b.dtype)
    arrays = array, np.ascontiguousarray(b), flags_of(turned, *flags), out
    return out if _run(name, arrays) else None


def inv(x: Any) -> Any:
    """The inverses.

    Raises:
        OpError: a matrix is singular.
    """
    found = _computed("inv", x, x.shape)
    return panels.inv(x) if found is None else found


def inv_or_nan(x: Any) -> Any:
    """The inverses; NaN of singular matrices."""
    found = _computed("inv", x, x.shape)
    return panels.inv_or_nan(x) if found is None else found


def det(x: Any) -> Any:
    """The determinants."""
    found = _computed("det", x, x.shape[:-2])
    return panels.det(x) if found is None else found


def cholesky(x: Any, upper: bool = False) -> Any:
    """Triangular factors of positive definite matrices, of which one triangle is read.

    Raises:
        OpError: a matrix is not positive definite.
    """
    found = _computed("cholesky", lapack.turned(x) if upper else x, x.shape)
    if found is None:
        return panels.cholesky(x, upper)
    return lapack.turned(found) if upper else found


def solve(a: Any, b: Any) -> Any:
    """What ``a`` has to be multiplied by from the right to be ``b``.

    Raises:
        OpError: a matrix is singular.
    """
    found = _substituted("solve", a, b)
    return panels.solve(a, b) if found is None else found


def triangular_solve(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """What triangular matrices have to be multiplied by from the right to be ``b``."""
    if b.ndim > 2 and b.shape[-2] >= panels.TRIANGLES and b[0].nbytes >= panels.SIDES:
        return panels.triangular_solve(a, b, upper, unit)
    found = _substituted("triangular_solve", a, b, upper, unit)
    return panels.triangular_solve(a, b, upper, unit) if found is None else found


def lu(x: Any) -> Any:
    """Triangular factors of matrices whose rows are exchanged, both in one matrix."""
    if _fit(x):
        array, turned = lying(x)
        factors = np.empty(x.shape, x.dtype)
        pivots = np.empty((*x.shape[:-2], min(x.shape[-2:])), np.int32)
        if _run("lu", (array, flags_of(turned), factors, pivots)):
            return factors, pivots, np.zeros(x.shape[:-2], np.int32)
    return panels.lu(x)


def qr(x: Any, mode: Any = "reduced") -> Any:
    """An orthogonal matrix and a triangular one, whose product x is."""
    if mode == "reduced":
        *lead, m, n = x.shape
        least = min(m, n)
        found = _computed("qr", x, (*lead, m, least), (*lead, least, n))
        if found is not None:
            return tuple(found)
    return panels.qr(x, mode)


def cofactors(x: Any) -> Any:
    """The matrices of cofactors, of singular matrices, too: the slopes of determinants."""
    found = _computed("cofactors", x, x.shape)
    return panels.cofactors(x) if found is None else found


def cholesky_slope(low: Any, slope: Any) -> Any:
    """The gradient by a matrix, of its lower factor and the gradient by that."""
    if _fit_beside(low, slope):
        out = np.empty(low.shape, low.dtype)
        if _run("cholesky_slope", (*map(np.ascontiguousarray, (low, slope)), out)):
            return out
    return slopes.cholesky_slope(low, slope, triangular_solve)


def lu_slope(factors: Any, pivots: Any, slope: Any) -> Any:
    """The gradient by square matrices, of L and U in one matrix and the gradient by these."""
    is_square = factors.shape[-2] == factors.shape[-1]
    if is_square and _fit_beside(factors, slope) and pivots.dtype == np.int32:
        out = np.empty(slope.shape, slope.dtype)
        if _run("lu_slope", (*map(np.ascontiguousarray, (factors, pivots, slope)), out)):
            return out
    return slopes.lu_slope(factors, pivots, slope, triangular_solve)
