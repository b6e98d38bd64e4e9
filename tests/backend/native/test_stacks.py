"""Generated kernels of stacks of small matrices, held against LAPACK's results."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.backend import stacks
from fluidlite.backend.native.matrices import STACKS
from fluidlite.errors import OpError
from fluidlite.kernels import linear_algebra as lapack
from fluidlite.kernels import slopes


def _matrices(*shape, dtype="float32"):
    return np.random.default_rng(3).normal(size=shape).astype(dtype)


def _definite(x):
    return x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1], dtype=x.dtype)


def _near(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert np.allclose(a, b, rtol=1e-3, atol=1e-4)


def _held(kernels, name, *args):
    """Compare with LAPACK; what a kernel has to have computed."""
    made, expected = getattr(stacks, name)(*args), getattr(lapack, name)(*args)
    assert kernels.pop() == (name, True)
    parts = (lambda v: v) if isinstance(made, tuple) else (lambda v: (v,))
    _near(parts(made), parts(expected))


@pytest.mark.parametrize("name", ["inv", "det", "lu"])
def test_a_kernel_exchanges_rows_as_lapack_does(kernels, name):
    x = _matrices(19, 5, 5)
    _held(kernels, name, x)
    _held(kernels, name, np.swapaxes(x, -1, -2))
    _held(kernels, name, _matrices(2, 3, 9, 1, 1))


def test_wide_and_tall_matrices_have_factors_and_reflections(kernels):
    for shape in ((9, 3, 6), (17, 6, 3)):
        _held(kernels, "lu", _matrices(*shape))
        _held(kernels, "qr", _matrices(*shape))
        _held(kernels, "qr", np.swapaxes(_matrices(*shape), -1, -2))


def test_columns_that_are_done_are_not_reflected(kernels):
    x = np.triu(_matrices(20, 4, 4))
    _held(kernels, "qr", x)
    x[:, 1:, 1] = 1e-30  # whose square is nothing
    _near(stacks.qr(x), lapack.qr(x))
    assert kernels == [("qr", False)]


def test_definite_matrices_have_either_triangle(kernels):
    x = _definite(_matrices(21, 6, 6))
    _held(kernels, "cholesky", np.tril(x))
    _held(kernels, "cholesky", np.triu(x), True)


def test_systems_are_solved_in_double_precision_too(kernels):
    for dtype in ("float32", "float64"):
        a, b = _matrices(4, 5, 6, 6, dtype=dtype), _matrices(4, 5, 6, 3, dtype=dtype)
        x = stacks.solve(a, b)
        assert kernels.pop() == ("solve", True) and x.dtype == dtype
        assert np.allclose(a @ x, b, atol=1e-3 if dtype == "float32" else 1e-11)
        x = stacks.solve(np.swapaxes(a, -1, -2), b)
        assert np.allclose(np.swapaxes(a, -1, -2) @ x, b, atol=1e-3)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles_are_solved_from_either_end(kernels, upper, unit):
    a, b = _matrices(18, 5, 5) + 4 * np.eye(5, dtype="float32"), _matrices(18, 5, 2)
    for given in (a, np.swapaxes(a, -1, -2)):
        triangle = np.triu(given) if upper else np.tril(given)
        if unit:
            triangle[:, range(5), range(5)] = 1
        found = stacks.triangular_solve(given, b, upper, unit)
        assert kernels.pop() == ("triangular_solve", True)
        assert np.allclose(triangle @ found, b, atol=1e-2)


def test_slopes_are_those_of_numpy(kernels):
    x, slope = _matrices(19, 5, 5), np.swapaxes(_matrices(19, 5, 5), -1, -2)
    _held(kernels, "cofactors", x)
    low, (factors, pivots, _) = lapack.cholesky(_definite(x)), lapack.lu(x + 3 * np.eye(5))
    for name, args in [
        ("cholesky_slope", (low, slope)),
        ("lu_slope", (factors.astype("float32"), pivots, slope)),
    ]:
        _near([getattr(stacks, name)(*args)], [getattr(slopes, name)(*args)])
        assert kernels.pop() == (name, True)
    wide, exchanged, _ = lapack.lu(_matrices(9, 3, 5))
    assert stacks.lu_slope(wide, exchanged, wide).shape == wide.shape
    assert not any(name == "lu_slope" for name, _ in kernels)
    kernels.clear()
    assert (stacks.cofactors(np.zeros((9, 3, 3))) == 0).all() and kernels == [("cofactors", False)]


def test_what_has_no_finite_result_is_left_to_lapack(kernels):
    x = _matrices(12, 3, 3)
    x[4] = 0
    with pytest.raises(OpError, match=r"singular one; it is the one at \[4\]"):
        stacks.inv(x)
    with pytest.raises(OpError, match=r"singular one; it is the one at \[4\]"):
        stacks.solve(x, x)
    assert np.isnan(stacks.inv_or_nan(x)[4]).all() and np.isfinite(stacks.inv_or_nan(x)[5]).all()
    assert stacks.det(x)[4] == 0 and stacks.lu(x)[2].tolist() == [0, 0, 0, 0, 1] + [0] * 7
    assert np.isnan(stacks.triangular_solve(x, x, True)[4]).all()
    with pytest.raises(OpError, match="positive definite"):
        stacks.cholesky(np.stack([-np.eye(3, dtype="float32")] * 9))
    x[4] = np.nan
    assert np.isnan(stacks.inv(x)[4]).all() and np.isnan(stacks.det(x)[4])
    assert not any(done for _, done in kernels)


def test_kernels_take_neither_few_nor_large_nor_complex_matrices(kernels):
    for x in (_matrices(7, 3, 3), _matrices(9, 33, 33), _matrices(9, 3, 3).astype("complex64")):
        _near([stacks.inv(x)], [lapack.inv(x)])
    assert stacks.inv(np.zeros((0, 3, 3))).shape == (0, 3, 3)
    a, b = _matrices(9, 3, 3), _matrices(3, 2)
    _near([stacks.solve(a, b)], [lapack.solve(a, b)])
    assert not kernels


def test_gradients_of_tensors_go_through_kernels(kernels):
    x = _definite(_matrices(10, 4, 4, dtype="float64"))
    leaf = paddle.to_tensor(x, stop_gradient=False)
    (slope,) = paddle.grad(paddle.linalg.inv(leaf).sum(), leaf)
    inverse = np.linalg.inv(x)
    expected = -inverse.sum(-2)[:, :, None] * inverse.sum(-1)[:, None, :]
    assert np.allclose(slope.numpy(), expected)
    assert ("inv", True) in kernels


def test_kernels_are_there_once_they_are_compiled(compiler, monkeypatch, tmp_path):
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path))
    monkeypatch.setenv("FLUIDLITE_KERNELS", "auto")
    asked, x = [], _matrices(9, 3, 3)
    monkeypatch.setattr(type(compiler), "request", lambda self, sources: asked.extend(sources))
    _near([stacks.det(x)], [lapack.det(x)])
    assert len(asked) == 1
    monkeypatch.undo()
    compiler._known[asked[0].name] = None  # it could not be made
    _near([stacks.det(x)], [lapack.det(x)])
    assert STACKS.get()._known == {("det", "f"): None}


def test_numpy_alone_is_asked_for_no_kernel(compiler, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    x = _matrices(9, 3, 3)
    _near([stacks.det(x)], [lapack.det(x)])
    assert STACKS.get()._known == {("det", "f"): None} and not compiler._known
