"""Parts of what was put together, in compiled plans."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import session

layers = fluid.layers
STEPS, BATCH, WIDTH = 6, 3, 4


def recurrent(pick):
    """Fetches of a recurrent network whose loss depends on a part of its outputs.

    Args:
        pick: gives that part.
    """
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 3
    x = fluid.data("x", [STEPS, BATCH, WIDTH], "float32")
    x.stop_gradient = False
    start = layers.fill_constant([BATCH, WIDTH], "float32", 0.1)
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(init=start)
        after = layers.tanh(now + before * 0.5)
        rnn.update_memory(before, after)
        rnn.step_output(after)
    loss = layers.reduce_sum(layers.square(pick(rnn())))
    return [loss, *fluid.gradients(loss, x)]


def runs(wanted):
    """What is fetched in some runs, and the source of the plan."""
    exe, rng = fluid.Executor(), np.random.default_rng(0)
    found = [
        exe.run(
            feed={"x": rng.normal(size=[STEPS, BATCH, WIDTH]).astype("float32")}, fetch_list=wanted
        )
        for _ in range(4)
    ]
    return found, exe.plan(fetch_list=wanted).source


def checked(wanted, monkeypatch):
    """The source of a plan that computes what the steps one by one do."""
    found, source = runs(wanted)
    with monkeypatch.context() as patch:
        patch.setattr(session, "function_for", lambda *_: None)
        expected, _ = runs(wanted)
    for mine, other in zip(found, expected, strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_array_equal(a, b)
    return source


@pytest.mark.parametrize("last", [STEPS, 3])
def test_only_the_part_that_is_used_is_put_together_and_differentiated(last, monkeypatch):
    wanted = recurrent(lambda out: layers.slice(out, axes=[0], starts=[last - 1], ends=[last]))
    source = checked(wanted, monkeypatch)
    assert "# pad" not in source


def test_parts_of_several_elements_are_taken_as_they_are(monkeypatch):
    wanted = recurrent(lambda out: layers.slice(out, axes=[0, 2], starts=[1, 1], ends=[4, 3]))
    assert "# stack" in checked(wanted, monkeypatch)


def test_a_part_across_the_values_that_were_put_together_is_taken_from_the_whole(monkeypatch):
    wanted = recurrent(lambda out: layers.slice(out, axes=[1], starts=[0], ends=[2]))
    assert "# stack" in checked(wanted, monkeypatch)


def test_other_numbers_than_zero_around_a_part_are_kept(monkeypatch):
    x = fluid.data("x", [STEPS, BATCH, WIDTH], "float32")
    around = layers.pad(x, [2, 0, 0, 0, 0, 0], pad_value=3.0)
    part = layers.slice(around, axes=[0], starts=[0], ends=[2])
    source = checked([layers.sum([part, layers.slice(x, [0], [1], [3])])], monkeypatch)
    assert "# pad" in source
