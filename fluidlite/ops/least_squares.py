"""Least squares, pseudo-inverses and ranks."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import Double, need_choice
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.spec import Spec, agree, broadcast, need_float, spec
from .matrices import (
    OfMatrices,
    as_row,
    halved,
    least,
    need_matrices,
    need_square,
    times_turned,
    turned,
    turned_times,
)


class pseudo_inverse(OfMatrices):
    """Out = the matrices of Moore and Penrose: the inverses on what X reaches.

    The gradient holds where the rank does not change (Golub and Pereyra, The differentiation of
    pseudo-inverses and nonlinear least squares problems whose variables separate, 1973).

    X: matrices, [..., m, n].
    Out: [..., n, m].
    rcond: singular values count as 0 up to this part of the largest one.
    hermitian: X is symmetric, so that eigenvalues do; one triangle of it is read.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    rcond: Double = 1e-15
    hermitian: bool = False

    def infer(self, X: Spec) -> Specs:
        (need_square if self.hermitian else need_matrices)(X=X)
        *batch, m, n = X.shape
        return X.with_shape((*batch, n, m))

    def run(self, xp: Any, X: Array) -> Array:
        if not X.size:
            return xp.swapaxes(X, -1, -2)
        if self.hermitian:
            s, u = xp.eigh(X)
            vh = xp.turned(u)
        else:
            u, s, vh = xp.svd(X)
        size = xp.abs(s)
        kept = size > self.rcond * size.max(-1, keepdims=True)
        inverse = xp.where(kept, 1 / xp.where(kept, s, 1), 0)
        inverse = xp.asarray(inverse, s.dtype)[..., None, :]
        return xp.matmul(xp.turned(vh) * inverse, xp.turned(u))

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dX():
            slope = pseudo_inverse_cotangent(f, X, Out, dOut)
            return halved(f, slope) if self.hermitian else slope

        return dict(X=dX)


def pseudo_inverse_cotangent(f: Any, X: Value, P: Value, dP: Value) -> Value:
    """The cotangent of a matrix from that of its pseudo-inverse P:
    -P' dP P' + (1 - X P) dP' P P' + P' P dP' (1 - P X), with ' for conjugate
    transposes.
    """
    slope = turned(f, dP)
    middle = times_turned(f, turned_times(f, P, dP), P)
    above = f.matmul(slope - f.matmul(X, f.matmul(P, slope)), times_turned(f, P, P))
    beside = f.matmul(turned_times(f, P, P), slope - f.matmul(f.matmul(slope, P), X))
    return f.sum([-middle, above, beside])


class lstsq(OfMatrices):
    """The solutions of systems of linear equations whose errors are least in their squares, the
    shortest where there are several.

    The gradient holds where the rank does not change (as that of ``pseudo_inverse``).

    X: matrices, [..., m, n].
    Y: the right sides, [..., m, k].
    Solution: [..., n, k].
    Residuals: the sums of squares of errors, [..., k]; empty unless m is larger than n.
    Rank: the ranks of X; empty for "gels".
    SingularValues: [..., the smaller of m and n]; empty for "gels" and "gelsy".
    rcond: singular values count as 0 up to this part of the largest one; the precision of the
        element type times the larger size of X where it is not above 0.
    driver: the routine of LAPACK that Paddle takes; here it says only what is given.
    """

    signature = "X, Y -> Solution, Residuals, Rank!, SingularValues"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    rcond: float = 0.0
    driver: str = "gels"

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_matrices(X=X, Y=Y)
        need_choice(self, "driver", "gels", "gelsy", "gelsd", "gelss")
        *batch, m, n = X.shape
        same = X.ndim == Y.ndim and all(map(agree, X.shape[:-1], Y.shape[:-1]))
        if not same:
            raise ShapeError(
                f"expected X and Y of as many dimensions, which agree but for the last one, got "
                f"shapes {list(X.shape)} and {list(Y.shape)}"
            )
        real = X.with_dtype(X.dtype.part)
        k, empty = Y.shape[-1], spec([0], real.dtype)
        return (
            X.with_shape((*batch, n, k)),
            None if -1 in (m, n) else real.with_shape((*batch, k)) if m > n else empty,
            spec([0], DType.INT32) if self.driver == "gels" else spec(batch, DType.INT32),
            real.with_shape((*batch, least(m, n))) if self.gives_values else empty,
        )

    @property
    def gives_values(self) -> bool:
        """Whether singular values are given."""
        return self.driver in ("gelsd", "gelss")

    def run(self, xp: Any, X: Array, Y: Array) -> Arrays:
        m, n = X.shape[-2:]
        u, s, vh = xp.svd(X)
        part = self.rcond if self.rcond > 0 else float(xp.finfo(X.dtype).eps) * max(m, n)
        counts = s > part * s.max(-1, keepdims=True, initial=0)
        scale = xp.where(counts, 1 / xp.where(counts, s, 1), 0)[..., None]
        inner = xp.matmul(xp.turned(u), Y) * xp.asarray(scale, s.dtype)
        solution = xp.matmul(xp.turned(vh), inner)
        empty = xp.zeros((0,), s.dtype)
        rank = xp.zeros((0,), "int32")
        if self.driver != "gels":
            rank = xp.asarray(counts.sum(-1), "int32")
        errors = empty
        if m > n:
            errors = xp.sum(xp.abs(Y - xp.matmul(X, solution)) ** 2, axis=-2)
        return solution, errors, rank, s if self.gives_values else empty

    def grad(self, f, X, Y, Solution, dSolution=None, dResiduals=None, dSingularValues=None):
        inverse = lambda: f.pseudo_inverse(X, rcond=max(self.rcond, 0.0) or 1e-15)
        m, n = X.shape[-2:]

        def errors():
            """The cotangent of X times the solution, by the sums of squares."""
            return (f.matmul(X, Solution) - Y) * as_row(f, dResiduals) * 2.0

        def dX():
            parts = []
            if dSolution is not None:
                slope = times_turned(f, dSolution, Y)
                parts.append(pseudo_inverse_cotangent(f, X, inverse(), slope))
            if dResiduals is not None and m > n:
                parts.append(times_turned(f, errors(), Solution))
            if dSingularValues is not None and self.gives_values:
                u, _, vh = f.svd(X)
                parts.append(f.matmul(u * as_row(f, dSingularValues), vh))
            return f.sum(parts) if parts else f.fill_zeros_like(X)

        def dY():
            parts = []
            if dSolution is not None:
                parts.append(turned_times(f, inverse(), dSolution))
            if dResiduals is not None and m > n:
                parts.append(-errors())
            return f.sum(parts) if parts else f.fill_zeros_like(Y)

        return dict(X=dX, Y=dY)


class matrix_rank(OfMatrices):
    """The ranks of the matrices in the last two dimensions of X: how many singular values count.

    X: matrices.
    TolTensor: up to which size they do not, beside ``tol``: one number, or one for each matrix.
    Out: integers, without the last two dimensions.
    tol: up to which size they do not.
    hermitian: X is symmetric, so that eigenvalues count; one triangle of it is read.
    use_default_tol: in place of ``tol`` the precision of the element type, times the larger
        size of X, times the largest singular value.
    """

    signature = "X, TolTensor?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    tol: float = 0.0
    hermitian: bool = False
    use_default_tol: bool = True
    grad = None

    def infer(self, X: Spec, TolTensor: Spec | None) -> Specs:
        (need_square if self.hermitian else need_matrices)(X=X)
        shape = X.shape[:-2]
        if TolTensor is not None:
            need_float(TolTensor=TolTensor)
            shape = broadcast(tuple(shape), tuple(TolTensor.shape))
        return spec(shape, DType.INT32)

    def run(self, xp: Any, X: Array, TolTensor: Array) -> Array:
        if not X.size:
            return xp.zeros(X.shape[:-2], "int32")
        values = xp.eigvalsh(X) if self.hermitian else xp.svdvals(X)
        size = xp.abs(values)
        if TolTensor is not None:
            bound = TolTensor[..., None]
        elif self.use_default_tol:
            part = float(xp.finfo(X.dtype).eps) * max(X.shape[-2:])
            bound = part * size.max(-1, keepdims=True)
        else:
            bound = self.tol
        return xp.asarray((size > bound).sum(-1), "int32")
