"""Generated kernels of large matrices, held against LAPACK's results."""

import numpy as np
import pytest

from fluidlite.backend import panels, stacks
from fluidlite.backend.native.matrices import PANELS
from fluidlite.backend.numpy_ import xp
from fluidlite.errors import OpError
from fluidlite.kernels import linear_algebra as lapack
from fluidlite.kernels import threads


@pytest.fixture
def kernels(kernels, monkeypatch):
    """The same, for matrices that are large enough."""
    monkeypatch.setattr(threads, "count", lambda: 1)
    monkeypatch.setattr(panels, "READ", 60)
    return kernels


def _matrices(*shape, dtype="float64"):
    x = np.random.default_rng(3).normal(size=shape).astype(dtype)
    return x + np.eye(*shape[-2:], dtype=dtype) * 4


def _turned(x):
    return np.swapaxes(x, -1, -2)


def _either_way(x):
    """The same matrices as they lie by rows, and by columns."""
    return x, _turned(np.ascontiguousarray(_turned(x)))


def test_factors_are_those_of_lapack(kernels):
    for shape in ((70, 70), (2, 53, 53), (50, 90), (90, 50)):
        for x in _either_way(np.random.default_rng(5).normal(size=shape)):
            for ours, theirs in zip(stacks.lu(x), lapack.lu(x), strict=True):
                assert ours.dtype == theirs.dtype and np.allclose(ours, theirs)
    assert set(kernels) == {("lu", True)}


def test_reflections_are_those_of_lapack(kernels):
    for shape in ((70, 70), (2, 53, 53), (50, 90), (90, 50)):
        for x in _either_way(np.random.default_rng(5).normal(size=shape)):
            for ours, theirs in zip(stacks.qr(x), lapack.qr(x), strict=True):
                assert ours.shape == theirs.shape and np.allclose(ours, theirs)
    x[:, 1] = 1e-200 * x[:, 2]  # whose square is nothing
    assert np.allclose(np.matmul(*stacks.qr(x)), x)
    x[:, 1] = 0
    assert np.allclose(np.matmul(*stacks.qr(x)), x)
    assert {done for _, done in kernels[:-2]} == {True} and not kernels[-2][1]


def test_triangles_are_solved_from_either_end(kernels):
    for rows, columns in ((50, 1), (77, 40)):
        a, b = _matrices(2, rows, rows), _matrices(2, rows, columns)
        for x in _either_way(a / rows + np.eye(rows)):
            for upper, unit in ((False, False), (True, False), (False, True), (True, True)):
                triangle = np.triu(x) if upper else np.tril(x)
                if unit:
                    triangle[:, range(rows), range(rows)] = 1
                for right in _either_way(b):
                    solution = stacks.triangular_solve(x, right, upper, unit)
                    assert np.allclose(triangle @ solution, b)
    assert set(kernels) == {("triangular_solve", True)}


def test_definite_matrices_have_either_triangle(kernels):
    for rows in (48, 77):
        x = _matrices(2, rows, rows)
        x = x @ _turned(x)
        low = np.linalg.cholesky(x)
        for given in _either_way(x):
            assert np.allclose(stacks.cholesky(np.tril(given)), low)
            assert np.allclose(stacks.cholesky(np.triu(given), True), _turned(low))
    assert set(kernels) == {("cholesky", True)}


def test_one_decomposition_serves_all(kernels):
    for rows, a in ((n, a) for n in (50, 77) for a in _either_way(_matrices(2, n, n))):
        b = _matrices(2, rows, 33)
        factors, pivots, _ = stacks.lu(a)
        for lu in _either_way(factors):
            assert np.allclose(a @ panels.solve_by_factors(a, lu, pivots, b), b)
            assert np.allclose(_turned(a) @ panels.solve_by_factors(a, lu, pivots, b, True), b)
            assert np.allclose(a @ panels.inv_by_factors(lu, pivots), np.eye(rows))
            minors = panels.cofactors_by_factors(a, lu, pivots)
            assert np.allclose(minors, lapack.cofactors(a))
        assert np.allclose(a @ stacks.solve(a, b), b)
        assert np.allclose(a @ stacks.inv(a), np.eye(rows))
        assert np.allclose(stacks.inv_or_nan(a), stacks.inv(a))
        assert np.allclose(stacks.cofactors(a), minors)
        assert np.allclose(stacks.det(a), np.linalg.det(a))
        assert np.allclose(panels.slogdet(a), np.linalg.slogdet(a))
    assert all(done for _, done in kernels)


def test_what_has_no_finite_result_is_left_to_lapack(kernels):
    x = _matrices(2, 50, 50)
    x[1] = 0
    for function in (stacks.inv, lambda a: stacks.solve(a, a)):
        with pytest.raises(OpError, match=r"singular one; it is the one at \[1\]"):
            function(x)
    assert np.isnan(stacks.inv_or_nan(x)[1]).all() and np.isfinite(stacks.inv_or_nan(x)[0]).all()
    assert stacks.det(x)[1] == 0 and stacks.lu(x)[2].tolist() == [0, 1]
    assert np.isnan(stacks.triangular_solve(x, x, True)[1]).all()
    with pytest.raises(OpError, match="positive definite"):
        stacks.cholesky(-_matrices(50, 50))
    x[1] = np.nan
    assert np.isnan(stacks.inv(x)[1]).all() and np.isnan(stacks.det(x)[1])
    factors, pivots, _ = stacks.lu(_matrices(50, 50))
    zero = np.zeros_like(factors)
    assert np.isnan(panels.solve_by_factors(zero * np.nan, zero, pivots, zero)).all()
    for wrong in (0, 51, -(2**31)):
        pivots[3] = wrong
        arrays = factors, pivots, panels.flags_of(False, False), np.empty(9000), factors.copy()
        assert not PANELS.get().run("inv_by_factors", arrays)


def test_kernels_take_neither_small_nor_huge_matrices(kernels, monkeypatch):
    for x in (_matrices(47, 47), _matrices(50, 50).astype("complex64"), _matrices(0, 50, 50)):
        assert np.allclose(stacks.inv(x), lapack.inv(x))
    monkeypatch.setattr(threads, "count", lambda: 32)
    assert np.allclose(stacks.det(_matrices(50, 50)), lapack.det(_matrices(50, 50)))
    assert not kernels


def test_operators_take_these_functions():
    for name in ("inv_by_factors", "solve_by_factors", "cofactors_by_factors", "slogdet"):
        assert getattr(xp, name) is getattr(panels, name)
