"""Element types of results, and numbers beside narrow integers, as paddle 2.6.2 has them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, ShapeError

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data/paddle_2/element_types.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("dtype", list(RECORDED))
def test_narrow_integers_compute_as_recorded(dtype):
    x = paddle.to_tensor(np.array([[3, 1], [2, 5]], dtype))
    for expression, recorded in RECORDED[dtype].items():
        if recorded is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = eval(expression, {"paddle": paddle, "x": x})
        kind, elements = recorded
        assert found.numpy().dtype.name == kind, expression
        np.testing.assert_allclose(found.numpy(), elements, rtol=1e-6, err_msg=expression)


def test_programs_compute_the_same_of_bytes():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2], "uint8")
            fetched = [paddle.sum(x), -x]
        value = np.array([3, 0], "uint8")
        for _ in range(3):
            total, minus = paddle.static.Executor().run(main, {"x": value}, fetched)
            assert (total.dtype, total.tolist()) == (np.uint8, 3)
            assert (minus.dtype, minus.tolist()) == (np.uint8, [253, 0])
    finally:
        paddle.disable_static()


def test_comparisons_have_numbers_as_they_are():
    x = paddle.to_tensor(np.array([3, 253], "uint8"))
    assert (x > -3).tolist() == [True, True] and (x == -3).tolist() == [False, False]
    assert (x < 256).tolist() == [True, True]


def test_words_for_what_has_no_meaning():
    with pytest.raises(ArgumentError, match="expected p to be a number or 'fro', got 'nuc'"):
        paddle.linalg.norm(paddle.ones([2, 2]), p="nuc")
    with pytest.raises(ShapeError, match=r"cannot broadcast shapes \[2\] and \[3\]"):
        paddle.distribution.Normal(paddle.zeros([2]), paddle.ones([3]))
    with pytest.raises(ShapeError, match=r"cannot broadcast shapes \[2\] and \[3\]"):
        paddle.broadcast_shape([2], [3])
