"""What operators on stacks of matrices compute, refuse, and say of degenerate ones."""

import itertools

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.backend import numpy_
from fluidlite.errors import DTypeError, OpError, ShapeError, UnsupportedError
from fluidlite.kernels import factors, linear_algebra, slopes
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval

from gradcheck import check_gradients

RNG = np.random.default_rng(0)
linalg = paddle.linalg


def tensor(value, **how):
    return paddle.to_tensor(np.asarray(value), **how)


@pytest.mark.parametrize("shape", [(5, 5), (2, 130, 130), (3, 7, 70), (2, 90, 65), (0, 3, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_are_exchanged_so_that_two_triangles_give_the_matrix(shape, dtype):
    x = RNG.normal(size=shape).astype(dtype)
    order, low, up = linalg.lu_unpack(*linalg.lu(tensor(x)))
    assert low.numpy().dtype == dtype and abs(low.numpy()).max(initial=0) <= 1
    near = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose((order @ low @ up).numpy(), x, near, near)


@pytest.mark.parametrize("shape", [(5, 5), (2, 20, 20), (40, 35)])
def test_rows_are_exchanged_alike_without_scipy(shape, monkeypatch):
    x = RNG.normal(size=shape)
    found = linear_algebra.lu(x)
    monkeypatch.setattr(factors, "_scipy", lambda name, dtype: None)
    for one, other in zip(found, linear_algebra.lu(x)):
        np.testing.assert_allclose(one, other, 0, 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("lead", [(), (2, 1), (0,)])
def test_large_matrices_are_as_numpy_has_them(dtype, lead, monkeypatch):
    monkeypatch.setattr(linear_algebra, "LARGE", 40)
    monkeypatch.setattr(linear_algebra, "REFLECTED", 40)
    x = (RNG.normal(size=[*lead, 47, 47]) / 7 + np.eye(47)[::-1]).astype(dtype)
    y = RNG.normal(size=[*lead, 47, 3]).astype(dtype)
    x = x + np.array(0.1j, dtype) * x[..., ::-1, :] if x.dtype.kind == "c" else x
    near = 1e-4 if x.dtype.itemsize <= 4 * (1 + (x.dtype.kind == "c")) else 1e-11
    parts = linear_algebra.inv(x), linear_algebra.solve(x, y), linear_algebra.cofactors(x)
    q, r = linear_algebra.qr(x)
    monkeypatch.undo()
    for found, expected in zip(
        [*parts, q @ r, *linear_algebra.qr(np.swapaxes(x, -1, -2))],
        [
            *(linear_algebra.inv(x), linear_algebra.solve(x, y), linear_algebra.cofactors(x), x),
            *np.linalg.qr(np.swapaxes(x, -1, -2)),
        ],
    ):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, near, near * abs(expected).max(initial=0))


def _random(*shape, dtype):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)


SLOPES = [
    *[("cholesky", 13, 13, {"upper": upper}) for upper in (False, True)],
    *[
        ("triangular_solve", 13, 13, dict(zip(("upper", "transpose", "unitriangular"), flags)))
        for flags in itertools.product((False, True), repeat=3)
    ],
    *[("lu", m, n, {}) for m, n in ((13, 13), (9, 14), (14, 9))],
]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("type, m, n, attrs", SLOPES)
def test_slopes_by_panels_are_those_of_the_rules(type, m, n, attrs, dtype, monkeypatch):
    monkeypatch.setattr(slopes, "_PANEL", 5)
    x = _random(2, m, n, dtype=dtype) + 6 * np.eye(m, n)
    ins = {"X": x @ np.swapaxes(x, -1, -2).conj() if type == "cholesky" else x}
    if type == "triangular_solve":
        ins["Y"] = _random(n, 3, dtype=dtype)
    op = lookup(type)(attrs)
    results = op.run(numpy_.xp, *ins.values())
    results = results if isinstance(results, tuple) else (results,)
    named = ins | {slot.name: result for slot, result in zip(op.outputs, results)}
    named["dOut"] = _random(*results[0].shape, dtype=dtype)
    arguments = {a.parameter: named[a.parameter] for a in op.rule_arguments}
    rule = op.grad(Eval(numpy_), **arguments)
    for slot, slope in op.grad_numpy(numpy_.xp, **arguments).items():
        found = np.asarray(slope() if callable(slope) else slope)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, np.asarray(rule[slot]()), 1e-9, 1e-9)


def test_a_large_matrix_without_an_inverse_is_named(monkeypatch):
    monkeypatch.setattr(linear_algebra, "LARGE", 40)
    x = RNG.normal(size=[2, 45, 45])
    x[1, :, 7] = 0
    for call in (lambda: linear_algebra.inv(x), lambda: linear_algebra.solve(x, x)):
        with pytest.raises(OpError, match=r"singular one; it is the one at \[1\]"):
            call()
    assert np.isfinite(linear_algebra.inv_or_nan(x)[0]).all()
    assert np.isnan(linear_algebra.inv_or_nan(x)[1]).all()
    slopes = linear_algebra.cofactors(x)[1]
    assert np.isfinite(slopes).all() and abs(slopes[:, 7]).max() > 0
    x[0, 0, 0] = np.nan
    assert np.isnan(linear_algebra.inv_or_nan(x)[0]).any()


@pytest.mark.parametrize("n", [1, 3, 20, 200])
@pytest.mark.parametrize(
    "upper, unit", [(True, False), (False, False), (True, True), (False, True)]
)
def test_triangles_are_solved_for_of_any_size(n, upper, unit):
    x = RNG.normal(size=[2, 1, n, n]) / n + 2 * np.eye(n)
    y = RNG.normal(size=[3, n, 4])
    found = linear_algebra.triangular_solve(x, y, upper, unit)
    part = np.triu(x) if upper else np.tril(x)
    part = np.where(np.eye(n) == 1, 1.0, part) if unit else part
    np.testing.assert_allclose(part @ found, np.broadcast_to(y, found.shape), 0, 1e-12)


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_cofactors_are_there_at_any_rank(rank):
    x = RNG.normal(size=[3, rank]) @ RNG.normal(size=[rank, 3])
    expected = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ]
    given = tensor(x, stop_gradient=False)
    linalg.det(given).backward()
    np.testing.assert_allclose(given.grad.numpy(), expected, 1e-9, 1e-12)


def test_equal_singular_values_have_slopes_by_the_values_alone():
    x = tensor(np.eye(3), stop_gradient=False)
    _, s, _ = linalg.svd(x)
    s.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.eye(3), atol=1e-12)
    x.clear_grad()
    (linalg.eigvalsh(x) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.eye(3), atol=1e-12)
    x.clear_grad()
    with np.errstate(all="ignore"):
        linalg.eigh(x)[1].sum().backward()
    assert not np.isfinite(x.grad.numpy()).all()


def test_the_slope_of_a_logarithm_of_zero_is_no_number():
    x = tensor(np.zeros([2, 2]), stop_gradient=False)
    found = linalg.slogdet(x)
    assert found.tolist() == [0.0, -np.inf]
    found.sum().backward()
    assert np.isnan(x.grad.numpy()).all()


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: linalg.inv(tensor(np.zeros([2, 2]))), OpError, "an inverse, got a singular one"),
        (
            lambda: linalg.inv(tensor(np.stack([np.eye(2), np.zeros([2, 2])]))),
            OpError,
            r"it is the one at \[1\]",
        ),
        (
            lambda: linalg.solve(tensor(np.zeros([2, 2])), tensor(np.ones([2]))),
            OpError,
            "got a singular one",
        ),
        (lambda: linalg.cholesky(tensor(-np.eye(2))), OpError, "positive definite matrices"),
        (lambda: linalg.inv(tensor(np.ones([2, 3]))), ShapeError, "as many rows as columns"),
        (lambda: linalg.inv(tensor(np.ones([2]))), ShapeError, "2 dimensions"),
        (lambda: linalg.inv(tensor(np.eye(2, dtype="int64"))), DTypeError, "float64, complex64 or"),
        (
            lambda: linalg.solve(tensor(np.eye(2)), tensor(np.ones([2, 1], "float32"))),
            DTypeError,
            "one element type",
        ),
        (
            lambda: linalg.solve(tensor(np.eye(2)), tensor(np.ones([3, 1]))),
            ShapeError,
            "as many rows in Y as columns in X",
        ),
        (lambda: linalg.lu(tensor(np.eye(2)), pivot=False), UnsupportedError, "exchanges of rows"),
        (
            lambda: linalg.cholesky_solve(tensor(np.ones([3, 1])), tensor(np.eye(2))),
            ShapeError,
            "as many rows in X as in Y",
        ),
        (
            lambda: linalg.multi_dot([tensor(np.ones([2, 3])), tensor(np.ones([2, 3]))]),
            ShapeError,
            r"columns in X\[0\] as rows in X\[1\]",
        ),
        (
            lambda: linalg.lu_unpack(tensor(np.eye(2)), tensor(np.ones([3], "int32"))),
            ShapeError,
            r"expected Pivots of shape \[2\]",
        ),
    ],
)
def test_what_means_nothing_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_wide_matrix_of_nothing_is_computed_with():
    for shape in ([0, 0], [2, 0, 0]):
        x = tensor(np.zeros(shape))
        assert linalg.inv(x).shape == shape
        assert linalg.cholesky(x).shape == shape
        assert linalg.det(x).numpy().tolist() == np.ones(shape[:-2]).tolist()
        assert linalg.pinv(x).shape == shape
    assert linalg.matrix_rank(tensor(np.zeros([2, 0, 3]))).tolist() == [0, 0]
    q, r = linalg.qr(tensor(np.zeros([0, 3])))
    assert (q.shape, r.shape) == ([0, 0], [0, 3])


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_matrices_that_are_not_finite_give_nan_and_are_not_called_singular(number):
    x = np.stack([np.diag([1.0, 2.0]), np.full([2, 2], number)])
    values = (linalg.eigvals, linalg.eigvalsh, lambda x: linalg.svd(x)[0], linalg.pinv)
    others = [linalg.inv, linalg.cholesky] if np.isnan(number) else []
    for function in (*others, *values, lambda x: linalg.eig(x)[1]):
        found = function(tensor(x)).numpy()
        found = found[..., None] if found.ndim == 2 else found
        assert np.isnan(found).any(axis=(-2, -1)).tolist() == [False, True]


def by_svd(f, x):
    """What does not depend on the phases of U and VH."""
    u, s, vh = f.svd(x)
    return [f.matmul(u * f.exp(s * 0.2), vh), f.square(f.abs(u)), f.square(f.abs(vh))]


def by_eigh(f, x):
    x = x + f.conj(f.transpose(x, axis=[1, 0]))
    values, v = f.eigh(x)
    return [f.matmul(v * f.exp(values * 0.2), f.conj(v), transpose_Y=True), f.square(f.abs(v))]


def by_eig(f, x):
    values, v = f.eig(x)
    return [f.matmul(v * f.exp(values * 0.2), f.inverse(v)), f.square(f.abs(v))]


@pytest.mark.parametrize(
    "function, shape",
    [(by_svd, [3, 3]), (by_svd, [4, 2]), (by_svd, [2, 4]), (by_eigh, [3, 3]), (by_eig, [3, 3])],
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_does_not_depend_on_phases_has_gradients(function, shape, order):
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    check_gradients(function, [x], order, tolerance=1e-4)
    if function is by_eig:
        check_gradients(function, [x.real], order, tolerance=1e-4)


COMPLEX = RNG.normal(size=[2, 3, 3]) + 1j * RNG.normal(size=[2, 3, 3])
HERMITIAN = COMPLEX @ COMPLEX.conj().swapaxes(-1, -2)


@pytest.mark.parametrize(
    "name, right, x",
    [
        ("inv", np.linalg.inv, COMPLEX),
        ("det", np.linalg.det, COMPLEX),
        ("pinv", np.linalg.pinv, COMPLEX[:, :2]),
        ("cholesky", np.linalg.cholesky, HERMITIAN),
        ("cond", np.linalg.cond, COMPLEX),
        ("matrix_rank", np.linalg.matrix_rank, COMPLEX[:, :2]),
        ("cov", np.cov, COMPLEX[0]),
        ("corrcoef", np.corrcoef, COMPLEX[0]),
        ("eigvalsh", np.linalg.eigvalsh, HERMITIAN),
        ("eigvals", np.linalg.eigvals, COMPLEX),
        ("svd", lambda x: np.linalg.svd(x)[1], COMPLEX),
    ],
)
def test_complex_matrices_are_those_of_numpy(name, right, x):
    found = getattr(linalg, name)(tensor(x))
    found = found[1] if name == "svd" else found
    np.testing.assert_allclose(found.numpy(), right(x), 1e-9, 1e-9)
