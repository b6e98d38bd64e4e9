"""Quotients and remainders are rounded as by OneFlow 0.9."""

import math
import operator

import numpy as np
import pytest

from fluidlite import flow

nn = flow.nn
WHOLE, BY = [-3, 3, -7, 7, -4], [2, -2, 3, -3, 2]
PARTS = [-3.0, 3.0, -7.5, 7.5, -4.0]


@pytest.mark.parametrize("kind", [flow.int64, flow.int32, flow.int8])
def test_integers_are_rounded_towards_zero(kind):
    x, y = flow.tensor(WHOLE, dtype=kind), flow.tensor(BY, dtype=kind)
    for divide in (operator.floordiv, flow.floor_divide, flow.Tensor.floor_divide):
        assert (divide(x, 2).tolist(), divide(x, 2).dtype) == ([-1, 1, -3, 3, -2], kind)
        assert divide(x, -2).tolist() == [1, -1, 3, -3, 2]
        assert divide(x, y).tolist() == [-1, -1, -2, -2, -2]
    for rest in (operator.mod, flow.fmod, flow.Tensor.fmod):
        assert (rest(x, 2).tolist(), rest(x, 2).dtype) == ([-1, 1, -1, 1, 0], kind)
        assert rest(x, -2).tolist() == rest(x, y).tolist() == [-1, 1, -1, 1, 0]


def test_fractions_are_divided_downwards_and_leave_a_rest_of_their_sign():
    x = flow.tensor(PARTS)
    for divide in (operator.floordiv, flow.floor_divide):
        assert divide(x, 2).tolist() == [-2, 1, -4, 3, -2]
        assert divide(flow.tensor(WHOLE), 2.0).tolist() == [-2, 1, -4, 3, -2]
    for rest in (operator.mod, flow.fmod):
        assert [str(n) for n in rest(x, 2).tolist()] == ["-1.0", "1.0", "-1.5", "1.5", "-0.0"]
        assert rest(flow.tensor(WHOLE), 2.5).tolist() == [-0.5, 0.5, -2, 2, -1.5]
    tenth, exact = flow.tensor([1.0, -1.0, 5.3], dtype=flow.float64), math.fmod(5.3, 0.1)
    assert (tenth // 0.1).tolist() == [10, -10, 52] and (tenth % 0.1).tolist()[2] == exact
    ends = flow.tensor([1.0, -1.0])
    assert (ends // 0.0).tolist() == [math.inf, -math.inf] and np.isnan((ends % 0.0).numpy()).all()


def test_numbers_may_stand_on_the_left_and_results_are_written_in_place():
    x = flow.tensor([3, -4])
    assert (-7 // x).tolist() == [-2, 1] and (-7 % x).tolist() == [-1, -3]
    assert (7 % x).tolist() == [1, 3] and (7 // x).tolist() == [2, -1]
    quotients, rests, same = (flow.tensor([-3, 3]) for _ in range(3))
    quotients //= 2
    rests %= 2
    assert quotients.tolist() == rests.tolist() == same.floor_divide_(2).tolist() == [-1, 1]
    small = flow.tensor([7, 3], dtype=flow.uint8)
    assert ((small // 2).tolist(), (small % 2).tolist()) == ([3, 1], [1, 1])


def test_gradients_flow_through_quotients_as_zeros_and_through_remainders():
    def slopes(function):
        x, y = flow.tensor(PARTS, requires_grad=True), flow.tensor(BY).float()
        y.requires_grad = True
        function(x, y).sum().backward()
        return x.grad.tolist(), y.grad.tolist()

    assert slopes(operator.floordiv) == slopes(flow.floor_divide) == ([0] * 5, [0] * 5)
    assert slopes(operator.mod) == slopes(flow.fmod) == ([1] * 5, [1, 1, 2, 2, 2])


class Rounding(nn.Module):
    """Quotients and remainders of an input."""

    def forward(self, x):
        return x // 2, x % 2, -7 // x, flow.floor_divide(x, x), flow.fmod(x, 2)


class Rounded(nn.Graph):
    """A program of them."""

    def __init__(self):
        super().__init__()
        self.net = Rounding()

    def build(self, x):
        return self.net(x)


@pytest.mark.parametrize("values", [WHOLE, PARTS])
def test_programs_divide_as_tensors_do(values):
    x = flow.tensor(values)
    for here, there in zip(Rounding()(x), Rounded()(x)):
        np.testing.assert_array_equal(here.numpy(), there.numpy())
