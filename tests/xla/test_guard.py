"""What must hold of fed values is looked at before a step that replaces its state."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import FluidError

jax = pytest.importorskip("jax")

from fluidlite.runtime.xla import bound, guard  # noqa: E402


def test_a_truth_of_inputs_is_cut_out_of_a_function():
    def step(weight, label):
        return [weight * 2, weight], [(label < 3).all(), label >= 0]

    traced = jax.jit(step).trace(np.ones(4, "float32"), np.zeros(2, "int32"))
    holds = guard.guard_of(traced, [1])
    assert holds(np.array([0, 2], "int32"))
    assert not holds(np.array([0, 3], "int32"))
    assert not holds(np.array([0, -1], "int32"))


def test_a_truth_of_something_else_is_not():
    def step(weight, label):
        return [weight * 2], [(label < weight.sum()).all()]

    traced = jax.jit(step).trace(np.ones(4, "float32"), np.zeros(2, "int32"))
    assert guard.guard_of(traced, [1]) is None


def trained(labels):
    """A step of training: the executor, a function of labels, and the weight."""
    fluid.default_startup_program().random_seed = 3
    x = fluid.data("x", [None, 4], "float32")
    y = fluid.data("y", [None, 1], "int64")
    logits = layers.fc(x, 3, param_attr="w")
    loss = layers.mean(layers.softmax_with_cross_entropy(logits, labels(logits, y)))
    fluid.optimizer.Adam(0.1).minimize(loss)
    exe = fluid.Executor(backend="jax")
    exe.run(fluid.default_startup_program())
    rows = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)

    def step(numbers):
        feed = {"x": rows, "y": np.array(numbers, "int64").reshape(2, 1)}
        return exe.run(feed=feed, fetch_list=[loss])[0]

    return step, lambda: np.array(fluid.global_scope().find_var("w").get_tensor())


@pytest.fixture
def guards(monkeypatch):
    """The guards of the stages that are bound."""
    found = []
    monkeypatch.setattr(bound, "guard_of", lambda *a: found.append(guard.guard_of(*a)) or found[-1])
    return found


@pytest.mark.parametrize("is_fed", [True, False], ids=["fed labels", "computed labels"])
def test_labels_that_are_wrong_change_nothing_and_the_next_step_runs(is_fed, guards):
    def computed(logits, y):
        return y + layers.cast(layers.mean(logits) * 0, "int64")

    step, weight = trained((lambda logits, y: y) if is_fed else computed)
    before = [step([0, 2]) for _ in range(4)]
    assert before[-1] < before[0]
    assert guards and all((each is not None) == is_fed for each in guards)
    held = weight()
    for _ in range(2):
        with pytest.raises(FluidError, match="softmax_with_cross_entropy"):
            step([0, 3])
        np.testing.assert_array_equal(weight(), held)
    assert step([0, 2]) < before[-1]
