"""Special functions against values that were computed with 30 digits (mpmath)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

from gradcheck import evaluator

f = evaluator()
RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "special_functions.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['type']}{case['attrs']}")
def test_a_function_is_right_to_the_last_digits(case):
    x, expected = np.array(case["x"]), np.array(case["expected"])
    found = getattr(f, case["type"])(x, **case["attrs"])
    np.testing.assert_allclose(found, expected, 1e-14)
    with np.errstate(over="ignore"):
        single = x.astype("float32")
    if not np.array_equal(single, x):
        return  # the function of another number
    found = getattr(f, case["type"])(single, **case["attrs"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, 1e-6)


@pytest.mark.parametrize(
    "call, x, expected",
    [
        (fluid.lgamma, [0.0, -1.0, math.inf, -math.inf, 1e-30], [math.inf] * 4 + [69.0775527898]),
        (fluid.digamma, [0.0, -2.0, math.inf], [math.nan, math.nan, math.inf]),
        (lambda x: fluid.polygamma(x, 1), [0.0, -3.0, 1e30], [math.inf, math.inf, 1e-30]),
        (lambda x: fluid.polygamma(x, 2), [0.0, -1.0], [-math.inf, -math.inf]),
        (fluid.erfinv, [0.0, 1.0, -1.0, 2.0], [0.0, math.inf, -math.inf, math.inf]),
        (fluid.i0, [0.0, math.inf, -800.0], [1.0, math.inf, math.inf]),
        (fluid.i1, [0.0, -800.0], [0.0, -math.inf]),
        (fluid.i1e, [0.0, math.inf, -math.inf], [0.0, 0.0, -0.0]),
    ],
)
def test_at_the_edges_functions_are_what_they_are_in_paddle_2(call, x, expected):
    found = call(fluid.to_tensor(np.array([*x, math.nan]))).numpy()
    np.testing.assert_allclose(found, [*expected, math.nan], 1e-9)


def test_derivatives_of_bessel_functions_are_exact_at_zero():
    x = fluid.to_tensor([0.0], stop_gradient=False)
    (slope,) = fluid.grad(fluid.i1(x), x, create_graph=True)
    (second,) = fluid.grad(slope, x, create_graph=True)
    (third,) = fluid.grad(second, x)
    assert (slope.tolist(), second.tolist(), third.tolist()) == ([0.5], [0.0], [0.375])


def test_integers_count_as_fractions():
    assert fluid.lgamma(fluid.to_tensor([1, 4])).numpy().tolist() == [0.0, np.float32(math.log(6))]


@pytest.mark.parametrize("n", [-1, 1.5])
def test_the_order_of_a_derivative_is_an_integer_from_0(n):
    with pytest.raises(ArgumentError, match="expected n to be an integer from 0"):
        fluid.polygamma(fluid.ones([2]), n)


def test_matrices_have_at_least_one_row():
    with pytest.raises(ArgumentError, match="expected p from 1, got 0"):
        fluid.multigammaln(fluid.ones([2]), 0)


def test_the_gamma_function_of_matrices():
    found = fluid.multigammaln(fluid.to_tensor([5.5, 2.0]), 3)
    np.testing.assert_allclose(found.numpy(), [11.3066988, 1.5963125], 1e-6)
