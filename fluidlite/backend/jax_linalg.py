"""Decompositions and solutions of matrices for kernels that JAX traces: the functions of
``kernels/linear_algebra.py`` by their names.

A matrix without a result gives NaN here, since its values are not known yet.
"""

from __future__ import annotations

from typing import Any

from jax import lax
from jax import numpy as jnp


def turned(x: Any) -> Any:
    """The conjugate transposes."""
    return jnp.swapaxes(x, -1, -2).conj()


def inv(x: Any) -> Any:
    """The inverses."""
    return jnp.linalg.inv(x)


def inv_or_nan(x: Any) -> Any:
    """The inverses; NaN of singular matrices."""
    found = jnp.linalg.inv(x)
    return jnp.where(jnp.isfinite(found).all((-2, -1), keepdims=True), found, jnp.nan)


def solve(a: Any, b: Any) -> Any:
    """What ``a`` has to be multiplied by from the right to be ``b``."""
    lead = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(v, (*lead, *v.shape[-2:])) for v in (a, b))
    return jnp.linalg.solve(a, b)


def cholesky(x: Any, upper: bool = False) -> Any:
    """Triangular factors of positive definite matrices, of which one triangle is read."""
    found = lax.linalg.cholesky(turned(x) if upper else x, symmetrize_input=False)
    found = jnp.tril(found)
    return turned(found) if upper else found


det: Any = jnp.linalg.det


def slogdet(x: Any) -> Any:
    """The signs of determinants, and the logarithms of their sizes."""
    return tuple(jnp.linalg.slogdet(x))


def eigh(x: Any, upper: bool = False) -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read."""
    return tuple(jnp.linalg.eigh(x, "U" if upper else "L", symmetrize_input=False))


def eigvalsh(x: Any, upper: bool = False) -> Any:
    """Eigenvalues of symmetric matrices, of which one triangle is read."""
    return eigh(x, upper)[0]


def eig(x: Any) -> Any:
    """Eigenvalues and eigenvectors, as complex numbers."""
    return tuple(jnp.linalg.eig(x))


eigvals: Any = jnp.linalg.eigvals


def svd(x: Any, full_matrices: bool = False) -> Any:
    """U, the singular values and the conjugate transpose of V."""
    return tuple(jnp.linalg.svd(x, full_matrices=full_matrices))


def svdvals(x: Any) -> Any:
    """The singular values."""
    return jnp.linalg.svd(x, compute_uv=False)


def qr(x: Any, mode: str = "reduced") -> Any:
    """An orthogonal matrix and a triangular one, whose product x is."""
    return tuple(jnp.linalg.qr(x, mode))


def triangular_solve(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """What triangular matrices have to be multiplied by from the right to be ``b``."""
    lead = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(v, (*lead, *v.shape[-2:])) for v in (a, b))
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=not upper, unit_diagonal=unit)


def lu(x: Any) -> Any:
    """Triangular factors of matrices whose rows are exchanged, both in one matrix; which row each
    one was exchanged with, and the first zero on the diagonal of U, both counted from 1.
    """
    factors, pivots, _ = lax.linalg.lu(x)
    zero = jnp.diagonal(factors, axis1=-2, axis2=-1) == 0
    infos = jnp.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype("int32")
    return factors, pivots.astype("int32") + 1, infos


def determinants(factors: Any, pivots: Any) -> Any:
    """The determinants of matrices of which :func:`lu` gave this."""
    signs, sizes = signs_and_logarithms(factors, pivots)
    return signs * jnp.exp(sizes)


def signs_and_logarithms(factors: Any, pivots: Any) -> Any:
    """The signs of determinants, and the logarithms of their sizes, by what :func:`lu` gave."""
    diagonal = jnp.diagonal(factors, axis1=-2, axis2=-1)
    exchanges = (pivots != jnp.arange(1, pivots.shape[-1] + 1)).sum(-1)
    sizes = jnp.abs(diagonal)
    signs = jnp.where(sizes == 0, 0, diagonal / jnp.where(sizes == 0, 1, sizes)).prod(-1)
    return jnp.where(exchanges % 2 == 1, -signs, signs), jnp.log(sizes).sum(-1)


def solve_by_factors(a: Any, factors: Any, pivots: Any, b: Any, transpose: bool = False) -> Any:
    """What matrices, or their transposes, have to be multiplied by to be ``b``, by what :func:`lu`
    gave for them.
    """
    order = row_permutations(pivots, factors.shape[-1])
    lead = jnp.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    b, order = (jnp.broadcast_to(v, (*lead, *v.shape[k:])) for v, k in ((b, -2), (order, -1)))
    if not transpose:
        right = jnp.take_along_axis(b, order[..., None], -2)
        return triangular_solve(factors, triangular_solve(factors, right, False, True), True)
    turned = jnp.swapaxes(factors, -1, -2)
    left = triangular_solve(turned, triangular_solve(turned, b, False), True, True)
    return jnp.take_along_axis(left, jnp.argsort(order)[..., None], -2)


def inv_by_factors(factors: Any, pivots: Any) -> Any:
    """The inverses, NaN of singular matrices, by what :func:`lu` gave."""
    found = solve_by_factors(None, factors, pivots, jnp.eye(factors.shape[-1], dtype=factors.dtype))
    return jnp.where(jnp.isfinite(found).all((-2, -1), keepdims=True), found, jnp.nan)


def row_permutations(pivots: Any, rows: int) -> Any:
    """Where each row of a matrix was before rows were exchanged: of L U of :func:`lu`."""
    return lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)


def cofactors(x: Any) -> Any:
    """The matrices of cofactors, of singular matrices, too: the slopes of determinants."""
    u, s, vh = jnp.linalg.svd(x)
    n = s.shape[-1]
    others = jnp.where(jnp.eye(n, dtype=bool), 1, s[..., None, :]).prod(-1)
    sign = (det(u) * det(vh))[..., None, None]
    return sign * jnp.matmul(u * others[..., None, :], vh).conj()


def cofactors_by_factors(x: Any, factors: Any, pivots: Any) -> Any:
    """The matrices of cofactors, which need no factors here."""
    return cofactors(x)
