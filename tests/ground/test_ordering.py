"""Stable orders, held against NumPy's."""

import numpy as np
import pytest

from fluidlite.ground.ordering import stable_order

TYPES = ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint32", "bool"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(90,), (5, 40), (3, 20, 7), (40, 3), (0, 30), (30, 0)])
def test_equal_elements_stay_in_their_order(dtype, shape):
    x = (np.random.default_rng(0).normal(size=shape) * 4).astype("float64")
    x = (np.abs(x) if dtype in ("uint8", "uint32") else x).astype(dtype)
    if x.dtype.kind == "f" and x.size:
        for start, value in enumerate([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf]):
            x.flat[start::9] = value
    for axis in range(-1, len(shape)):
        expected = np.argsort(x, axis=axis, kind="stable")
        np.testing.assert_array_equal(stable_order(x, axis), expected)


def test_numbers_that_leave_no_room_for_places_are_ordered_too():
    far = np.array([-(2**63), 2**63 - 1, 0] * 20)
    large = np.arange(70)[::-1] // 3 + 2**62
    for x in (far, large, large.astype("uint64") * 2):
        assert (stable_order(x) == np.argsort(x, kind="stable")).all()
