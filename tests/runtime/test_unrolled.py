"""Recurrent networks in compiled plans: their passes one after the other in one function."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import lower, session
from fluidlite.runtime.segment import Segment

layers = fluid.layers
STEPS, BATCH, WIDTH = 5, 3, 4


def network(drop=0.0, steps=STEPS):
    """A recurrent network that is trained; its loss."""
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 3
    x = fluid.data("x", [steps, BATCH, WIDTH], "float32")
    start = layers.fill_constant([BATCH, WIDTH], "float32", 0.5)
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(init=start)
        both = layers.concat([now, before], axis=1)
        if drop:
            both = layers.dropout(both, drop)
        after = layers.fc(both, WIDTH, act="tanh")
        rnn.update_memory(before, after)
        rnn.step_output(after)
    loss = layers.mean(layers.square(rnn()))
    fluid.optimizer.Adam(0.05).minimize(loss)
    return loss


def losses(loss, runs=6, steps=STEPS, exe=None):
    """The losses of some steps, from the start."""
    exe = exe or fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        exe.run(fluid.default_startup_program())
        rng = np.random.default_rng(0)
        return [
            exe.run(
                feed={"x": rng.normal(size=[steps, BATCH, WIDTH]).astype("float32")},
                fetch_list=[loss],
            )[0].item()
            for _ in range(runs)
        ]


@pytest.mark.parametrize("drop", [0.0, 0.5])
def test_passes_one_after_the_other_compute_what_the_loop_does(drop, monkeypatch):
    loss = network(drop)
    found = losses(loss)
    monkeypatch.setattr(session, "function_for", lambda *_: None)
    np.testing.assert_allclose(found, losses(loss), rtol=1e-6)
    assert len(set(found)) == len(found)


def test_a_training_step_of_a_recurrent_network_is_one_function():
    loss, exe = network(), fluid.Executor()
    losses(loss, exe=exe)
    (plan,) = exe._known(fluid.default_main_program()).plans.values()
    (item,) = plan.items
    assert isinstance(item, Segment) and item.last is not None
    assert plan.source.count("def run(") == 1
    assert plan.source.count("# tanh,") == STEPS


def test_more_passes_than_a_plan_holds_are_driven(monkeypatch):
    loss = network()
    found = losses(loss)
    monkeypatch.setattr(lower, "UNROLLED", 7)
    exe = fluid.Executor()
    np.testing.assert_allclose(losses(loss, exe=exe), found, rtol=1e-6)
    (plan,) = exe._known(fluid.default_main_program()).plans.values()
    assert "# runs blocks: " in plan.source and "def run(" in plan.source


def test_sequences_of_another_length_get_a_function_of_their_own():
    loss, exe = network(steps=-1), fluid.Executor()
    both = [losses(loss, steps=n, exe=exe) for n in (4, 6)]
    again = [losses(loss, steps=n) for n in (4, 6)]
    np.testing.assert_allclose(both, again, rtol=1e-6)


def test_a_failing_operator_inside_a_pass_is_named():
    x = fluid.data("x", [STEPS, BATCH, -1], "float32")
    weight = layers.create_parameter([WIDTH, WIDTH], "float32", name="weight")
    rnn = layers.StaticRNN()
    with rnn.step():
        rnn.step_output(layers.matmul(rnn.step_input(x), weight))
    out = rnn()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(3):
        exe.run(feed={"x": np.ones([STEPS, BATCH, WIDTH], "float32")}, fetch_list=[out])
    for _ in range(3):
        with pytest.raises(fluid.FluidError, match="matmul") as failure:
            exe.run(feed={"x": np.ones([STEPS, BATCH, 7], "float32")}, fetch_list=[out])
        assert "test_unrolled.py" in str(failure.value)


def test_lengths_of_a_large_input_make_no_loop():
    sizes = 16, 40, 128  # more elements than constants may have, but the mask is small
    assert np.prod(sizes) > lower.FOLDED_SIZE
    x = fluid.data("x", list(sizes), "float32")
    lengths = fluid.data("n", [sizes[0]], "int64")
    states, _ = layers.rnn(layers.GRUCell(8), x, sequence_length=lengths)
    total, exe = layers.reduce_sum(states), fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones(sizes, "float32"), "n": np.arange(sizes[0]) + 1}
    found = [exe.run(feed=feed, fetch_list=[total])[0].item() for _ in range(3)]
    assert found[0] == pytest.approx(found[2], rel=1e-5)
    (plan,) = exe._known(fluid.default_main_program()).plans.values()
    assert "# runs blocks: " not in plan.source and "# interpreted: " not in plan.source


def test_what_follows_from_shapes_is_no_constant_where_it_is_large():
    x = fluid.data("x", [300, 300], "float32")
    zeros, sizes = layers.zeros_like(x), layers.shape(x)
    exe = fluid.Executor()
    for _ in range(3):
        found = exe.run(feed={"x": np.ones([300, 300], "float32")}, fetch_list=[zeros, sizes])
    assert not found[0].any() and found[1].tolist() == [300, 300]
    (plan,) = exe._known(fluid.default_main_program()).plans.values()
    assert "# fill_zeros_like," in plan.source and "# shape," not in plan.source
