"""Products of matrices, sums, scaling, clipping, casts."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError, ShapeError
from fluidlite.ground.dtypes import DType

from building import data, refused, run, written

X = np.arange(8, dtype="float32").reshape(2, 4) - 3.5


def test_mul_flattens_to_matrices():
    x, y = data(shape=[None, 2, 4]), data("y", [4, 3])
    out = layers.mul(x, y, x_num_col_dims=2)
    assert written() == ["mul_0.tmp_0 = mul(X=x, Y=y, x_num_col_dims=2)"]
    assert out.shape == (-1, 2, 3)


def test_mul_refuses_what_does_not_fit_by_the_names_of_the_variables():
    x, y = data(), data("y", [5, 3])
    with refused(ShapeError, r"(?s)got 4 and 5.*x float32\[-1, 4\], y float32\[5, 3\]"):
        layers.mul(x, y)


def test_matmul_transposes_and_multiplies():
    x, y = data(shape=[2, 4]), data("y", [3, 4])
    out = layers.matmul(x, y, transpose_y=True, alpha=0.5, name="m")
    assert written() == ["m.tmp_0 = matmul(X=x, Y=y, transpose_Y=true, alpha=0.5)"]
    y_value = np.ones([3, 4], "float32")
    assert np.allclose(run(out, x=X, y=y_value), 0.5 * X @ y_value.T)


def test_vectors_are_multiplied_as_fluid_does_in_programs_and_at_once():
    """A vector X is a row, a vector Y a column; a dimension of size 1 that they add is dropped."""
    shapes = [(1,), (3,), (4,), (3, 4), (1, 3), (3, 1), (2, 3, 4)]
    fits = 0
    for a, b in ((a, b) for a in shapes for b in shapes if 1 in (len(a), len(b))):
        x, y = np.arange(1.0, 1 + np.prod(a)).reshape(a), np.arange(2.0, 2 + np.prod(b)).reshape(b)
        for across, down in np.ndindex(2, 2):
            rows = x[None] if x.ndim == 1 else x
            columns = y[:, None] if y.ndim == 1 else y
            rows = np.swapaxes(rows, -1, -2) if across else rows
            columns = np.swapaxes(columns, -1, -2) if down else columns
            turned = dict(transpose_x=bool(across), transpose_y=bool(down))
            with fluid.program_guard(fluid.Program()):
                u, v = data("u", a, "float64"), data("v", b, "float64")
                u.stop_gradient = v.stop_gradient = False
                if rows.shape[-1] != columns.shape[-2]:
                    with refused(ShapeError, "as many columns in X as rows in Y"):
                        layers.matmul(u, v, **turned)
                    continue
                out = layers.matmul(u, v, **turned)
                slopes = fluid.gradients(layers.reduce_sum(out * out), [u, v])
                value, *from_program = run([out, *slopes], u=x, v=y)
            expected = rows @ columns
            at = [axis - 2 for axis, one in ((0, x), (1, y)) if one.ndim == 1]
            expected = expected.squeeze(tuple(i for i in at if expected.shape[i] == 1))
            assert np.array_equal(value, expected.reshape(expected.shape or (1,)))
            with fluid.dygraph.guard():
                u, v = map(fluid.dygraph.to_variable, (x, y))
                u.stop_gradient = v.stop_gradient = False
                out = layers.matmul(u, v, **turned)
                layers.reduce_sum(out * out).backward()
                assert np.array_equal(out.numpy(), value) and out.shape == list(value.shape)
            for slope, one in zip(from_program, (u, v)):
                assert np.allclose(one.gradient(), slope) and slope.shape == tuple(one.shape)
            # the sum of squares has degree two in either factor
            assert np.allclose(np.sum(from_program[0] * x), 2 * np.sum(value**2))
            fits += 1
    assert fits == 46


def test_scale_takes_a_number_or_a_variable():
    x, factor = data(), data("s", [1])
    layers.scale(x, 2.0, bias=1.0, bias_after_scale=False)
    layers.scale(x, factor)
    assert written() == [
        "scale_0.tmp_0 = scale(X=x, scale=2.0, bias=1.0, bias_after_scale=false)",
        "scale_1.tmp_0 = scale(X=x, ScaleTensor=s)",
    ]


def test_sums_writes_to_a_given_variable():
    x, y = data(), data("y")
    assert layers.sum([x, y]).name == "sum_0.tmp_0"
    assert layers.sums([x, y], out=y) is y
    assert written() == ["sum_0.tmp_0 = sum(X=[x, y])", "y = sum(X=[x, y])"]


def test_sum_takes_variables_only():
    x = data()
    with refused(ArgumentError, r"expected x to be a variable or a list of them, got 1\.0 of type"):
        layers.sum([x, 1.0])


@pytest.mark.parametrize("dtype", ["int64", "bool", "float64", np.float32, DType.INT32])
def test_cast_names_both_element_types(dtype):
    out = layers.cast(data(), dtype)
    assert out.dtype == np.dtype(dtype)
    assert written()[0].startswith("cast_0.tmp_0 = cast(X=x, ")


def test_cast_refuses_an_unknown_element_type_with_a_suggestion():
    x = data()
    with refused(DTypeError, "'float31'; did you mean 'float32'"):
        layers.cast(x, "float31")


def test_clip_keeps_bounds():
    out = layers.clip(data(), -1.0, 2.0)
    assert written() == ["clip_0.tmp_0 = clip(X=x, min=-1.0, max=2.0)"]
    assert np.array_equal(run(out, x=X), X.clip(-1, 2))


def test_clip_refuses_bounds_that_leave_nothing():
    x = data()
    with refused(ArgumentError, "expected min to be at most max, got min=2.0 and max=1.0"):
        layers.clip(x, 2, 1)


def test_clamp_may_have_one_bound():
    x, out = data(), layers.create_tensor("float32", name="out")
    low, high = layers.clamp(x, min=-1.0), layers.clamp(x, max=2.0, output=out)
    assert high is out
    values = run(low, high, x=X)
    assert np.array_equal(values[0], X.clip(-1, None))
    assert np.array_equal(values[1], X.clip(None, 2))
    with refused(ArgumentError, "expected min or max, got neither"):
        layers.clamp(x)


@pytest.mark.parametrize("limit", [layers.clip, layers.clamp])
def test_bounds_may_be_variables_of_one_element(limit):
    x = data()
    x.stop_gradient = False
    low, high = (layers.fill_constant([1], "float32", n) for n in (-1.0, 2.0))
    low.stop_gradient = False
    both, mixed = limit(x, low, high), limit(x, -1.0, high)
    assert low.stop_gradient
    assert written()[2].endswith(
        "clip(X=x, Min=fill_constant_0.tmp_0, Max=fill_constant_1.tmp_0, min=-inf, max=inf)"
    )
    (dx,) = fluid.gradients(both, x)
    found = run(both, mixed, dx, x=X)
    assert np.array_equal(found[0], X.clip(-1, 2))
    assert np.array_equal(found[1], X.clip(-1, 2))
    assert np.array_equal(found[2], (X > -1) & (X < 2))


def test_clamp_may_have_one_bound_that_is_a_variable():
    x, high = data(), layers.fill_constant([1], "float32", 2.0)
    assert np.array_equal(run(layers.clamp(x, max=high), x=X), X.clip(None, 2))


def test_clip_needs_both_bounds():
    x = data()
    with refused(ArgumentError, "expected min and max, got min=1.0 and max=None; layers.clamp"):
        layers.clip(x, 1.0, None)


def test_clip_by_norm_shortens_what_is_longer():
    x = data(shape=[4])
    out = layers.clip_by_norm(x, 5)
    assert written() == ["clip_by_norm_0.tmp_0 = clip_by_norm(X=x, max_norm=5.0)"]
    assert np.allclose(run(out, x=np.array([6, 0, 8, 0], "float32")), [3, 0, 4, 0])
