"""Linear algebra and special functions beside what Paddle 2.6.2 makes of the same expressions."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import FluidError
from fluidlite.kernels import linear_algebra

DATA = Path(__file__).parents[1] / "data" / "paddle_2"
RECORDED = json.loads((DATA / "linalg.json").read_text())
#: what Paddle answers otherwise, for a reason
APART = {
    **dict.fromkeys(
        [
            "L.lu_unpack(*L.lu(a(3, 3)), unpack_ludata=False)",
            "L.lu_unpack(*L.lu(a(3, 3)), unpack_pivots=False)",
        ],
        "what is empty there is float32, whatever x is",
    ),
    "L.norm(a(2, 3, 4), 3, axis=-1)": "it takes 1 / 3 in single precision",
}


def recorder():
    text = (DATA / "record_linalg.py").read_text().replace("import paddle\n", "")
    namespace = {"__name__": "recorded", "__file__": str(DATA / "record_linalg.py")}
    exec(text, namespace)
    return namespace


RECORDER = recorder()
numbers = RECORDER["numbers"]
NAMES = RECORDER["names"](paddle)


@pytest.mark.parametrize("expression", [e for e in RECORDED if e not in APART])
def test_an_expression_gives_what_it_gives_in_paddle(expression):
    expected = RECORDED[expression]
    if isinstance(expected, str):
        with pytest.raises(ValueError if expected == "ValueError" else Exception) as caught:
            eval(expression, NAMES)
        assert isinstance(caught.value, FluidError)
        return
    found = eval(expression, NAMES)
    parts = found if isinstance(found, (tuple, list)) else [found]
    assert len(parts) == len(expected)
    for part, (shape, dtype, right) in zip(parts, expected):
        assert (list(part.shape), part.numpy().dtype.name) == (shape, dtype)
        near = 1e-5 if dtype in ("float32", "complex64") else 1e-9
        np.testing.assert_allclose(numbers(part.numpy()), right, near, near)


@pytest.fixture
def static():
    paddle.enable_static()
    yield paddle.static
    paddle.disable_static()


def test_a_program_of_paddle_gives_the_numbers_that_it_gave_there(static, tmp_path):
    """... interpreted, compiled and in a bound call."""
    executor = static.Executor()
    recorded = np.load(DATA / "linalg_program.npz")
    packed = (DATA / "linalg_program.pdmodel.gz").read_bytes()
    (tmp_path / "model.pdmodel").write_bytes(gzip.decompress(packed))
    program, feeds, fetched = static.load_inference_model(str(tmp_path / "model"), executor)
    feed = {name: recorded[name] for name in feeds}
    for _ in range(3):
        found = executor.run(program, feed=feed, fetch_list=fetched)
        for k, value in enumerate(found):
            right = recorded[f"arr_{k}"]
            assert (value.shape, value.dtype) == (right.shape, right.dtype), k
            np.testing.assert_allclose(value, right, 1e-7, 1e-9, err_msg=str(k))


@pytest.mark.parametrize("stop", [True, False])
def test_what_does_not_fit_is_refused_alike_with_and_without_a_gradient(stop):
    wide = paddle.to_tensor(np.ones((4, 3), "float32"), stop_gradient=stop)
    with pytest.raises(FluidError, match=r"as many rows as columns.*\n.*in matrix_power"):
        paddle.linalg.matrix_power(wide, 1)
    with pytest.raises(FluidError, match="two matrices or more, got 1"):
        paddle.linalg.multi_dot([wide])


def test_large_factors_lie_row_by_row_and_those_of_nan_are_nan():
    x = np.random.default_rng(0).standard_normal([2, 130, 130])
    x += x.swapaxes(1, 2)
    x[1, 0, 0] = np.nan
    (values, vectors), (u, s, vh) = linear_algebra.eigh(x), linear_algebra.svd(x)
    assert vectors.flags.c_contiguous and u.flags.c_contiguous and vh.flags.c_contiguous
    np.testing.assert_allclose((vectors[0] * values[0]) @ vectors[0].T, x[0], atol=1e-10)
    np.testing.assert_allclose((u[0] * s[0]) @ vh[0], x[0], atol=1e-10)
    assert all(np.isnan(each[1]).all() for each in (values, vectors, u, s, vh))
