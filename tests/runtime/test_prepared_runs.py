"""Prepared runs call what was bound at once, and notice all the same what has changed."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import profiler
from fluidlite.errors import ClosedError, NonFiniteError, NotInitializedError
from fluidlite.ground.process_group import groups
from fluidlite.runtime import bound, prepared_runs

layers = fluid.layers
FEED = {"x": np.arange(6, dtype="float32").reshape(2, 3) / 5}


class Prepared:
    """A net that is trained by prepared runs, five of which have been made."""

    def __init__(self, noise: float = 0.0) -> None:
        fluid.default_startup_program().random_seed = 7
        x = fluid.data("x", [None, 3], "float32")
        hidden = layers.fc(x, 4, param_attr="w", bias_attr="b")
        if noise:
            hidden = layers.dropout(hidden, noise)
        self.loss = layers.mean(layers.square(hidden))
        fluid.optimizer.Adam(0.01).minimize(self.loss)
        self.scope = fluid.global_scope()
        self.exe = fluid.Executor()
        self.exe.run(fluid.default_startup_program())
        self.step = self.exe.prepare(feed_names=["x"], fetch_list=[self.loss])
        self.losses = [self.step(FEED)[0].item() for _ in range(5)]

    def weight(self):
        return np.array(self.scope.find_var("w").get_tensor())


@pytest.fixture
def looked_up(monkeypatch):
    """How often a bound call was looked up."""
    calls = []
    look_up = bound.bound_call

    def counted(*arguments):
        calls.append(arguments)
        return look_up(*arguments)

    for module in (bound, prepared_runs):
        monkeypatch.setattr(module, "bound_call", counted)
    return calls


def test_a_call_that_is_kept_is_not_looked_up_again(looked_up):
    net = Prepared()
    before = len(looked_up)
    losses = net.losses + [net.step(FEED)[0].item() for _ in range(4)]
    assert before and len(looked_up) == before and losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_prepared_runs_give_what_runs_give(noise):
    net = Prepared(noise)
    found = net.losses + [net.step(FEED)[0].item() for _ in range(5)]
    net.exe.run(fluid.default_startup_program())
    main = fluid.default_main_program()
    net.exe.set_random_state(main, {**net.exe.random_state(main), "run": 0})
    assert found == [net.exe.run(feed=FEED, fetch_list=[net.loss])[0].item() for _ in range(10)]


def test_runs_count_for_random_numbers_however_they_are_made():
    net = Prepared(noise=0.5)
    main = fluid.default_main_program()
    net.exe.run(feed=FEED, fetch_list=[net.loss])
    net.step(FEED)
    assert net.exe.random_state(main)["run"] == 7


def test_a_value_that_is_set_in_between_is_read():
    net = Prepared()
    for name, shape in (("w", [3, 4]), ("b", [4])):
        net.scope.find_var(name).get_tensor().set(np.zeros(shape, "float32"))
    assert net.step(FEED)[0].item() == 0


def test_a_variable_that_is_forgotten_is_missed():
    net = Prepared()
    net.scope.erase(["w"])
    with pytest.raises(NotInitializedError, match="'w' has no value"):
        net.step(FEED)
    net.exe.run(fluid.default_startup_program())
    assert net.step(FEED)[0].item() > 0


def test_an_operator_that_is_added_runs():
    net = Prepared()
    block = fluid.default_main_program().global_block()
    layers.assign(np.zeros([3, 4], "float32"), block.var("w"))
    net.step(FEED)
    np.testing.assert_array_equal(net.weight(), 0)


def test_other_shapes_are_taken_in_turn():
    net, wide = Prepared(), {"x": np.ones([5, 3], "float32")}
    losses = [net.step(feed)[0].item() for feed in (wide, FEED) * 5]
    assert losses[::2] == sorted(losses[::2], reverse=True)
    with pytest.raises(ValueError, match="declared float32 and was fed float64"):
        net.step({"x": np.ones([2, 3])})
    with pytest.warns(fluid.errors.FluidWarning, match="no variable 'y' to feed"):
        net.step({**FEED, "y": np.ones([2, 3])})


def test_values_that_are_not_finite_are_looked_for_from_when_that_is_said():
    net, bad = Prepared(), {"x": np.full([2, 3], np.inf, "float32")}
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    before = net.weight()
    with pytest.raises(NonFiniteError):
        net.step(bad)
    np.testing.assert_array_equal(net.weight(), before)
    fluid.set_flags({"FLAGS_check_nan_inf": False})
    assert not np.isfinite(net.step(bad)[0].item())


def test_a_profiler_that_is_started_later_sees_the_run(capsys):
    net = Prepared()
    with profiler.profiler("CPU", "total", None):
        net.step(FEED)
    assert "adam" in capsys.readouterr().out


def test_an_executor_that_was_closed_runs_nothing():
    net = Prepared()
    net.exe.close()
    before = net.weight()
    with pytest.raises(ClosedError):
        net.step(FEED)
    np.testing.assert_array_equal(net.weight(), before)


def test_a_group_that_comes_later_is_noticed(looked_up):
    class Two(type(groups.get())):
        size = 2

    net = Prepared()
    before = len(looked_up)
    net.step(FEED)
    assert len(looked_up) == before
    with groups.guard(Two()):
        net.step(FEED)
    assert len(looked_up) > before
