"""Matrices as products of simpler ones."""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar

from ..errors import ShapeError, UnsupportedError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import attr, need_choice
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex, conj, is_complex
from ..opdef.spec import Spec, agree, need_integer, spec
from .matrices import (
    OfMatrices,
    as_column,
    as_row,
    columns,
    eye_like,
    halved,
    least,
    lower,
    mirrored,
    need_matrices,
    need_square,
    on_diagonal,
    rows,
    swapped,
    times_turned,
    turned,
    turned_times,
    upper,
)


class qr(OfMatrices):
    """Q and R: matrices whose columns are orthogonal, and triangular ones; X is their product.

    The gradient (Walter and Lehmann, Algorithmic differentiation of linear algebra functions with
    application in optimum experimental design, 2010; Roberts and Roberts, QR and LQ decomposition
    matrix backpropagation algorithms, 2020, for wide matrices) is infinite or NaN where the columns
    of X depend on each other.  There is none for "complete" if X has more rows than columns.

    X: matrices, [..., m, n].
    Q: [..., m, k], where k is the smaller of m and n; empty for "r".
    R: [..., k, n].
    mode: "reduced"; "complete" with m in place of k; or "r".
    """

    signature = "X -> Q, R"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    mode: str = "reduced"

    def infer(self, X: Spec) -> Specs:
        need_matrices(X=X)
        need_choice(self, "mode", "reduced", "complete", "r")
        *batch, m, n = X.shape
        k = m if self.mode == "complete" else least(m, n)
        q = spec([0], X.dtype) if self.mode == "r" else X.with_shape((*batch, m, k))
        return q, X.with_shape((*batch, k, n))

    def run(self, xp: Any, X: Array) -> Arrays:
        if self.mode == "r":
            return xp.zeros((0,), X.dtype), xp.qr(X)[1]
        return xp.qr(X, self.mode)

    def grad(
        self, f: Any, X: Value, Q: Value, R: Value, dQ: Value = None, dR: Value = None
    ) -> Rules:
        def dX():
            m, n = X.shape[-2:]
            if self.mode == "complete" and m > n:
                raise UnsupportedError(
                    f'there is no gradient of qr with mode="complete" for more rows than columns, '
                    f'got shape {list(X.shape)}; take mode="reduced"'
                )
            q, r, dq = (*f.qr(X), None) if self.mode == "r" else (Q, R, dQ)
            if m >= n:
                return _square_qr(f, q, r, dq, dR)
            left = columns(f, X, 0, m), columns(f, X, m, n)
            of_q = None if dR is None else times_turned(f, left[1], columns(f, dR, m, n))
            of_q = dq if of_q is None else of_q if dq is None else of_q + dq
            of_r = None if dR is None else columns(f, dR, 0, m)
            first = _square_qr(f, q, columns(f, r, 0, m), of_q, of_r)
            if dR is None:
                last = f.fill_zeros_like(left[1])
            else:
                last = f.matmul(q, columns(f, dR, m, n))
            return f.concat([first, last], axis=len(X.shape) - 1)

        return dict(X=dX)


def _square_qr(f: Any, q: Value, r: Value, dq: Any, dr: Any) -> Value:
    """The cotangent of Q R with a square R."""
    inner = f.fill_zeros_like(r)
    if dr is not None:
        inner = inner + times_turned(f, r, dr)
    if dq is not None:
        inner = inner - turned_times(f, dq, q)
    whole = f.matmul(q, mirrored(f, inner))
    whole = whole if dq is None else whole + dq
    # whole R^-H, from the left of its conjugate transpose
    return turned(f, f.triangular_solve(r, turned(f, whole), upper=True))


class svd(OfMatrices):
    """U, S and VH: X is the product of U, a diagonal matrix of S, and VH.

    The gradient (Townsend, Differentiating the singular value decomposition, 2016) is infinite or
    NaN where singular values are equal or 0, if it comes by U or VH; by S alone it is not.  Columns
    of U and rows of VH beyond k count as constant.

    X: matrices, [..., m, n].
    U: orthogonal columns, [..., m, k], where k is the smaller of m and n.
    S: the singular values, the largest first, [..., k].
    VH: orthogonal rows, [..., k, n].
    full_matrices: U and VH are square.
    """

    signature = "X -> U, S, VH"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    full_matrices: bool = False

    def infer(self, X: Spec) -> Specs:
        need_matrices(X=X)
        *batch, m, n = X.shape
        k = least(m, n)
        left, right = (m, n) if self.full_matrices else (k, k)
        return (
            X.with_shape((*batch, m, left)),
            X.with_shape((*batch, k)).with_dtype(X.dtype.part),
            X.with_shape((*batch, right, n)),
        )

    def run(self, xp: Any, X: Array) -> Arrays:
        return xp.svd(X, self.full_matrices)

    def grad(self, f, X, U, S, VH, dU=None, dS=None, dVH=None) -> Rules:
        def dX():
            m, n = X.shape[-2:]
            k = min(m, n)
            first = lambda v: None if v is None else columns(f, v, 0, k)
            top = lambda v: None if v is None else rows(f, v, 0, k)
            u, du = (first(U), first(dU)) if self.full_matrices else (U, dU)
            vh, dvh = (top(VH), top(dVH)) if self.full_matrices else (VH, dVH)
            if du is None and dvh is None:
                return f.matmul(u * as_row(f, dS), vh)
            return _svd_cotangent(f, u, S, vh, du, dS, dvh)

        return dict(X=dX)


def _svd_cotangent(f: Any, u: Value, s: Value, vh: Value, du: Any, ds: Any, dvh: Any) -> Value:
    """The cotangent of X, where U or VH has one."""
    m, n, k = u.shape[-2], vh.shape[-1], s.shape[-1]
    across, down, eye = as_row(f, s), as_column(f, s), eye_like(f, s, k)
    # 1 / (s_j^2 - s_i^2) beside the diagonal
    apart = (across - down) * (across + down) + eye
    inner, outer = [], []
    if du is not None:
        turn = turned_times(f, u, du)
        skew = turn - turned(f, turn)
        inner.append(skew * (1.0 - eye) / apart * across)
        if is_complex(u):  # the phases of U and VH, which go together
            inner.append(skew * 0.5 * eye / across)
        if m > k:
            outer.append(f.matmul((du - f.matmul(u, turn)) / across, vh))
    if dvh is not None:
        turn = times_turned(f, vh, dvh)
        inner.append((turn - turned(f, turn)) * (1.0 - eye) / apart * down)
        if n > k:
            outer.append(f.matmul(u, (dvh - turned_times(f, turn, vh)) / down))
    found = functools.reduce(operator.add, inner)
    if ds is not None:
        found = found + on_diagonal(f, ds)
    return f.sum([f.matmul(f.matmul(u, found), vh), *outer])


class eigh(OfMatrices):
    """The eigenvalues and eigenvectors of symmetric matrices.

    The gradient (Giles, Collected matrix derivative results for forward and reverse mode
    algorithmic differentiation, AD 2008) is infinite or NaN where eigenvalues are equal, if it
    comes by the eigenvectors; by the eigenvalues alone it is not.

    X: symmetric matrices, of which one triangle is read.
    Eigenvalues: the least first, [..., n].
    Eigenvectors: in columns of length 1, [..., n, n].
    UPLO: "L" for the lower triangle, else the upper one.
    """

    signature = "X -> Eigenvalues, Eigenvectors"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    UPLO: str = "L"

    def infer(self, X: Spec) -> Specs:
        need_square(X=X)
        return X.with_shape(X.shape[:-1]).with_dtype(X.dtype.part), X

    def run(self, xp: Any, X: Array) -> Arrays:
        return xp.eigh(X, self.UPLO != "L")

    def grad_numpy(
        self,
        xp: Any,
        Eigenvalues: Array,
        Eigenvectors: Array,
        dEigenvalues=None,
        dEigenvectors=None,
    ) -> Arrays:
        return dict(X=xp.eigh_slope(Eigenvalues, Eigenvectors, dEigenvalues, dEigenvectors))

    def grad(self, f, Eigenvalues, Eigenvectors, dEigenvalues=None, dEigenvectors=None) -> Rules:
        def dX():
            v = Eigenvectors
            if dEigenvectors is None:
                return times_turned(f, v * as_row(f, dEigenvalues), v)
            size = Eigenvalues.shape[-1]
            apart = as_row(f, Eigenvalues) - as_column(f, Eigenvalues)
            eye = eye_like(f, Eigenvalues, size)
            turn = turned_times(f, v, dEigenvectors)
            inner = turn * (1.0 - eye) / (apart + eye)
            if dEigenvalues is not None:
                inner = inner + on_diagonal(f, dEigenvalues)
            return halved(f, times_turned(f, f.matmul(v, inner), v))

        return dict(X=dX)


class eigvalsh(OfMatrices):
    """The eigenvalues of symmetric matrices.

    X: symmetric matrices, of which one triangle is read.
    Eigenvalues: the least first, [..., n].
    Eigenvectors: of length 1, for the gradient; computed where there is a variable for them.
    UPLO: "L" for the lower triangle, else the upper one.
    is_test: not read.
    """

    signature = "X -> Eigenvalues, Eigenvectors?~!"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    sees_outputs: ClassVar[bool] = True
    UPLO: str = "L"
    is_test: bool = attr(False, inert=True)

    def infer(self, X: Spec) -> Specs:
        need_square(X=X)
        values = X.with_shape(X.shape[:-1]).with_dtype(X.dtype.part)
        return values, X if "Eigenvectors" in self.output_widths else None

    def run(self, xp: Any, X: Array) -> Arrays:
        if "Eigenvectors" in self.output_widths:
            return xp.eigh(X, self.UPLO != "L")
        return xp.eigvalsh(X, self.UPLO != "L"), None

    def grad(
        self, f: Any, dEigenvalues: Value, X: Value = None, Eigenvectors: Value = None
    ) -> Rules:
        def dX():
            v = f.eigh(X, UPLO=self.UPLO)[1] if Eigenvectors is None else Eigenvectors
            return times_turned(f, v * as_row(f, dEigenvalues), v)

        return dict(X=dX)


class eig(OfMatrices):
    """The eigenvalues and eigenvectors of square matrices, as complex numbers.

    The gradient (Boeddeker et al., On the computation of complex-valued gradients with application
    to statistically optimum beamforming, 2017, with vectors of length 1) is infinite or NaN where
    eigenvalues are equal, if it comes by the eigenvectors.

    X: square matrices.
    Eigenvalues: in no particular order, [..., n].
    Eigenvectors: in columns of length 1, [..., n, n].
    """

    signature = "X -> Eigenvalues, Eigenvectors"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec) -> Specs:
        need_square(X=X)
        whole = X.with_dtype(X.dtype.part.whole)
        return whole.with_shape(X.shape[:-1]), whole

    def run(self, xp: Any, X: Array) -> Arrays:
        return xp.eig(X)

    def grad(self, f, X, Eigenvalues, Eigenvectors, dEigenvalues=None, dEigenvectors=None) -> Rules:
        def dX():
            inner, v = [], Eigenvectors
            if dEigenvalues is not None:
                inner.append(on_diagonal(f, dEigenvalues))
            if dEigenvectors is not None:
                eye = eye_like(f, v, v.shape[-1])
                apart = as_row(f, Eigenvalues) - as_column(f, Eigenvalues)
                turn = turned_times(f, v, dEigenvectors)
                along = as_row(f, f.real(f.take_diagonal(turn)))
                turn = turn - turned_times(f, v, v) * along
                inner.append(turn * (1.0 - eye) / (conj(f, apart) + eye))
            return _by_eigenvectors(f, v, functools.reduce(operator.add, inner), X)

        return dict(X=dX)


def _by_eigenvectors(f: Any, v: Value, inner: Value, x: Value) -> Value:
    """V^-H inner V^H; the real part of it for a real x."""
    slope = f.solve(turned(f, v), times_turned(f, inner, v))
    return slope if is_complex(x) else f.real(slope)


class eigvals(OfMatrices):
    """The eigenvalues of square matrices, as complex numbers.

    X: square matrices.
    Out: in no particular order, [..., n].
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec) -> Specs:
        need_square(X=X)
        return X.with_shape(X.shape[:-1]).with_dtype(X.dtype.part.whole)

    def run(self, xp: Any, X: Array) -> Array:
        return xp.eigvals(X)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dX():
            _, v = f.eig(X)
            return _by_eigenvectors(f, v, on_diagonal(f, dOut), X)

        return dict(X=dX)


class lu(OfMatrices):
    """The factors L and U of matrices whose rows are exchanged, in one matrix, and how they are.

    The gradient is that of the two factors (de Hoog, Anderssen and Lukas, Differentiation of matrix
    functionals using triangular factorization, 2011); infinite or NaN where U is singular.

    X: matrices, [..., m, n].
    Out: U, and below the diagonal L, whose diagonal is 1.
    Pivots: with which row each one was exchanged in turn, counted from 1.
    Infos: the first zero on the diagonal of U, counted from 1; 0 if there is none; of shape [1]
        for a single matrix.
    pivots: rows are exchanged; False is refused, as in Paddle.
    """

    signature = "X -> Out, Pivots!, Infos!"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    pivots: bool = True

    def infer(self, X: Spec) -> Specs:
        need_matrices(X=X)
        if not self.pivots:
            raise UnsupportedError("there is no lu without exchanges of rows on a CPU")
        *batch, m, n = X.shape
        return X, spec([*batch, least(m, n)], DType.INT32), spec(batch or [1], DType.INT32)

    def run(self, xp: Any, X: Array) -> Arrays:
        factors, pivots, infos = xp.lu(X)
        return factors, pivots, infos if infos.ndim else infos.reshape(1)

    def grad_numpy(self, xp: Any, Out: Array, Pivots: Array, dOut: Array) -> Arrays:
        return dict(X=xp.lu_slope(Out, Pivots, dOut))

    def grad(self, f: Any, Out: Value, Pivots: Value, dOut: Value) -> Rules:
        def dX():
            m, n = Out.shape[-2:]
            k = min(m, n)
            low, up = columns(f, Out, 0, k), rows(f, Out, 0, k)
            d_low, d_up = lower(f, columns(f, dOut, 0, k), -1), upper(f, rows(f, dOut, 0, k))
            across, down = None, None
            if n > k:  # what stands beside the square: L times it is X
                beside = lambda v: columns(f, v, k, n)
                across = f.triangular_solve(
                    low, beside(d_up), upper=False, transpose=True, unitriangular=True
                )
                d_low = d_low - lower(f, f.matmul(across, beside(up), transpose_Y=True), -1)
                up, d_up = columns(f, up, 0, k), columns(f, d_up, 0, k)
            if m > k:  # what stands below: it times U is X
                below = lambda v: rows(f, v, k, m)
                down = swapped(f, f.triangular_solve(up, swapped(f, below(d_low)), upper=True))
                d_up = d_up - upper(f, f.matmul(below(low), down, transpose_X=True))
                low, d_low = rows(f, low, 0, k), rows(f, d_low, 0, k)
            unit = lower(f, low, -1) + eye_like(f, low, k)
            inner = lower(f, f.matmul(unit, d_low, transpose_X=True), -1)
            inner = inner + upper(f, f.matmul(d_up, upper(f, up), transpose_Y=True))
            left = f.triangular_solve(low, inner, upper=False, transpose=True, unitriangular=True)
            slope = swapped(f, f.triangular_solve(up, swapped(f, left), upper=True))
            last = len(Out.shape) - 1
            slope = _joined(f, _joined(f, slope, across, last), down, last - 1)
            order, *_ = f.lu_unpack(Out, Pivots, unpack_ludata=False)
            return f.matmul(order, slope)

        return dict(X=dX)


def _joined(f: Any, x: Value, y: Value, axis: int) -> Value:
    """Two stacks of matrices beside each other, or the first where that is all."""
    return x if y is None else f.concat([x, y], axis=axis)


class lu_unpack(OfMatrices):
    """The matrices that ``lu`` holds in one: X is the product of Pmat, L and U.

    X: what ``lu`` gives, [..., m, n].
    Pivots: with which row each one was exchanged in turn, counted from 1, [..., k].
    Pmat: exchanges rows, [..., m, m]; empty without ``unpack_pivots``.
    L: lower triangles with ones on the diagonal, [..., m, k]; empty without ``unpack_ludata``.
    U: upper triangles, [..., k, n]; empty without ``unpack_ludata``.
    unpack_ludata: give L and U.
    unpack_pivots: give Pmat.
    """

    signature = "X, Pivots! -> Pmat!, L, U"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    unpack_ludata: bool = True
    unpack_pivots: bool = True

    def infer(self, X: Spec, Pivots: Spec) -> Specs:
        need_matrices(X=X)
        need_integer(Pivots=Pivots)
        *batch, m, n = X.shape
        k = least(m, n)
        expected = (*batch, k)
        if Pivots.ndim != len(expected) or not all(map(agree, Pivots.shape, expected)):
            raise ShapeError(
                f"expected Pivots of shape {list(expected)} for X of shape {list(X.shape)}, got "
                f"{list(Pivots.shape)}"
            )
        empty = spec([0], X.dtype)
        order = X.with_shape((*batch, m, m)) if self.unpack_pivots else empty
        if not self.unpack_ludata:
            return order, empty, empty
        return order, X.with_shape((*batch, m, k)), X.with_shape((*batch, k, n))

    def run(self, xp: Any, X: Array, Pivots: Array) -> Arrays:
        m, n = X.shape[-2:]
        k = min(m, n)
        order = low = up = xp.zeros((0,), X.dtype)
        if self.unpack_pivots:
            places = xp.row_permutations(Pivots, m)
            same = places[..., None, :] == xp.arange(m)[:, None]
            order = xp.asarray(same, X.dtype)
        if self.unpack_ludata:
            low = xp.tril(X[..., :, :k], -1) + xp.eye(m, k, dtype=X.dtype)
            up = xp.triu(X[..., :k, :])
        return order, low, up

    def grad(self, f: Any, X: Value, dL: Value = None, dU: Value = None) -> Rules:
        def dX():
            m, n = X.shape[-2:]
            k = min(m, n)
            last, parts = len(X.shape) - 1, [f.fill_zeros_like(X)]
            if dL is not None and self.unpack_ludata:
                right = f.fill_zeros_like(columns(f, X, k, n)) if n > k else None
                parts.append(_joined(f, lower(f, dL, -1), right, last))
            if dU is not None and self.unpack_ludata:
                below = f.fill_zeros_like(rows(f, X, k, m)) if m > k else None
                parts.append(_joined(f, upper(f, dU), below, last - 1))
            return f.sum(parts)

        return dict(X=dX)
