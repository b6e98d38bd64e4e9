"""Systems of linear equations, and matrices as products of simpler ones.

All functions take matrices in the last two dimensions, and any dimensions in front.  What a
decomposition's gradient is where it has none (equal eigenvalues, lost ranks) its operator says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..opdef.conjugation import conj, is_complex
from ..opdef.operand import Operand
from .arithmetic import add, greater_than, matmul, multiply, subtract, true_divide
from .diagonals import diag, diag_embed
from .elementary import abs as size
from .elementary import cast, clip, reciprocal, sqrt
from .mixing import default_float
from .noise import normal_like
from .reduction import amax, amin, mean, norm
from .reduction import sum as total
from .selection import chosen
from .shaping import reshape, squeeze, swapaxes, tril, triu, unsqueeze

if TYPE_CHECKING:
    from ..eager.tensor import Tensor

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
_ORDERS = (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def inverse(x: Tensor, name: str | None = None) -> Tensor:
    """The inverses of square matrices.

    >>> fluid.paddle.inverse(fluid.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return eager.inverse(x)


def det(x: Tensor, name: str | None = None) -> Tensor:
    """The determinants of square matrices.

    >>> float(fluid.paddle.linalg.det(fluid.to_tensor([[2.0, 0.0], [0.0, 4.0]])))
    8.0
    """
    return eager.determinant(x)


def slogdet(x: Tensor, name: str | None = None) -> Tensor:
    """The signs of determinants, and the logarithms of their sizes, in a first dimension of 2.

    >>> fluid.paddle.linalg.slogdet(fluid.to_tensor([[-1.0, 0.0], [0.0, 1.0]])).tolist()
    [-1.0, 0.0]
    """
    return eager.slogdeterminant(x)


def solve(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """What square matrices are multiplied by to give others: the solutions of linear equations.

    Args:
        x: [..., n, n].
        y: [..., n, k]; or a vector, [n], or vectors, of x's shape without the last size.

    Raises:
        OpError: a matrix is singular.

    >>> x = fluid.to_tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> fluid.paddle.linalg.solve(x, fluid.to_tensor([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    return eager.solve(x, y)


def triangular_solve(
    x: Tensor,
    y: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Tensor:
    """What triangular matrices are multiplied by to give others.

    Args:
        x: [..., n, n], of which one triangle is read.
        y: [..., n, k].
        upper: whether that is the upper one.
        transpose: whether x is transposed first.
        unitriangular: whether the diagonal counts as ones.

    >>> x = fluid.to_tensor([[2.0, 1.0], [0.0, 4.0]])
    >>> fluid.paddle.linalg.triangular_solve(x, fluid.to_tensor([[3.0], [4.0]])).tolist()
    [[1.0], [1.0]]
    """
    return eager.triangular_solve(
        x, y, upper=bool(upper), transpose=bool(transpose), unitriangular=bool(unitriangular)
    )


def cholesky(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """Triangular matrices whose products with their transposes are symmetric positive definite
    ones.

    Args:
        x: [..., n, n], of which one triangle is read.
        upper: whether that is the upper one, and the factors are upper ones.

    Raises:
        OpError: a matrix is not positive definite.

    >>> fluid.paddle.linalg.cholesky(fluid.to_tensor([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    return eager.cholesky(x, upper=bool(upper))


def cholesky_solve(x: Tensor, y: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """What symmetric positive definite matrices are multiplied by to give others, by their
    triangular factors.

    Args:
        x: what they give, [..., n, k].
        y: the factors, [..., n, n], such as ``cholesky`` gives.
        upper: whether they are upper triangles.
    """
    return eager.cholesky_solve(x, y, upper=bool(upper))


def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """Square matrices multiplied by themselves.

    Args:
        x: [..., m, m].
        n: how many factors there are; those of a negative number are inverses.

    >>> x = fluid.to_tensor([[1.0, 1.0], [0.0, 1.0]])
    >>> fluid.paddle.linalg.matrix_power(x, 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """
    return eager.matrix_power(x, n=n)


def multi_dot(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The product of several matrices, in the order of least work.

    Args:
        x: the matrices; the first and the last may be vectors.

    >>> ones = [fluid.ones(shape) for shape in ([2, 3], [3, 4], [4])]
    >>> fluid.paddle.linalg.multi_dot(ones).tolist()
    [12.0, 12.0]
    """
    return eager.multi_dot(list(x))


def qr(x: Tensor, mode: str = "reduced", name: str | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Matrices whose columns are orthogonal, and triangular ones; their products are x.

    Args:
        x: [..., m, n].
        mode: "reduced"; "complete" for a square first matrix; or "r" for the second one alone.

    >>> q, r = fluid.paddle.linalg.qr(fluid.to_tensor([[3.0], [4.0]]))
    >>> r.abs().tolist()
    [[5.0]]
    """
    q, r = eager.qr(x, mode=mode)
    return r if mode == "r" else (q, r)


def svd(
    x: Tensor, full_matrices: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, the singular values and the transpose of V: x is their product.

    Args:
        x: [..., m, n].
        full_matrices: U and V are square.

    >>> _, s, _ = fluid.paddle.linalg.svd(fluid.to_tensor([[3.0, 0.0], [0.0, -4.0]]))
    >>> s.tolist()
    [4.0, 3.0]
    """
    u, s, vh = eager.svd(x, full_matrices=bool(full_matrices))
    return u, s, vh


def eig(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues of square matrices and eigenvectors in columns, as complex numbers.

    Args:
        x: [..., n, n].

    >>> values, _ = fluid.paddle.linalg.eig(fluid.to_tensor([[0.0, 2.0], [-2.0, 0.0]]))
    >>> sorted(values.imag().numpy().round(4).tolist())
    [-2.0, 2.0]
    """
    values, vectors = eager.eig(x)
    return values, vectors


def eigvals(x: Tensor, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, as complex numbers.

    >>> found = fluid.paddle.linalg.eigvals(fluid.to_tensor([[0.0, 2.0], [-2.0, 0.0]]))
    >>> sorted(found.imag().numpy().round(4).tolist())
    [-2.0, 2.0]
    """
    return eager.eigvals(x)


def eigh(x: Tensor, UPLO: str = "L", name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues of symmetric matrices, the least first, and eigenvectors in columns.

    Args:
        x: [..., n, n], of which one triangle is read.
        UPLO: "L" for the lower one, "U" for the upper one.

    >>> values, vectors = fluid.paddle.linalg.eigh(fluid.to_tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> values.tolist()
    [1.0, 2.0]
    """
    values, vectors = eager.eigh(x, UPLO=UPLO)
    return values, vectors


def eigvalsh(x: Tensor, UPLO: str = "L", name: str | None = None) -> Tensor:
    """Eigenvalues of symmetric matrices, the least first.

    Args:
        x: [..., n, n], of which one triangle is read.
        UPLO: "L" for the lower one, "U" for the upper one.

    >>> fluid.paddle.linalg.eigvalsh(fluid.to_tensor([[2.0, 0.0], [0.0, 3.0]])).numpy().round(4)
    array([2., 3.], dtype=float32)
    """
    return eager.eigvalsh(x, UPLO=UPLO)


def lu(
    x: Tensor, pivot: bool = True, get_infos: bool = False, name: str | None = None
) -> tuple[Tensor, ...]:
    """The triangular factors of matrices whose rows are exchanged, both in one matrix, and with
    which row each one was exchanged, counted from 1.

    Args:
        x: [..., m, n].
        pivot: rows are exchanged; False is refused.
        get_infos: give the first zero on the diagonal of each second factor, too, counted from 1;
            0 if there is none.

    >>> factors, pivots = fluid.paddle.linalg.lu(fluid.to_tensor([[1.0, 2.0], [2.0, 2.0]]))
    >>> factors.tolist(), pivots.tolist()
    ([[2.0, 2.0], [0.5, 1.0]], [2, 2])
    """
    found = eager.lu(x, pivots=bool(pivot))
    return tuple(found if get_infos else found[:2])


def lu_unpack(
    x: Tensor,
    y: Tensor,
    unpack_ludata: bool = True,
    unpack_pivots: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The matrix that exchanges rows, and the two triangular factors that ``lu`` gives in one.

    Args:
        x: the factors.
        y: the exchanges.
        unpack_ludata: give the factors; empty ones if not.
        unpack_pivots: give the matrix that exchanges rows; an empty one if not.
    """
    order, low, up = eager.lu_unpack(
        x, y, unpack_ludata=bool(unpack_ludata), unpack_pivots=bool(unpack_pivots)
    )
    return order, low, up


def lstsq(
    x: Tensor,
    y: Tensor,
    rcond: float | None = None,
    driver: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The solutions of linear equations whose errors are least in their squares, with the sums of
    these, the ranks of x and its singular values.

    Args:
        x: [..., m, n].
        y: [..., m, k].
        rcond: singular values count as 0 up to this part of the largest one; by the precision of
            the element type when None.
        driver: "gels", "gelsy", "gelsd" or "gelss": what is given.  There are ranks for all but
            the first, singular values for the last two.

    Raises:
        ArgumentError: another driver.

    >>> x, y = fluid.to_tensor([[1.0], [1.0]]), fluid.to_tensor([[1.0], [3.0]])
    >>> solution, residuals, _, _ = fluid.paddle.linalg.lstsq(x, y)
    >>> solution.numpy().round(4).tolist(), residuals.numpy().round(4).tolist()
    ([[2.0]], [2.0])
    """
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise ArgumentError(f"lstsq: expected a driver of {', '.join(_DRIVERS)}, got {driver!r}")
    if y.array.ndim < 2:
        raise ShapeError(f"lstsq: expected y to be matrices, got shape {list(y.array.shape)}")
    if rcond is None:
        sides = [n for n in x.array.shape[-2:] if n != -1]
        rcond = (1e-15 if x.array.dtype.itemsize == 8 else 1e-7) * max([1, *map(int, sides)])
    found = eager.lstsq(x, y, rcond=float(rcond), driver=driver)
    solution, residuals, rank, values = found
    return solution, residuals, rank, values


def matrix_rank(
    x: Tensor, tol: float | Tensor | None = None, hermitian: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of matrices count.

    Args:
        x: [..., m, n].
        tol: up to which size they do not: a number, or one for each matrix; by the precision of
            the element type when None.
        hermitian: x is symmetric.

    >>> int(fluid.paddle.linalg.matrix_rank(fluid.ones([2, 3])))
    1
    """
    flags = dict(hermitian=bool(hermitian), use_default_tol=tol is None)
    if isinstance(tol, Operand):
        bound = tol if tol.array.dtype == x.array.dtype else cast(tol, x.dtype)
        return eager.matrix_rank(x, bound, **flags)
    return eager.matrix_rank(x, tol=0.0 if tol is None else float(tol), **flags)


def pinv(
    x: Tensor, rcond: float | Tensor = 1e-15, hermitian: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of matrices on what they reach (Moore and Penrose).

    Args:
        x: [..., m, n].
        rcond: singular values count as 0 up to this part of the largest one; a number, or one for
            each matrix.
        hermitian: x is symmetric.

    >>> fluid.paddle.linalg.pinv(fluid.to_tensor([[2.0], [0.0]])).tolist()
    [[0.5, 0.0]]
    """
    if not isinstance(rcond, Operand):
        return eager.pseudo_inverse(x, rcond=float(rcond), hermitian=bool(hermitian))
    u, s, vh = svd(x)
    apart = greater_than(s, multiply(unsqueeze(rcond, -1), amax(s, -1, True)))
    kept = chosen(apart, reciprocal(chosen(apart, s, 1.0)), 0.0)
    return matmul(multiply(_turned(vh), unsqueeze(kept, -2)), _turned(u))


def _turned(x: Any) -> Any:
    """The conjugate transposes."""
    return conj(eager, swapaxes(x, -1, -2))


def cond(x: Tensor, p: float | str | None = None, name: str | None = None) -> Tensor:
    """How much larger a relative error of a solution may be than that of the right side.

    Args:
        x: [..., m, n]; square but for 2 and -2.
        p: the norm: "fro", "nuc", 1, -1, 2, -2, inf or -inf; 2 when None.

    Raises:
        ArgumentError: another norm, or x is not square.

    >>> float(fluid.paddle.linalg.cond(fluid.to_tensor([[2.0, 0.0], [0.0, 4.0]])))
    2.0
    """
    if p not in _ORDERS:
        known = ", ".join(map(str, _ORDERS[1:]))
        raise ArgumentError(f"cond: expected p of {known}, or None, got {p!r}")
    rows, columns = _sides("cond", x)
    if p in (None, 2, -2):
        _, s, _ = svd(x)
        most, fewest = amax(s, -1), amin(s, -1)
        return true_divide(fewest, most) if p == -2 else true_divide(most, fewest)
    if rows != columns:
        raise ArgumentError(
            f"cond: expected square matrices for p={p!r}, got shape {list(x.array.shape)}"
        )
    return multiply(_matrix_norm(x, p), _matrix_norm(inverse(x), p))


def _matrix_norm(x: Any, p: Any) -> Any:
    if p == "fro":
        return norm(x, 2, [-2, -1])
    if p == "nuc":
        return total(svd(x)[1], -1)
    sums = total(size(x), -2 if p in (1, -1) else -1)
    return (amax if p > 0 else amin)(sums, -1)


def _sides(what: str, x: Any) -> tuple[int, int]:
    """How many rows and columns matrices have."""
    if x.array.ndim < 2:
        raise ShapeError(f"{what}: expected matrices, got shape {list(x.array.shape)}")
    rows, columns = x.array.shape[-2:]
    return rows, columns


def cov(
    x: Tensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The covariances of variables.

    Args:
        x: [variables, samples], or [samples].
        rowvar: False for [samples, variables].
        ddof: divide by the number of samples less one.
        fweights: how often each sample occurs, integers.
        aweights: what each sample weighs.

    Raises:
        ShapeError: x has more than 2 dimensions, or weights are none for each sample.
        ArgumentError: weights are negative.

    >>> fluid.paddle.linalg.cov(fluid.to_tensor([[1.0, 3.0], [3.0, 1.0]])).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    _need_variables("cov", x)
    if x.array.dtype.kind in "iub":
        x = cast(x, "float64" if x.array.dtype.itemsize == 8 else "float32")
    if x.array.ndim < 2:
        x = reshape(x, [1, -1])
    elif not rowvar:
        x = swapaxes(x, 0, 1)
    count = x.array.shape[1]
    weights: Any = None
    for what, factor in (("fweights", fweights), ("aweights", aweights)):
        if factor is not None:
            _need_weights(what, factor, count)
            factor = cast(factor, x.dtype)
            weights = factor if weights is None else multiply(weights, factor)
    if weights is None:
        centred = subtract(x, mean(x, 1, True))
        weighed: Any = centred
        divisor: Any = max(float(count) - ddof, 0.0)
    else:
        whole = total(weights)
        centred = subtract(x, true_divide(total(multiply(x, weights), 1, keepdim=True), whole))
        weighed = multiply(centred, weights)
        lost: Any = float(ddof)
        if aweights is not None:
            own = total(multiply(weights, cast(aweights, x.dtype)))
            lost = multiply(true_divide(own, whole), float(ddof))
        divisor = clip(subtract(whole, lost), 0.0)
    return squeeze(true_divide(matmul(centred, _turned(weighed)), divisor))


def _need_variables(what: str, x: Any) -> None:
    if x.array.ndim not in (1, 2):
        raise ShapeError(f"{what}: expected a vector or a matrix, got shape {list(x.array.shape)}")


def _need_weights(what: str, weights: Any, count: int) -> None:
    """Check weights of samples."""
    sizes = list(weights.array.shape)
    if len(sizes) != 1 or (-1 not in (sizes[0], count) and sizes[0] != count):
        raise ShapeError(f"cov: expected {what} for each of {count} samples, got shape {sizes}")
    if weights.appends is None and (weights.array < 0).any():
        raise ArgumentError(f"cov: expected {what} from 0, got {weights.array.min()}")


def corrcoef(x: Tensor, rowvar: bool = True, name: str | None = None) -> Tensor:
    """The correlations of variables, in [-1, 1].

    Args:
        x: [variables, samples], or [samples].
        rowvar: False for [samples, variables].

    Raises:
        ShapeError: x has more than 2 dimensions.

    >>> x = fluid.to_tensor([[1.0, 3.0], [3.0, 1.0]])
    >>> fluid.paddle.linalg.corrcoef(x).numpy().round(4).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    _need_variables("corrcoef", x)
    covariance = cov(x, rowvar)
    if x.array.dtype.kind in "iub":
        covariance = cast(covariance, default_float())
    if not covariance.array.ndim:
        return true_divide(covariance, covariance)
    variance = diag(covariance)
    deviation = sqrt(eager.real(variance) if is_complex(variance.array) else variance)
    covariance = true_divide(
        true_divide(covariance, unsqueeze(deviation, 1)), unsqueeze(deviation, 0)
    )
    if is_complex(covariance.array):
        kept = [clip(part(covariance), -1.0, 1.0) for part in (eager.real, eager.imag)]
        return eager.complex(*kept)
    return clip(covariance, -1.0, 1.0)


def householder_product(x: Tensor, tau: Tensor, name: str | None = None) -> Tensor:
    """The first columns of products of reflections, 1 - t v v', as LAPACK's ``geqrf`` gives them.

    (Schreiber and van Loan, A storage-efficient WY representation for products of Householder
    transformations, 1989; with the triangular factor solved for as Puglisi does, 1992.)

    Args:
        x: [..., m, n]: below the diagonal of each column the elements of v behind its leading 1.
        tau: [..., k], with k up to n: t of each reflection.

    Returns:
        [..., m, n].

    Raises:
        ShapeError: x has less rows than columns, or tau does not fit.

    >>> x, tau = fluid.to_tensor([[1.0], [0.5]]), fluid.to_tensor([1.6])
    >>> fluid.paddle.linalg.householder_product(x, tau).numpy().round(4).tolist()
    [[-0.6000000238418579], [-0.800000011920929]]
    """
    rows, columns = _sides("householder_product", x)
    sizes, others = list(x.array.shape), list(tau.array.shape)
    if len(others) != len(sizes) - 1 or others[:-1] != sizes[:-2]:
        raise ShapeError(f"householder_product: shapes {sizes} of x and {others} of tau do not fit")
    if rows < columns or others[-1] > columns:
        raise ShapeError(
            f"householder_product: expected as many rows as columns at least, and no more "
            f"reflections than columns, got shapes {sizes} and {others}"
        )
    count = others[-1]
    one, last = np.eye(+rows, +columns, dtype=x.array.dtype), len(sizes) - 1
    first = eager.slice(x, axes=[last], starts=[0], ends=[count])
    v: Any = add(tril(first, -1), one[:, :count])
    inner = triu(matmul(_turned(v), v), 1)
    factor = multiply(inner, unsqueeze(tau, -1))
    factor = eager.triangular_solve(factor, diag_embed(tau), upper=True, unitriangular=True)
    top = eager.slice(v, axes=[last - 1], starts=[0], ends=[columns])
    return subtract(one, matmul(v, matmul(factor, _turned(top))))


def pca_lowrank(
    x: Tensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of matrices and what belongs to them, from random directions
    (Halko, Martinsson and Tropp, Finding structure with randomness, 2009, algorithms 4.4 and 5.1).

    Args:
        x: [..., m, n].
        q: how many there are; at most 6 when None.
        center: take the mean of each column away first.
        niter: how often directions are improved.

    Returns:
        U, [..., m, q], the singular values, [..., q], and V, [..., n, q].

    Raises:
        ArgumentError: q or niter are negative, or q is larger than a size.
    """
    rows, columns = _sides("pca_lowrank", x)
    fewest = min(+rows, +columns)
    count = min(6, fewest) if q is None else q
    if not 0 <= count <= fewest:
        raise ArgumentError(f"pca_lowrank: expected q from 0 to {fewest}, got {q!r}")
    if niter < 0:
        raise ArgumentError(f"pca_lowrank: expected niter from 0, got {niter!r}")
    if center:
        x = subtract(x, mean(x, -2, True))
    across = _turned(x)
    like = eager.slice(across, axes=[x.array.ndim - 1], starts=[0], ends=[count])
    basis = _basis(matmul(x, normal_like(like)))
    for _ in range(niter):
        basis = _basis(matmul(x, _basis(matmul(across, basis))))
    u, s, vh = svd(matmul(_turned(basis), x))
    return matmul(basis, u), s, _turned(vh)


def _basis(x: Any) -> Any:
    """Orthogonal columns that reach what those of x do."""
    return eager.qr(x)[0]
