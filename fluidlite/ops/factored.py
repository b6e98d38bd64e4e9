"""Solutions and determinants of matrices whose LU decompositions are known.

Where matrices are large, ``solve``, ``determinant`` and ``slogdeterminant`` consist of these: their
gradients factor nothing again.  Factors are constants here, and each rule is that of the matrices
themselves, for every order.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.conjugation import HOLOMORPHIC, OfComplex
from ..opdef.spec import Spec
from .linear_systems import determinant, need_rows, slogdeterminant, slope_of_logarithm
from .matrices import OfMatrices, batch_of, need_matrices, need_square, summed_like, to_matrices


class factored_solve(OfMatrices):
    """The solutions of systems of linear equations: what X, or its transpose, is multiplied by to
    give Y.

    X: square matrices.
    Y: matrices with as many rows.
    Factors, Pivots: what ``lu`` gives for X, if that is known.
    Out: of the shape of Y, with the dimensions in front spread over each other's.
    transpose: whether X is transposed first.
    """

    signature = "X, Y, Factors?!, Pivots?! -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    transpose: bool = False

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_square(X=X)
        need_matrices(X=X, Y=Y)
        need_rows(X, Y, X.shape[-1])
        return X.with_shape((*batch_of(X.shape, Y.shape), *Y.shape[-2:]))

    def run(
        self, xp: Any, X: Array, Y: Array, Factors: Array | None, Pivots: Array | None
    ) -> Array:
        if Factors is None:
            return xp.solve(xp.swapaxes(X, -1, -2) if self.transpose else X, Y)
        return xp.solve_by_factors(X, Factors, Pivots, Y, self.transpose)

    def grad(
        self,
        f: Any,
        X: Value,
        Y: Value,
        Factors: Value | None,
        Pivots: Value | None,
        Out: Value,
        dOut: Value,
    ) -> Rules:
        def right():
            turned = not self.transpose
            return f.factored_solve(X, dOut, Factors, Pivots, transpose=turned)

        def dX():
            a, b = (Out, right()) if self.transpose else (right(), Out)
            return summed_like(f, -f.matmul(a, b, transpose_Y=True), X)

        return dict(X=dX, Y=lambda: summed_like(f, right(), Y))


class factored_determinant(determinant):
    """The determinants of the matrices in the last two dimensions of Input.

    Input: square matrices.
    Factors, Pivots: what ``lu`` gives for Input, if that is known.
    Out: without the last two dimensions.
    """

    signature = "Input, Factors?!, Pivots?! -> Out"
    composition: ClassVar[Any] = None

    def run(self, xp: Any, Input: Array, Factors: Array | None, Pivots: Array | None) -> Array:
        return xp.det(Input) if Factors is None else xp.determinants(Factors, Pivots)

    def grad(
        self, f: Any, Input: Value, Factors: Value | None, Pivots: Value | None, dOut: Value
    ) -> Rules:
        return dict(Input=lambda: to_matrices(f, dOut) * f.cofactors(Input, Factors, Pivots))


class factored_slogdeterminant(slogdeterminant):
    """The signs of the determinants of Input, and the natural logarithms of their sizes.

    Input: square matrices.
    Factors, Pivots: what ``lu`` gives for Input, if that is known.
    Out: of shape [2, ...]: signs, then logarithms, without the last two dimensions of Input.
    """

    signature = "Input, Factors?!, Pivots?! -> Out"
    composition: ClassVar[Any] = None

    def run(self, xp: Any, Input: Array, Factors: Array | None, Pivots: Array | None) -> Array:
        if Factors is None:
            return xp.stack(xp.slogdet(Input))
        return xp.stack(xp.signs_and_logarithms(Factors, Pivots))

    def grad(
        self, f: Any, Input: Value, Factors: Value | None, Pivots: Value | None, dOut: Value
    ) -> Rules:
        factors = dict(Factors=Factors, Pivots=Pivots)
        return dict(Input=lambda: slope_of_logarithm(f, Input, dOut, factors))
