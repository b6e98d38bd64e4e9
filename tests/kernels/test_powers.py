"""Powers of floats, of which squares and first powers are products and copies."""

import numpy as np
import pytest

from fluidlite.ground.dtypes import DType
from fluidlite.kernels import registered  # noqa: F401
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import spec

X = np.array([[-np.inf, -3.0, -0.0], [0.0, 1.5, np.nan]], "float32")


@pytest.mark.parametrize("exponent", [2.0, 1.0, 0.5, 3.0, np.nan, [1, 2, 3], [2, 2, 2], [[1], [1]]])
def test_powers_are_those_of_numpy(exponent):
    y = np.array(exponent, "float32").reshape(np.shape(exponent) or (1,))
    specs = [spec(v.shape, DType.FP32) for v in (X, y)]
    run = lookup("elementwise_pow")({}).prepared(specs).function
    room = np.empty_like(X)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(X, y), np.power(X, y))
        assert run(X, y, out=room) is room
        np.testing.assert_array_equal(room, np.power(X, y))
        np.testing.assert_array_equal(np.signbit(room), np.signbit(np.power(X, y)))


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_powers_by_an_attribute_are_those_of_numpy(factor):
    run = lookup("pow")({"factor": factor}).prepared([spec(X.shape, DType.FP32), None]).function
    room = np.empty_like(X)
    np.testing.assert_array_equal(run(X, None), np.power(X, np.float32(factor)))
    assert run(X, None, out=room) is room
    np.testing.assert_array_equal(np.signbit(room), np.signbit(np.power(X, np.float32(factor))))
