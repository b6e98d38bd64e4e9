"""Element types of results, and numbers beside narrow integers, as paddle 2.6.2 has them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, FluidWarning, ShapeError

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


def _both(function, *arrays):
    """What paddle gives at once and in a program."""
    tensors = [paddle.to_tensor(each) for each in arrays]
    main = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main, paddle.static.Program()):
            names = [f"x{k}" for k in range(len(arrays))]
            fed = dict(zip(names, arrays))
            out = function(*(paddle.static.data(n, a.shape, a.dtype) for n, a in fed.items()))
        (ran,) = paddle.static.Executor().run(main, fed, [out])
    finally:
        paddle.disable_static()
    return function(*tensors).numpy(), ran


BOOL, INT = np.array([True, False]), np.array([-7, 2])
SHORT = np.array([2, 1], "int32")
FLOAT, COMPLEX = np.array([2.5, 1.0], "float32"), np.array([1 + 1j, 2 - 1j], "complex64")


@pytest.mark.filterwarnings("ignore::fluidlite.errors.FluidWarning")
@pytest.mark.parametrize(
    "function, arrays, expected",
    [
        (lambda x: -x, [BOOL], BOOL),
        (paddle.neg, [BOOL], BOOL),
        (lambda x: paddle.scale(x, 0.5), [BOOL], BOOL),
        (lambda x: paddle.scale(x, -1.0, 1.0), [BOOL], np.array([True, True])),
        (lambda x: paddle.scale(x, 0.0, 1.0, False), [BOOL], np.array([False, False])),
        (lambda x: x * 2, [BOOL], BOOL),
        (lambda x: 1 - x, [BOOL], np.array([True, True])),
        (paddle.divide, [INT, np.array([2, 4])], np.array([-3, 0])),
        (lambda x, y: x.divide(y), [np.uint8([253, 5]), np.uint8([2, 5])], np.uint8([126, 1])),
        (paddle.divide, [BOOL, np.array([True, True])], BOOL),
        (lambda x, y: x / y, [INT, np.array([2, 4])], np.float32([-3.5, 0.5])),
        (lambda x, y: x @ y, [SHORT, INT], np.int32(-12)),
        (lambda x, y: x @ y, [SHORT, SHORT], np.int32(5)),
        (lambda x, y: x @ y, [INT, FLOAT], np.int64(-12)),
        (lambda x, y: x @ y, [FLOAT, FLOAT.astype("float64")], np.float32(7.25)),
        (lambda x, y: x @ y, [FLOAT, FLOAT], np.float32(7.25)),
        (lambda x, y: x // y, [FLOAT, COMPLEX], np.float32([2, 0])),
        (lambda x, y: x % y, [FLOAT, COMPLEX], np.float32([0.5, 1])),
        (lambda x, y: x < y, [SHORT, COMPLEX], np.array([False, True])),
        (paddle.erfinv, [np.float32([-2, 1.5])], np.float32([-np.inf, np.inf])),
        (paddle.linalg.corrcoef, [INT], np.float32(1)),
    ],
)
def test_types_and_values_are_those_of_paddle_at_once_and_in_programs(function, arrays, expected):
    for found in _both(function, *arrays):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert np.array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::fluidlite.errors.FluidWarning")
@pytest.mark.parametrize(
    "function, arrays, expected",
    [
        (paddle.nanmean, [INT], -2.5),
        (paddle.linalg.cov, [INT], 40.5),
        (lambda x: paddle.pow(x, 0.5), [SHORT], [2**0.5, 1]),
        (paddle.rad2deg, [np.uint8([5, 1])], [900 / np.pi, 180 / np.pi]),
        (lambda x, y: x == y, [BOOL, INT], [False, False]),
        (lambda x, y: x / y, [BOOL, SHORT], [0.5, 0]),
        (lambda x, y: x == y, [FLOAT, FLOAT + COMPLEX.imag * 1j], [False, False]),
    ],
)
def test_no_number_is_lost_where_paddle_loses_one(function, arrays, expected):
    for found in _both(function, *arrays):
        np.testing.assert_allclose(found, expected, 1e-6)


def test_quotients_of_integers_warn_and_so_do_lost_imaginary_parts():
    with pytest.warns(FluidWarning, match="divide: that of int64 is int64, without a fraction"):
        paddle.divide(paddle.to_tensor(INT), paddle.to_tensor(INT))
    with pytest.warns(FluidWarning, match="imaginary parts are dropped"):
        assert (paddle.to_tensor(FLOAT) < paddle.to_tensor(COMPLEX)).tolist() == [False, True]
