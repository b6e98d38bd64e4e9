"""Softmax on NumPy, by rows."""

import numpy as np
import pytest

from fluidlite.ground.dtypes import DType
from fluidlite.kernels import registered  # noqa: F401
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import spec

rng = np.random.default_rng(5)


def softmax_of(x):
    e = np.exp(x.astype("float64") - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("width", [40, 300])
@pytest.mark.parametrize("size", [1, 1000])
def test_rows_beyond_a_piece_are_those_of_one(width, size):
    x = (size * rng.normal(size=(5, 97, width))).astype("float32")
    run = lookup("softmax")({}).prepared([spec(x.shape, DType.FP32)]).function
    found = run(x)
    expected = softmax_of(np.maximum(x, x.max(-1, keepdims=True) - 64))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    apart = run(x.transpose(1, 0, 2).copy().transpose(1, 0, 2))
    np.testing.assert_allclose(apart, found, rtol=1e-5, atol=1e-7)
    assert run(x, out=x) is x
    np.testing.assert_array_equal(x, found)


def test_a_masked_row_leaves_the_others_alone():
    x = rng.normal(size=(300, 200)).astype("float32")
    x[7, 3:], x[8, 5], x[9, 9] = -np.inf, np.nan, 1e4
    with np.errstate(all="ignore"):
        found = lookup("softmax")({}).prepared([spec(x.shape, DType.FP32)]).function(x)
    assert np.isnan(found[8]).all() and not np.isnan(np.delete(found, 8, 0)).any()
    assert found[9, 9] == 1 and found[7, 3:].max() < 1e-26
    rest = [k for k in range(300) if k not in (7, 8, 9)]
    np.testing.assert_allclose(found[rest], softmax_of(x[rest]), rtol=1e-5)


@pytest.mark.parametrize("width", [40, 300])
def test_the_gradient_by_rows_is_that_of_all(width):
    g, y = rng.normal(size=(2, 5, 97, width)).astype("float32")
    one = spec(y.shape, DType.FP32)
    run = lookup("softmax_grad")({}).prepared([one, one]).function
    expected = y * (g - (g.astype("float64") * y).sum(-1, keepdims=True))
    np.testing.assert_allclose(run(y, g), expected, rtol=1e-4, atol=1e-4)
