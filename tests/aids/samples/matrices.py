"""Samples of operators on stacks of matrices: systems of equations and decompositions."""

import numpy as np

from .form import Sample, samples


def definite(rng, *shape):
    """Symmetric positive definite matrices."""
    x = rng.normal(size=shape)
    return x @ np.swapaxes(x, -1, -2) / shape[-1] + np.eye(shape[-1])


def regular(rng, *shape):
    """Matrices far from singular ones."""
    return rng.normal(size=shape) + 3 * np.eye(shape[-1])


def triangular(rng, *shape):
    """Matrices with a diagonal far from 0."""
    return rng.normal(size=shape) * 0.5 + 2 * np.eye(shape[-1])


def reaching(rng, *shape):
    """Matrices far from a lower rank."""
    return rng.normal(size=shape) * 0.4 + 2 * np.eye(*shape[-2:])


@samples(
    *("inverse", "inverse_or_nan", "determinant", "slogdeterminant"),
    *("factored_determinant", "factored_slogdeterminant"),
)
def of_square(rng, type):
    yield Sample(dict(Input=regular(rng, 3, 3)), order=3)
    yield Sample(dict(Input=regular(rng, 2, 3, 4, 4)))


@samples("cofactors")
def cofactors(rng):
    yield Sample(dict(X=regular(rng, 3, 3)), order=3)
    yield Sample(dict(X=regular(rng, 2, 4, 4)))
    row = rng.normal(size=[1, 3])
    x = np.concatenate([row, 2 * row, rng.normal(size=[1, 3])])
    yield Sample(dict(X=x), order=0, why="no further slope at singular matrices", name="singular")


@samples("solve")
def solve(rng):
    yield Sample(dict(X=regular(rng, 3, 3), Y=rng.normal(size=[3, 2])), order=3)
    yield Sample(dict(X=regular(rng, 4, 1, 3, 3), Y=rng.normal(size=[2, 3, 5])), name="spread")
    yield Sample(dict(X=regular(rng, 2, 3, 3), Y=rng.normal(size=[3])), name="a_vector")
    yield Sample(dict(X=regular(rng, 2, 3, 3), Y=rng.normal(size=[2, 3])), name="vectors")


@samples("factored_solve")
def factored_solve(rng):
    for transpose in (False, True):
        x, y = regular(rng, 3, 3), rng.normal(size=[3, 2])
        yield Sample(dict(X=x, Y=y), dict(transpose=transpose), order=3)
    x, y = regular(rng, 4, 1, 3, 3), rng.normal(size=[2, 3, 5])
    yield Sample(dict(X=x, Y=y), name="spread")


@samples("triangular_solve")
def triangular_solve(rng):
    for upper in (True, False):
        for transpose in (True, False):
            for unit in (True, False):
                attrs = dict(upper=upper, transpose=transpose, unitriangular=unit)
                x, y = triangular(rng, 3, 3), rng.normal(size=[3, 2])
                yield Sample(dict(X=x, Y=y), attrs)
    x, y = triangular(rng, 2, 1, 6, 6), rng.normal(size=[3, 6, 4])
    yield Sample(dict(X=x, Y=y), dict(upper=False), order=3, name="spread")


@samples("cholesky")
def cholesky(rng):
    for upper in (False, True):
        yield Sample(dict(X=definite(rng, 3, 3)), dict(upper=upper), order=3, symmetric=("X",))
    yield Sample(dict(X=definite(rng, 2, 5, 5)), symmetric=("X",))


@samples("cholesky_solve")
def cholesky_solve(rng):
    for upper in (False, True):
        x, y = rng.normal(size=[2, 3, 4]), triangular(rng, 3, 3)
        yield Sample(dict(X=x, Y=y), dict(upper=upper), order=3)


@samples("matrix_power")
def matrix_power(rng):
    for n in (0, 1, 2, 5, -1, -2):
        yield Sample(dict(X=regular(rng, 2, 3, 3)), dict(n=n), tolerance=1e-5)


@samples("mv")
def mv(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Vec=rng.normal(size=[3])), order=3)


@samples("multi_dot")
def multi_dot(rng):
    a, b, c = (rng.normal(size=s) for s in ([2, 5], [5, 3], [3, 4]))
    yield Sample(dict(X=[a, b]), order=3)
    yield Sample(dict(X=[a, b, c]))
    yield Sample(dict(X=[a[0], b, c[:, 0]]), name="vectors_outside")
    yield Sample(dict(X=[a[0], b]), name="a_row")


@samples("qr")
def qr(rng):
    yield Sample(dict(X=rng.normal(size=[4, 3])), order=3, tolerance=1e-5)
    yield Sample(dict(X=rng.normal(size=[2, 3, 5])), tolerance=1e-5, name="wide")
    yield Sample(dict(X=rng.normal(size=[3, 3])), dict(mode="complete"), tolerance=1e-5)
    yield Sample(dict(X=rng.normal(size=[4, 2])), dict(mode="r"), outputs=("R",), name="r")
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(mode="r"), outputs=("R",), name="wide_r")
    yield Sample(
        dict(X=rng.normal(size=[4, 2])),
        dict(mode="complete"),
        order=0,
        why="columns of Q beyond those of X are any",
        name="complete",
    )


@samples("svd")
def svd(rng):
    near = dict(tolerance=1e-5)
    yield Sample(dict(X=rng.normal(size=[3, 3])), order=3, phases=True, **near)
    yield Sample(dict(X=rng.normal(size=[2, 4, 3])), name="tall", phases=True, **near)
    yield Sample(dict(X=rng.normal(size=[2, 4])), name="wide", phases=True, **near)
    yield Sample(dict(X=rng.normal(size=[3, 4])), outputs=("S",), order=3, **near)
    full = dict(outputs=("U", "S"), name="full", phases=True)
    yield Sample(dict(X=rng.normal(size=[3, 4])), dict(full_matrices=True), **full, **near)


@samples("eigh", "eigvalsh")
def eigh(rng, type):
    of_values = dict(outputs=("Eigenvalues",), symmetric=("X",), tolerance=1e-5)
    for uplo in ("L", "U"):
        yield Sample(dict(X=definite(rng, 3, 3)), dict(UPLO=uplo), order=3, **of_values)
    if type == "eigh":
        both = dict(symmetric=("X",), tolerance=1e-5, phases=True)
        yield Sample(dict(X=definite(rng, 3, 3)), order=3, **both)
        yield Sample(dict(X=definite(rng, 2, 4, 4)), dict(UPLO="U"), **both)


@samples("eig", "eigvals")
def eig(rng, type):
    outputs = ("Eigenvalues",) if type == "eig" else ("Out",)
    yield Sample(dict(X=rng.normal(size=[3, 3])), outputs=outputs, order=3, tolerance=1e-5)
    yield Sample(dict(X=regular(rng, 2, 4, 4)), outputs=outputs, tolerance=1e-5)


@samples("lu")
def lu(rng):
    yield Sample(dict(X=rng.normal(size=[3, 3])), order=3, tolerance=1e-5)
    yield Sample(dict(X=rng.normal(size=[2, 5, 3])), tolerance=1e-5, name="tall")
    yield Sample(dict(X=rng.normal(size=[2, 3, 5])), tolerance=1e-5, name="wide")


@samples("lu_unpack")
def lu_unpack(rng):
    pivots = np.array([3, 3, 3], "int32")
    for shape in ([3, 3], [5, 3], [3, 4]):
        yield Sample(dict(X=rng.normal(size=shape), Pivots=pivots))
    x = rng.normal(size=[2, 3, 3])
    both = np.array([[2, 3, 3], [1, 2, 3]], "int32")
    yield Sample(dict(X=x, Pivots=both), dict(unpack_pivots=False), outputs=("L", "U"))
    yield Sample(
        dict(X=x, Pivots=both), dict(unpack_ludata=False), order=0, why="nothing of X is given"
    )


@samples("pseudo_inverse")
def pseudo_inverse(rng):
    yield Sample(dict(X=reaching(rng, 3, 3)), order=3, tolerance=1e-5)
    yield Sample(dict(X=reaching(rng, 2, 4, 3)), tolerance=1e-5, name="tall")
    yield Sample(dict(X=reaching(rng, 2, 3)), tolerance=1e-5, name="wide")
    yield Sample(
        dict(X=definite(rng, 3, 3)), dict(hermitian=True), symmetric=("X",), name="symmetric"
    )


@samples("lstsq")
def lstsq(rng):
    for name, m, n in (("tall", 4, 3), ("square", 3, 3), ("wide", 2, 4)):
        for driver in ("gels", "gelsy", "gelsd"):
            x, y = reaching(rng, 2, m, n), rng.normal(size=[2, m, 2])
            yield Sample(
                dict(X=x, Y=y), dict(driver=driver), tolerance=1e-5, name=f"{name}_{driver}"
            )


@samples("matrix_rank")
def matrix_rank(rng):
    x = rng.normal(size=[3, 4, 2]) @ rng.normal(size=[2, 5])
    yield Sample(dict(X=x))
    yield Sample(dict(X=x, TolTensor=np.array([0.1, 1.0, 50.0])), dict(use_default_tol=False))
    yield Sample(dict(X=x[0]), dict(tol=2.5, use_default_tol=False))
    yield Sample(dict(X=definite(rng, 3, 3)), dict(hermitian=True))
