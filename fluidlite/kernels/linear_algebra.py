"""Decompositions and solutions of stacks of matrices on NumPy's LAPACK, and what NumPy lacks.

Each function takes matrices in the last two dimensions, and any dimensions in front.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OpError
from .factors import (
    LARGE,
    REFLECTED,
    is_large,
    reflected,
    solutions,
    solutions_by_factors,
    turned_inverses,
    turned_inverses_by_factors,
)
from .factors import determinants as determinants
from .factors import lu as lu
from .factors import row_permutations as row_permutations
from .factors import signs_and_logarithms as signs_and_logarithms
from .triangular import triangular_solve as triangular_solve

#: what kernels call as functions of their array namespace
NAMES = (
    *("cholesky", "cofactors", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "inv_or_nan"),
    *("lu", "qr", "row_permutations", "slogdet", "solve", "svd", "svdvals", "triangular_solve"),
    *("turned", "determinants", "inv_by_factors", "signs_and_logarithms", "solve_by_factors"),
    "cofactors_by_factors",
)


def _loop(name: str) -> Any:
    """A loop of NumPy over LAPACK; None where this version has none of that name.

    The public functions compute float32 in double precision, which takes twice the time, and say
    nothing about the other matrices of a stack where one is singular.
    """
    return getattr(getattr(np.linalg, "_umath_linalg", None), name, None)


def _looped(names: tuple[str, ...], form: str, *arrays: Any, **outs: Any) -> Any:
    """What a loop of LAPACK gives; NaN for matrices that it fails for.

    Args:
        names: of the loop, in this or that version of NumPy, and of the public function last.
        form: the types, with ``t`` for that of the first array, ``r`` for its real type and ``c``
            for its complex type.
        arrays: the operands.
        outs: what the loop writes to, as ``out``.
    """
    own = arrays[0].dtype.char
    types = {"t": own, "r": own.lower(), "c": own.upper()}
    signature = "".join([types.get(letter, letter) for letter in form])
    with np.errstate(all="ignore"):
        for name in names[:-1]:
            loop = _loop(name)
            if loop is not None:
                return loop(*arrays, **outs, signature=signature)
        return getattr(np.linalg, names[-1])(*arrays)


def turned(x: Any) -> Any:
    """The conjugate transposes."""
    x = np.swapaxes(x, -1, -2)
    return x.conj() if x.dtype.kind == "c" else x


def _need_result(found: Any, given: Any, expected: str) -> Any:
    """What was computed.

    Raises:
        OpError: a matrix of finite numbers has no such result.
    """
    failed = np.isnan(found).any(axis=(-2, -1))
    if failed.any():
        failed = np.atleast_1d(failed & np.isfinite(given).all(axis=(-2, -1)))
        if failed.any():
            place = ", ".join(str(int(i)) for i in np.argwhere(failed)[0])
            where = f"; it is the one at [{place}]" if given.ndim > 2 else ""
            raise OpError(f"expected {expected}{where}")
    return found


def inv(x: Any) -> Any:
    """The inverses.

    Raises:
        OpError: a matrix is singular.
    """
    return _need_result(inv_or_nan(x), x, "matrices that have an inverse, got a singular one")


def inv_or_nan(x: Any) -> Any:
    """The inverses; NaN of singular matrices."""
    if is_large(x, LARGE):
        return np.ascontiguousarray(np.swapaxes(turned_inverses(x)[0], -1, -2))
    return _looped(("inv", "inv"), "t->t", x)


def inv_by_factors(factors: Any, pivots: Any) -> Any:
    """The same by what ``lu`` gave."""
    return np.swapaxes(turned_inverses_by_factors(factors, pivots)[0], -1, -2)


def solve(a: Any, b: Any) -> Any:
    """What ``a`` has to be multiplied by from the right to be ``b``.

    Raises:
        OpError: a matrix is singular.
    """
    found = solutions(a, b) if is_large(a, LARGE) else _looped(("solve", "solve"), "tt->t", a, b)
    return _need_result(
        found, _alike(a, found), "matrices that have an inverse, got a singular one"
    )


def solve_by_factors(a: Any, factors: Any, pivots: Any, b: Any, transpose: bool = False) -> Any:
    """The same by what ``lu`` gave for ``a``, which may be transposed.

    Raises:
        OpError: a matrix is singular.
    """
    found = solutions_by_factors(factors, pivots, b, transpose)
    return _need_result(
        found, _alike(a, found), "matrices that have an inverse, got a singular one"
    )


def _alike(a: Any, found: Any) -> Any:
    return np.broadcast_to(a, (*found.shape[:-2], *a.shape[-2:]))


def cholesky(x: Any, upper: bool = False) -> Any:
    """Triangular factors of positive definite matrices, of which one triangle is read.

    Raises:
        OpError: a matrix is not positive definite.
    """
    found = _looped(("cholesky_lo", "cholesky"), "t->t", turned(x) if upper else x)
    found = _need_result(found, x, "positive definite matrices, got one that is not")
    return turned(found) if upper else found


def det(x: Any) -> Any:
    """The determinants."""
    return _looped(("det", "det"), "t->t", x)


def slogdet(x: Any) -> Any:
    """The signs of determinants, and the logarithms of their sizes."""
    return _looped(("slogdet", "slogdet"), "t->tr", x)


def _finite(x: Any) -> tuple[Any, Any]:
    """Matrices that LAPACK may have, and which are not those that were given: where numbers are not
    finite it may write beyond its arrays, or look for an end for ever.
    """
    lost = ~np.isfinite(x).all(axis=(-2, -1))
    return np.where(lost[..., None, None], x.dtype.type(0), x) if lost.any() else x, lost


def _nan_of(lost: Any, *found: Any) -> Any:
    """Results, NaN for some of the matrices."""
    if lost.any():
        for each in found:
            each[lost] = np.nan
    return found if len(found) > 1 else found[0]


def eigh(x: Any, upper: bool = False) -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read; NaN of
    those that are not finite.
    """
    finite, lost = _finite(x)
    loop = "eigh_up" if upper else "eigh_lo"
    if _loop(loop) is None:
        return _nan_of(lost, *np.linalg.eigh(finite, "U" if upper else "L"))
    outs = {"out": (None, _by_columns(finite))} if _is_wide(finite) else {}
    values, vectors = _nan_of(lost, *_looped((loop, "eigh"), "t->rt", finite, **outs))
    return values, np.ascontiguousarray(vectors)


def _is_wide(x: Any) -> bool:
    """Whether LAPACK's copies of square results, element by element, take longer than NumPy's."""
    return bool(x.shape[-1] >= 128)


def _by_columns(x: Any) -> Any:
    """Room for matrices like square ones, column by column, as LAPACK writes them."""
    return np.swapaxes(np.empty(x.shape, x.dtype), -1, -2)


def eigvalsh(x: Any, upper: bool = False) -> Any:
    """Eigenvalues of symmetric matrices, of which one triangle is read; NaN of those that are not
    finite.
    """
    finite, lost = _finite(x)
    loop = "eigvalsh_up" if upper else "eigvalsh_lo"
    if _loop(loop) is None:
        return _nan_of(lost, np.linalg.eigvalsh(finite, "U" if upper else "L"))
    return _nan_of(lost, _looped((loop, "eigvalsh"), "t->r", finite))


def eig(x: Any) -> Any:
    """Eigenvalues and eigenvectors, as complex numbers; NaN of matrices that are not finite."""
    finite, lost = _finite(x)
    found = _nan_of(lost, *_looped(("eig", "eig"), "t->cc", _wide(finite)))
    whole = np.result_type(x.dtype, np.complex64)
    return tuple([each.astype(whole, copy=False) for each in found])


def eigvals(x: Any) -> Any:
    """Eigenvalues, as complex numbers; NaN of matrices that are not finite."""
    finite, lost = _finite(x)
    values = _nan_of(lost, _looped(("eigvals", "eigvals"), "t->c", _wide(finite)))
    return values.astype(np.result_type(x.dtype, np.complex64), copy=False)


def _wide(x: Any) -> Any:
    """Matrices in a type of which NumPy has a loop for eigenvalues: for complex64 it has none."""
    return x.astype(np.complex128) if x.dtype == np.complex64 else x


def svd(x: Any, full_matrices: bool = False) -> Any:
    """U, the singular values and the conjugate transpose of V; NaN of matrices that are not
    finite.
    """
    finite, lost = _finite(x)
    kind, wide = "f" if full_matrices else "s", "m" if x.shape[-2] < x.shape[-1] else "n"
    loops = (f"svd_{kind}", f"svd_{wide}_{kind}")
    if all(_loop(loop) is None for loop in loops):
        return _nan_of(lost, *np.linalg.svd(finite, full_matrices=full_matrices))
    is_wide = x.shape[-1] == x.shape[-2] and _is_wide(x)
    outs = {"out": (_by_columns(x), None, _by_columns(x))} if is_wide else {}
    factors = _nan_of(lost, *_looped((*loops, "svd"), "t->trt", finite, **outs))
    return tuple(map(np.ascontiguousarray, factors))


def svdvals(x: Any) -> Any:
    """The singular values; NaN of matrices that are not finite."""
    finite, lost = _finite(x)
    loops = ("svd", f"svd_{'m' if x.shape[-2] < x.shape[-1] else 'n'}")
    if all(_loop(loop) is None for loop in loops):
        return _nan_of(lost, np.linalg.svd(finite, compute_uv=False))
    return _nan_of(lost, _looped((*loops, "svd"), "t->r", finite))


def qr(x: Any, mode: Any = "reduced") -> Any:
    """An orthogonal matrix and a triangular one, whose product x is.

    Args:
        x: matrices.
        mode: "reduced", or "complete" for a square Q.
    """
    if x.shape[-1] == 0 or x.shape[-2] == 0:  # which NumPy refuses in stacks
        rows = x.shape[-2] if mode == "complete" else min(x.shape[-2:])
        q = np.broadcast_to(np.eye(x.shape[-2], rows, dtype=x.dtype), (*x.shape[:-1], rows))
        return q.copy(), np.zeros((*x.shape[:-2], rows, x.shape[-1]), x.dtype)
    if mode == "reduced" and is_large(x, REFLECTED):
        return reflected(x)
    return tuple(np.linalg.qr(x, mode))


def cofactors(x: Any) -> Any:
    """The matrices of cofactors, of singular matrices, too: the slopes of determinants."""
    if is_large(x, LARGE):
        return _cofactors(x, *turned_inverses(x))
    return _cofactors(x, np.swapaxes(inv_or_nan(x), -1, -2), det(x))


def cofactors_by_factors(x: Any, factors: Any, pivots: Any) -> Any:
    """The same by what ``lu`` gave for ``x``."""
    return _cofactors(x, *turned_inverses_by_factors(factors, pivots))


def _cofactors(x: Any, turned_inverse: Any, sizes: Any) -> Any:
    with np.errstate(all="ignore"):
        minors = sizes[..., None, None] * turned_inverse
    singular = np.isnan(turned_inverse).any(axis=(-2, -1)) & np.isfinite(x).all(axis=(-2, -1))
    if singular.any():
        minors[singular] = _cofactors_by_svd(x[singular])
    return minors


def _cofactors_by_svd(x: Any) -> Any:
    u, s, vh = svd(x)
    n = s.shape[-1]
    others = np.where(np.eye(n, dtype=bool), s.dtype.type(1), s[..., None, :]).prod(-1)
    sign = (det(u) * det(vh))[..., None, None]
    return sign * np.matmul(u * others[..., None, :], vh).conj()
