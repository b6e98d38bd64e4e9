"""Sparse tensors as paddle 2.6.2 has them: ``tests/data/paddle_2/record_sparse.py`` recorded it."""

import json
import pathlib

import numpy as np
import pytest

import fluidlite.paddle as paddle

RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "data/paddle_2/sparse.json").read_text())


@pytest.fixture(scope="module")
def names():
    namespace = {"paddle": paddle, "np": np}
    exec(RECORDED["setup"], namespace)
    return namespace


def told(x):
    name = str(x.dtype).rpartition(".")[2]
    if x.is_sparse_coo():
        return ["coo", x.shape, name, x.indices().tolist(), x.values().tolist()]
    if x.is_sparse_csr():
        places = [x.crows().tolist(), x.cols().tolist()]
        return ["csr", x.shape, name, places, x.values().tolist()]
    return ["dense", x.shape, name, [], x.tolist()]


@pytest.mark.parametrize("text", RECORDED["cases"])
def test_what_is_computed_is_recorded(text, names):
    *expected, values = RECORDED["cases"][text]
    *found, numbers = told(eval(text, names))
    assert [name.removeprefix("VarType.") for name in map(str, found)] == [*map(str, expected)]
    np.testing.assert_allclose(np.array(numbers, float), np.array(values, float), 2e-5, 1e-6)


@pytest.mark.parametrize("text", RECORDED["texts"])
def test_what_is_printed_is_recorded(text, names):
    assert str(eval(text, names)) == RECORDED["texts"][text]
