"""Averages of parameters, against a list of all of them."""

import numpy as np
import pytest

from fluidlite.errors import DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
SLOTS = ("in_sum_1", "in_sum_2", "in_sum_3")
COUNTS = ("in_num_accumulates", "in_old_num_accumulates", "in_num_updates")


def averages(params, **window):
    """The average of each step over the last two windows, and how many parameters that is."""
    state = [np.zeros_like(params[0])] * 3 + [np.array([0])] * 3
    for param in params:
        state = f.average_accumulates(param, *state, **window)
        count = (state[3] + state[4]).item()
        yield sum(state[:3]) / count, count


def test_the_average_is_that_of_the_last_parameters():
    params = np.random.default_rng(0).normal(size=[40, 2, 3])
    window = dict(average_window=0.25, min_average_window=3, max_average_window=6)
    counts = []
    for step, (found, count) in enumerate(averages(params, **window)):
        np.testing.assert_allclose(found, params[step + 1 - count : step + 1].mean(axis=0))
        counts.append(count)
    # a window of 3 and what the next one has, until a quarter of the steps is more; at last of 6
    assert counts[:9] == [1, 2, 3, 4, 5, 3, 4, 5, 3]
    assert max(counts) == 6 + 5


def test_long_windows_are_summed_in_two_parts():
    state = [np.full([2], n) for n in (5.0, 7.0, 11.0)]
    counts = [np.array([n]) for n in (20, 30, 16383)]
    window = dict(average_window=1.0, max_average_window=10**9)
    found = f.average_accumulates(np.ones([2]), *state, *counts, **window)
    assert [v.tolist() for v in found] == [[0, 0], [13, 13], [11, 11], [21], [30], [16384]]


@pytest.mark.parametrize(
    "slot, given, error, message",
    [
        ("in_sum_2", ([3], "float32"), ShapeError, "in_sum_2 of shape [2], as param, got [3]"),
        ("in_sum_1", ([2], "float64"), DTypeError, "param float32, in_sum_1 float64"),
        ("in_num_updates", ([1], "float32"), DTypeError, "in_num_updates to hold integers"),
        ("in_num_updates", ([2], "int64"), ShapeError, "in_num_updates to hold one number"),
    ],
)
def test_what_does_not_fit_is_refused(slot, given, error, message):
    inputs = {
        "param": ([2], "float32"),
        **dict.fromkeys(SLOTS, ([2], "float32")),
        **dict.fromkeys(COUNTS, ([1], "int64")),
        slot: given,
    }
    with pytest.raises(error) as caught:
        infer("average_accumulates", {"max_average_window": 5}, **inputs)
    assert message in str(caught.value)
