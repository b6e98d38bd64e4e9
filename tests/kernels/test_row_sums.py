"""Rows that are added at numbers."""

import numpy as np
import pytest

from fluidlite.kernels import row_sums


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("count", [300, 256])
def test_rows_of_distinct_numbers_are_added_without_scipy(monkeypatch, dtype, count):
    def refuse(*given):
        raise AssertionError("SciPy is read")

    monkeypatch.setattr(row_sums, "added_by_product", refuse)
    rng = np.random.default_rng(0)
    out = (10 * rng.standard_normal((300, 64))).astype(dtype)
    out[:, 0] = -0.0
    updates = (10 * rng.standard_normal((count, 64))).astype(dtype)
    index, meant = rng.permutation(300)[:count], out.copy()
    np.add.at(meant, index, updates)
    row_sums.add_at_rows(out, index, updates)
    assert out.tobytes() == meant.tobytes()


def test_a_number_that_is_there_twice_gets_both_rows():
    out, updates = np.zeros((300, 64)), np.ones((300, 64))
    index = np.arange(300)
    index[7] = 8
    row_sums.add_at_rows(out, index, updates)
    assert out[7:9, 0].tolist() == [0, 2]
