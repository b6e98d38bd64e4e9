"""An interrupt, or a device that fails, in the middle of a step that overwrites its state."""

import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import OpError

pytest.importorskip("jax")

from fluidlite.runtime.xla import bound

FEED = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}


@pytest.fixture
def training():
    """A step that has been bound, and a function that gives all of the state."""
    fluid.default_startup_program().random_seed = 3
    x = fluid.data("x", [None, 4], "float32")
    loss = layers.mean(layers.square(layers.fc(x, 3)))
    fluid.optimizer.Adam(0.1).minimize(loss)
    exe, scope = fluid.Executor(backend="jax"), fluid.global_scope()
    exe.run(fluid.default_startup_program())
    names = [v.name for v in fluid.default_main_program().list_vars() if v.persistable]

    def step():
        return exe.run(feed=FEED, fetch_list=[loss])[0]

    step()
    return step, lambda: [np.array(scope.find_var(name).get_tensor()) for name in names]


def interrupted(step, number):
    """Whether an interrupt at an instruction of a bound call, counted from the start, ended it."""
    left = number

    def watch(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != bound.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        step()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_instruction_leaves_a_whole_state(training):
    step, state = training
    number, kept, before = 1, 0, state()
    while interrupted(step, number):
        held = state()  # nothing is lost
        changed = [not np.array_equal(a, b) for a, b in zip(before, held, strict=True)]
        assert sum(changed) in (0, len(held) - 1)  # all but the rate of learning
        number, kept, before = number + 1, kept + 1, held
    assert kept > 50
    assert np.isfinite(step()).all()


def test_a_device_that_fails_with_the_state_says_what_is_lost(training, monkeypatch):
    step, _ = training
    step()

    def failing(function, targets, attributes, values):
        for target in list(targets)[:-1]:
            if hasattr(target, "name"):
                target.value.delete()
        raise RuntimeError("the device has gone")

    monkeypatch.setattr(bound, "at_once", failing)
    with pytest.raises(OpError, match="values that these replace are lost.*startup program"):
        step()
