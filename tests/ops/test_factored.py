"""Large matrices are factored once, for an operator and its gradient."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FluidError
from fluidlite.kernels import factors, linear_algebra
from fluidlite.ops import matrices

pytest.importorskip("scipy", reason="factors are kept where SciPy is there")
paddle = fluid.paddle
linalg = paddle.linalg
RNG = np.random.default_rng(5)
FUNCTIONS = {
    "solve": linalg.solve,
    "vectors": lambda x, y: linalg.solve(x, y[..., 0]),
    "det": lambda x, y: linalg.det(x),
    "slogdet": lambda x, y: linalg.slogdet(x),
}


def of_orders(function, x, y):
    """The values of a function, and the first three of its gradients."""
    x, y = (paddle.to_tensor(v, stop_gradient=False) for v in (x, y))
    values = [function(x, y)]
    flowing = values
    for _ in range(3):
        total = sum((v * v).sum() for v in flowing)
        flowing = paddle.grad(total, [x, y], create_graph=True, allow_unused=True)
        flowing = [v for v in flowing if v is not None]
        values += flowing
    return [v.numpy() for v in values]


@pytest.fixture
def counted(monkeypatch):
    """The LU decompositions of a test, in which all matrices count as large."""
    calls = []
    monkeypatch.setattr(matrices, "LARGE", 1)
    monkeypatch.setattr(factors, "_FEW", 1)
    scipy = factors._scipy

    def counting(name, dtype):
        routine = scipy(name, dtype)
        return lambda *args, **named: [routine(*args, **named), calls.append(name)][0]

    monkeypatch.setattr(factors, "_scipy", counting)
    return calls


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", [*FUNCTIONS])
def test_values_and_three_gradients_are_those_without_factors(name, dtype, monkeypatch):
    if (name, dtype) == ("slogdet", "complex128"):
        pytest.skip("Paddle's form holds no complex signs")
    n = 14 + [*FUNCTIONS].index(name)  # a shape of its own, of which nothing is remembered
    x = (RNG.normal(size=[n, n]) / n + np.eye(n)[::-1]).astype(dtype)
    x = x + 0.1j * x[::-1] if dtype == "complex128" else x
    y = RNG.normal(size=[n, 3]).astype(dtype)
    expected = of_orders(FUNCTIONS[name], x[None], y[None])
    monkeypatch.setattr(matrices, "LARGE", 1)
    for _ in range(2):  # the second call knows the shapes
        for one, other in zip(of_orders(FUNCTIONS[name], x, y), expected, strict=True):
            near = 1e-9 * abs(other).max()
            np.testing.assert_allclose(one.reshape(other.shape), other, 1e-9, near)


@pytest.mark.parametrize("name", [*FUNCTIONS])
def test_an_eager_gradient_factors_nothing_again(name, counted):
    n = 24 + [*FUNCTIONS].index(name)
    x = paddle.to_tensor(RNG.normal(size=[n, n]), stop_gradient=False)
    y = paddle.to_tensor(RNG.normal(size=[n, 3]))
    for _ in range(2):
        counted.clear()
        paddle.grad(FUNCTIONS[name](x, y).sum(), x)
    assert counted.count("getrf") == 1


def test_a_compiled_program_factors_once_for_its_gradient(counted):
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x, y = (fluid.data(name, [21, 21], "float64") for name in "xy")
        x.stop_gradient = False
        loss = linalg.solve(x, y).sum() + linalg.det(x)
        (slope,) = fluid.gradients(loss, x)
    assert [op.type for op in main.global_block().ops].count("lu") == 0
    feed = {name: RNG.normal(size=[21, 21]) + 5 * np.eye(21) for name in "xy"}
    exe, found = fluid.Executor(), []
    for _ in range(3):
        counted.clear()
        found.append(exe.run(main, feed=feed, fetch_list=[loss, slope]))
    assert counted.count("getrf") == 1
    for one, other in zip(found[0], found[2], strict=True):
        np.testing.assert_allclose(one, other, 1e-9)


@pytest.mark.parametrize("name", ["solve", "vectors"])
def test_a_singular_matrix_is_an_error_of_the_function(name, counted):
    x = np.eye(31 + len(name))
    y = paddle.to_tensor(x)
    FUNCTIONS[name](paddle.to_tensor(x, stop_gradient=False), y)  # which knows the shapes now
    x[3, 3] = 0
    with pytest.raises(FluidError, match=r"got a singular one\n  in solve, called at"):
        FUNCTIONS[name](paddle.to_tensor(x, stop_gradient=False), y)


def test_the_determinant_of_a_singular_matrix_has_its_slope(counted):
    x = np.eye(29)
    slopes = []
    for value in (1.0, 0.0):
        x[3, 3] = value
        given = paddle.to_tensor(x, stop_gradient=False)
        linalg.det(given).backward()
        slopes.append(given.grad.numpy()[3, 3])
    np.testing.assert_allclose(slopes, 1)


def test_factors_that_overflow_are_left_to_substitution():
    x = np.eye(40)
    x[0, 0], x[0, 1] = 1e-310, 1.0
    y = RNG.normal(size=[40, 2])
    y[:2] = 0
    packed, pivots, _ = linear_algebra.lu(x)
    np.testing.assert_allclose(linear_algebra.solve_by_factors(x, packed, pivots, y), y)
