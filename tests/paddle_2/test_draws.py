"""Behind ``paddle.seed`` tensors draw what they draw on the CPU of paddle 2.6.2."""

import json

import numpy as np
import pytest
from paddle_draws import CASES, RECORDED, drawn

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.ground.mersenne import PaddleNumbers


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_numbers_are_those_of_paddle(case):
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))[case.__name__]
    found = drawn(paddle, case)
    assert len(found) == len(recorded)
    for mine, theirs in zip(found, recorded, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-7)


def test_a_state_is_gone_back_to_whatever_was_drawn_meanwhile():
    paddle.seed(3)
    paddle.rand([5])
    state = paddle.get_rng_state()
    first = [paddle.rand([400]).numpy(), paddle.randperm(5).numpy()]
    fluid.seed(1)
    other = paddle.rand([400]).numpy()
    paddle.set_rng_state(state)
    again = [paddle.rand([400]).numpy(), paddle.randperm(5).numpy()]
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert (other != first[0]).any()


def test_the_seed_of_fluid_draws_its_own_numbers():
    paddle.seed(7)
    of_paddle = paddle.rand([3]).numpy()
    fluid.seed(7)
    assert (fluid.rand([3]).numpy() != of_paddle).any()


def test_whole_numbers_stay_below_their_bound():
    numbers = PaddleNumbers(1)
    for count in (1, 2, 3, 2**31 - 1, 2**63 - 1):
        drawn = numbers.integers(0, count, 100)
        assert drawn.min() >= 0
        assert drawn.max() < count
    assert sorted(numbers.permutation(11).tolist()) == list(range(11))
    assert numbers.random((0, 3)).shape == (0, 3)
    assert numbers.standard_normal(()).shape == ()
