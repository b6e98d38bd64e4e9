"""Inverses, determinants, powers and solutions of square matrices.

Where a rule names no other source, it is that of Giles, Collected matrix derivative results for
forward and reverse mode algorithmic differentiation, AD 2008.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex
from ..opdef.spec import Spec, agree, need_float, need_ndim, need_rank, need_shape, same_dtype
from .elementwise import sum_to
from .math import column, row
from .matrices import (
    OfMatrices,
    OfSquares,
    as_column,
    batch_of,
    eye_like,
    factors_of,
    lower,
    mirrored,
    need_matrices,
    need_square,
    shares_factors,
    solved_turned,
    summed_like,
    swapped,
    to_matrices,
    turned,
    turned_times,
    upper,
)


class inverse(OfSquares):
    """The inverses of the matrices in the last two dimensions of Input.

    Singular matrices are refused; on JAX, which does not know values, they give NaN.

    Input: square matrices.
    Output: such that the product with Input is the matrix with ones on its diagonal.
    """

    signature = "Input -> Output"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, Input: Array) -> Array:
        return xp.inv(Input)

    def grad(self, f: Any, Output: Value, dOutput: Value) -> Rules:
        def dInput():
            left = f.matmul(Output, dOutput, transpose_X=True)
            return -f.matmul(left, Output, transpose_Y=True)

        return dict(Input=dInput)


class inverse_or_nan(inverse):
    """The inverses of the matrices in the last two dimensions of Input, NaN for singular ones.

    Factors, Pivots: what ``lu`` gives for Input, if that is known.
    """

    signature = "Input, Factors?!, Pivots?! -> Output"

    def infer(self, Input: Spec, Factors: Spec | None, Pivots: Spec | None) -> Specs:
        need_square(Input=Input)
        return Input

    def run(self, xp: Any, Input: Array, Factors: Array | None, Pivots: Array | None) -> Array:
        return xp.inv_or_nan(Input) if Factors is None else xp.inv_by_factors(Factors, Pivots)


class determinant(OfMatrices):
    """The determinants of the matrices in the last two dimensions of Input.

    The slope is there for singular matrices, too; further slopes are NaN there, as in PyTorch.

    Input: square matrices.
    Out: without the last two dimensions.
    """

    signature = "Input -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def infer(self, Input: Spec) -> Specs:
        need_square(Input=Input)
        return Input.with_shape(Input.shape[:-2])

    def run(self, xp: Any, Input: Array) -> Array:
        return xp.det(Input)

    def takes_composition(self, Input: Any) -> bool:
        return shares_factors(Input)

    def composition(self, f: Any, Input: Value) -> Value:
        return f.factored_determinant(Input, **factors_of(f, Input))

    def grad(self, f: Any, Input: Value, dOut: Value) -> Rules:
        return dict(Input=lambda: to_matrices(f, dOut) * f.cofactors(Input, **factors_of(f, Input)))


class cofactors(OfSquares):
    """Out = the matrices of cofactors of X: the slopes of its determinants.

    X: square matrices.
    Factors, Pivots: what ``lu`` gives for X, if that is known.
    """

    signature = "X, Factors?!, Pivots?! -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def infer(self, X: Spec, Factors: Spec | None, Pivots: Spec | None) -> Specs:
        need_square(X=X)
        return X

    def run(self, xp: Any, X: Array, Factors: Array | None, Pivots: Array | None) -> Array:
        if Factors is None:
            return xp.cofactors(X)
        return xp.cofactors_by_factors(X, Factors, Pivots)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        """From Out = det(X) X^-T; NaN where X is singular."""

        def dX():
            size = f.reduce_sum(Out * dOut, dim=[-2, -1], keep_dim=True)
            inner = f.matmul(Out, dOut, transpose_Y=True)
            slopes = f.matmul(inner, Out)
            return (size * Out - slopes) / to_matrices(f, f.determinant(X))

        return dict(X=dX)


class slogdeterminant(OfMatrices):
    """The signs of the determinants of Input, and the natural logarithms of their sizes.

    Of singular matrices the sign is 0, the logarithm -inf, and its slope NaN.

    Input: square matrices.
    Out: of shape [2, ...]: signs, then logarithms, without the last two dimensions of Input.
    """

    signature = "Input -> Out"

    def infer(self, Input: Spec) -> Specs:
        need_square(Input=Input)
        return Input.with_shape((2, *Input.shape[:-2]))

    def run(self, xp: Any, Input: Array) -> Array:
        return xp.stack(xp.slogdet(Input))

    def takes_composition(self, Input: Any) -> bool:
        return shares_factors(Input)

    def composition(self, f: Any, Input: Value) -> Value:
        return f.factored_slogdeterminant(Input, **factors_of(f, Input))

    def grad(self, f: Any, Input: Value, dOut: Value) -> Rules:
        return dict(Input=lambda: slope_of_logarithm(f, Input, dOut, factors_of(f, Input)))


def slope_of_logarithm(f: Any, x: Value, flow: Value, factors: dict[str, Value]) -> Value:
    """The gradient by matrices, of what flows to signs and logarithms of determinants.

    Args:
        f: the interpreter.
        x: the matrices.
        flow: signs, then logarithms.
        factors: of x, by slot, if they are known.
    """
    of_size = f.slice(flow, axes=[0], starts=[1], ends=[2])
    of_size = f.reshape(of_size, shape=[*x.shape[:-2], 1, 1])
    return of_size * swapped(f, f.inverse_or_nan(x, **factors))


class solve(OfMatrices):
    """The solutions of systems of linear equations: what X is multiplied by to give Y.

    Singular matrices are refused; on JAX, which does not know values, they give NaN.

    X: square matrices.
    Y: matrices with as many rows; or vectors, where it has one dimension, or one dimension less
        than X and the shape of X without the last one.
    Out: in place of Y, with the dimensions in front spread over each other's.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_square(X=X)
        need_rank("Y", Y, 1)
        if Y.ndim == X.ndim - 1 > 1 and not _is_plain(X.shape[:-1], Y.shape):
            return None  # sizes that are not known say whether these are vectors
        vectors = is_of_vectors(X.shape, Y.shape)
        right = Y.with_shape((*Y.shape, 1)) if vectors else Y
        need_matrices(X=X, Y=right)
        need_rows(X, right, X.shape[-1])
        shape = (*batch_of(X.shape, right.shape), *right.shape[-2:])
        return X.with_shape(shape[:-1] if vectors else shape)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        if is_of_vectors(X.shape, Y.shape):
            return xp.solve(X, Y[..., None])[..., 0]
        return xp.solve(X, Y)

    def takes_composition(self, X: Any, Y: Any) -> bool:
        return shares_factors(X)

    def composition(self, f: Any, X: Value, Y: Value) -> Value:
        if not is_of_vectors(X.shape, Y.shape):
            return f.factored_solve(X, Y, **factors_of(f, X))
        found = f.factored_solve(X, as_column(f, Y), **factors_of(f, X))
        return f.reshape(found, shape=[*found.shape[:-1]])

    def grad(self, f: Any, X: Value, Y: Value, Out: Value, dOut: Value) -> Rules:
        vectors = is_of_vectors(X.shape, Y.shape)
        whole = (lambda v: as_column(f, v)) if vectors else (lambda v: v)

        def right():
            if shares_factors(X):
                return f.factored_solve(X, whole(dOut), **factors_of(f, X), transpose=True)
            return f.solve(swapped(f, X), whole(dOut))

        def dY():
            found = summed_like(f, right(), whole(Y))
            return f.reshape(found, shape=list(Y.shape)) if vectors else found

        def dX():
            return summed_like(f, -f.matmul(right(), whole(Out), transpose_Y=True), X)

        return dict(X=dX, Y=dY)


def is_of_vectors(x: Any, y: Any) -> bool:
    """Whether the right sides of ``solve`` are vectors, for operands of these shapes."""
    if len(y) == 1:
        return True
    return len(y) == len(x) - 1 and all(map(agree, y, x))


def _is_plain(x: Any, y: Any) -> bool:
    """Whether it is known of two shapes if they are the same."""
    return not all(map(agree, x, y)) or (x == y and y[-1] != -1)


def need_rows(X: Spec, Y: Spec, count: int) -> None:
    """Check that Y has so many rows."""
    if not agree(count, Y.shape[-2]):
        raise ShapeError(
            f"expected as many rows in Y as columns in X, got shapes {list(X.shape)} and "
            f"{list(Y.shape)}"
        )


class triangular_solve(OfMatrices):
    """The solutions of systems of equations whose matrices are triangular: what X is multiplied by
    to give Y.

    Where a number on the diagonal is 0, they are infinite or NaN.

    X: square matrices, of which one triangle is read.
    Y: matrices with as many rows.
    Out: of the shape of Y, with the dimensions in front spread over each other's.
    upper: whether the triangle is the upper one.
    transpose: whether X is transposed first.
    unitriangular: whether the diagonal counts as ones, and is not read.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    upper: bool = True
    transpose: bool = False
    unitriangular: bool = False
    shapes_alone: ClassVar[tuple[str, ...]] = ("Y",)

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_square(X=X)
        need_matrices(X=X, Y=Y)
        need_rows(X, Y, X.shape[-1])
        return X.with_shape((*batch_of(X.shape, Y.shape), *Y.shape[-2:]))

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        x = xp.swapaxes(X, -1, -2) if self.transpose else X
        above = self.upper != self.transpose
        return xp.triangular_solve(x, Y, above, self.unitriangular)

    def grad_numpy(self, xp: Any, X: Array, Y: Array, Out: Array, dOut: Array) -> Arrays:
        turned = X if self.transpose else xp.swapaxes(X, -1, -2)
        above = self.upper == self.transpose
        right = xp.triangular_solve(turned, dOut, above, self.unitriangular)
        a, b = (Out, right) if self.transpose else (right, Out)
        slope = xp.triangular_slope(a, b, self.upper, self.unitriangular)
        return dict(X=sum_to(xp, slope, X.shape, -1), Y=sum_to(xp, right, Y.shape, -1))

    def grad(self, f: Any, X: Value, Y: Value, Out: Value, dOut: Value) -> Rules:
        def right():
            attrs = {**self.attr_values(), "transpose": not self.transpose}
            return f.triangular_solve(X, dOut, **attrs)

        def dX():
            a, b = (Out, right()) if self.transpose else (right(), Out)
            slope = -f.matmul(a, b, transpose_Y=True)
            triangle, edge = (upper, 1) if self.upper else (lower, -1)
            return summed_like(f, triangle(f, slope, edge if self.unitriangular else 0), X)

        return dict(X=dX, Y=lambda: summed_like(f, right(), Y))


class cholesky(OfSquares):
    """The triangular matrices whose products with their conjugate transposes are the matrices of X.

    Matrices that are not positive definite are refused; on JAX, which does not know values, they
    give NaN.  The gradient is that of a symmetric X (Murray, Differentiation of the Cholesky
    decomposition, 2016).

    X: symmetric positive definite matrices, of which one triangle is read.
    Out: a lower triangle, ``X = Out Out^T``; or an upper one, ``X = Out^T Out``.
    upper: whether the upper triangle is read and given.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    upper: bool = False

    def run(self, xp: Any, X: Array) -> Array:
        return xp.cholesky(X, self.upper)

    def grad_numpy(self, xp: Any, Out: Array, dOut: Array) -> Arrays:
        low, slope = (xp.turned(v) if self.upper else v for v in (Out, dOut))
        return dict(X=xp.cholesky_slope(low, slope))

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        def dX():
            low, slope = (turned(f, v) if self.upper else v for v in (Out, dOut))
            inner = mirrored(f, turned_times(f, low, slope))
            down = solved_turned(f, low, inner, upper=False)
            across = solved_turned(f, low, turned(f, down), upper=False)
            return across * 0.5

        return dict(X=dX)


class cholesky_solve(OfMatrices):
    """The solutions of systems of linear equations whose matrices are known by their triangular
    factors: what the products of the factors are multiplied by to give X.

    X: matrices.
    Y: triangular factors, such as ``cholesky`` gives, with as many rows.
    Out: of the shape of X, with the dimensions in front spread over each other's.
    upper: whether Y has the upper triangles.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    upper: bool = False

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_square(Y=Y)
        need_matrices(X=X, Y=Y)
        if not agree(X.shape[-2], Y.shape[-1]):
            raise ShapeError(
                f"expected as many rows in X as in Y, got shapes {list(X.shape)} and "
                f"{list(Y.shape)}"
            )
        return X.with_shape((*batch_of(X.shape, Y.shape), *X.shape[-2:]))

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        if self.upper:
            return f.triangular_solve(Y, solved_turned(f, Y, X, upper=True), upper=True)
        return solved_turned(f, Y, f.triangular_solve(Y, X, upper=False), upper=False)


class matrix_power(OfSquares):
    """The matrices of X multiplied by themselves.

    X: square matrices.
    n: how many factors there are; those of a negative number are inverses.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    n: int = REQUIRED

    def expand(self, f: Any, X: Value) -> Value:
        if self.n == 0:
            return f.pow(X, factor=0.0) * eye_like(f, X, X.shape[-1])
        square, left, out = f.inverse(X) if self.n < 0 else X, abs(self.n), None
        while True:
            if left % 2:
                out = square if out is None else f.matmul(out, square)
            left //= 2
            if not left:
                return f.assign(out) if out is X else out
            square = f.matmul(square, square)


class mv(OfMatrices):
    """The product of a matrix and a vector.

    X: [m, n].
    Vec: [n].
    Out: [m].
    """

    signature = "X, Vec -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec, Vec: Spec) -> Specs:
        need_float(X=X, Vec=Vec)
        same_dtype(X=X, Vec=Vec)
        need_ndim(2, X=X)
        need_shape("Vec", Vec, (X.shape[1],), "since X has as many columns")
        return X.with_shape(X.shape[:1])

    def expand(self, f: Any, X: Value, Vec: Value) -> Value:
        return f.reshape(f.matmul(X, as_column(f, Vec)), shape=[X.shape[0]])


class multi_dot(OfMatrices):
    """The product of several matrices, in the order of least work.

    X: two matrices or more; the first and the last may be vectors: a row and a column.
    Out: a matrix; without the dimension that a vector adds.
    """

    signature = "X* -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: list[Spec]) -> Specs:
        if len(X) < 2:
            raise ShapeError(f"expected two matrices or more, got {len(X)}")
        named = {f"X[{k}]": s for k, s in enumerate(X)}
        need_float(**named)
        same_dtype(**named)
        for k, (name, s) in enumerate(named.items()):
            need_ndim((1, 2) if k in (0, len(X) - 1) else 2, **{name: s})
        shapes = _stacked([s.shape for s in X])
        for k, (x, y) in enumerate(itertools.pairwise(shapes)):
            if not agree(x[1], y[0]):
                raise ShapeError(
                    f"expected as many columns in X[{k}] as rows in X[{k + 1}], got shapes "
                    f"{list(X[k].shape)} and {list(X[k + 1].shape)}"
                )
        return X[0].with_shape(_ends(shapes, X[0].ndim, X[-1].ndim))

    def expand(self, f: Any, X: list[Value]) -> Value:
        shapes = _stacked([x.shape for x in X])
        factors = [
            x if tuple(x.shape) == shape else f.reshape(x, shape=list(shape))
            for x, shape in zip(X, shapes, strict=True)
        ]
        split = _best_order([shape[0] for shape in shapes] + [shapes[-1][1]])

        def product(first, last):
            if first == last:
                return factors[first]
            middle = split[first, last]
            return f.matmul(product(first, middle), product(middle + 1, last))

        out = product(0, len(X) - 1)
        return f.reshape(out, shape=_ends(shapes, len(X[0].shape), len(X[-1].shape)))


def _stacked(shapes: list[Any]) -> list[Any]:
    """The shapes of all factors as matrices."""
    first, *middle, last = (tuple(s) for s in shapes)
    return [row(first), *middle, column(last)]


def _ends(shapes: list[Any], first: int, last: int) -> list[int]:
    """The shape of a product whose outer factors have so many dimensions."""
    return [*shapes[0][:1]][: first - 1] + [*shapes[-1][1:]][: last - 1]


def _best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Behind which factor to divide the products from one factor to another one, for the least
    number of multiplications (Cormen et al., Introduction to Algorithms, chapter 15.2).
    """
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            work = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            split[i, j] = min(work, key=work.__getitem__)
            cost[i, j] = work[split[i, j]]
    return split
