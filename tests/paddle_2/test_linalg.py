"""Linear algebra and special functions beside what Paddle 2.6.2 makes of the same expressions."""

import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import FluidError

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
