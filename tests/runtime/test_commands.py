"""Command buffers: instructions in a row as one native call."""

import threading
import weakref

import numpy as np
import pytest
from shares import whole_only

import fluidlite as fluid
from fluidlite.backend.commands import CommandFunctions, Status
from fluidlite.backend.native import library
from fluidlite.errors import FluidError
from fluidlite.runtime.commands import CommandSequence

layers = fluid.layers
ROWS = 8
pytestmark = whole_only


@pytest.fixture
def statuses(compiler, monkeypatch):
    """What running command buffers gave where it was not 0; kernels are generated meanwhile."""
    found = []
    fallback = CommandSequence.fallback

    def noted(self, status, given, buffers):
        found.append(status)
        return fallback(self, status, given, buffers)

    monkeypatch.setattr(CommandSequence, "fallback", noted)
    return found


def training():
    """A net of two layers, its loss, and what is fed."""
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 3
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [ROWS, 5], "float32")
        label = fluid.data("label", [ROWS, 1], "int64")
        hidden = layers.fc(x, 6, act="relu")
        loss = layers.mean(layers.cross_entropy(layers.fc(hidden, 3, act="softmax"), label))
        fluid.optimizer.Adam(0.1).minimize(loss)
    rng = np.random.RandomState(1)
    feed = {
        "x": rng.normal(size=[ROWS, 5]).astype("float32"),
        "label": rng.randint(0, 3, [ROWS, 1]),
    }
    return main, startup, loss, feed


def losses_of(net, feeds, executor=None):
    main, startup, loss, _ = net
    exe, scope = executor or fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    return [exe.run(main, feed, [loss], scope=scope)[0].item() for feed in feeds]


def test_a_step_of_a_small_net_is_one_call_that_computes_the_same(statuses, monkeypatch):
    net = training()
    exe = fluid.Executor()
    found = losses_of(net, [net[3]] * 8, exe)
    source = exe.plan(net[0], [net[2]]).source
    lines = [line.strip() for line in source.splitlines() if ", native" in line]
    assert len(lines) > 8 and all(line.startswith("# ") for line in lines)
    assert source.count("status = run") == 1
    assert statuses.count(Status.NOT_RECORDED) == 1, "recorded once"
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    assert np.allclose(found, losses_of(net, [net[3]] * 8), rtol=1e-5)


def test_what_is_fed_in_another_order_of_memory_is_copied(statuses):
    net = training()
    other = {**net[3], "x": np.asfortranarray(net[3]["x"])}
    plain = losses_of(net, [net[3]] * 8)
    del statuses[:]
    assert losses_of(net, [net[3]] * 4 + [other] * 4) == plain
    assert statuses.count(Status.UNFIT) >= 4


def test_a_label_that_is_out_of_range_is_refused_and_changes_nothing(statuses):
    main, startup, loss, feed = training()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    for _ in range(5):
        exe.run(main, feed, [loss], scope=scope)
    names = [p.name for p in main.all_parameters()]
    before = [np.array(scope.value(name)) for name in names]
    with pytest.raises(FluidError, match="label"):
        exe.run(main, {**feed, "label": feed["label"] + 7}, [loss], scope=scope)
    for name, was in zip(names, before):
        assert np.array_equal(scope.value(name), was)
    exe.run(main, feed, [loss], scope=scope)
    assert not np.array_equal(scope.value(names[0]), before[0])


def test_parameters_that_somebody_holds_are_not_written(statuses):
    main, startup, loss, feed = training()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    name = main.all_parameters()[0].name
    held = []
    for _ in range(8):
        value = scope.value(name)
        held.append((value, value.copy()))
        exe.run(main, feed, [loss], scope=scope)
    assert all(np.array_equal(value, was) for value, was in held)
    assert len({was.tobytes() for _, was in held}) == len(held)


def test_what_a_buffer_was_recorded_with_is_let_go_of(statuses):
    main, startup, loss, feed = training()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    name, found = main.all_parameters()[0].name, []
    for _ in range(8):
        found.append(weakref.ref(scope.value(name)))
        exe.run(main, {key: value.copy() for key, value in feed.items()}, [loss], scope=scope)
    alive = {id(array) for ref in found if (array := ref()) is not None}
    assert len(alive) == 2, "two sets of parameters take turns"


def test_parameters_that_a_user_set_in_another_order_of_memory_are_replaced(statuses):
    main, startup, loss, feed = training()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    name = main.all_parameters()[0].name
    for _ in range(4):
        exe.run(main, feed, [loss], scope=scope)
    scope.find_var(name).value = np.asfortranarray(scope.value(name))
    for _ in range(4):
        exe.run(main, feed, [loss], scope=scope)
    del statuses[:]
    for _ in range(4):
        exe.run(main, feed, [loss], scope=scope)
    assert not statuses and scope.value(name).flags.c_contiguous


def test_two_threads_run_a_plan_in_buffers_of_their_own(statuses):
    net = training()
    exe = fluid.Executor()
    losses_of(net, [net[3]] * 4, exe)  # compiled: it rounds otherwise than what is interpreted
    want = losses_of(net, [net[3]] * 30, exe)
    found = [None, None]

    def train(number):
        found[number] = losses_of(net, [net[3]] * 30, exe)

    threads = [threading.Thread(target=train, args=[number]) for number in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [want, want]


def test_one_array_in_two_places_is_given_twice(statuses):
    main = fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main):
        x, y = (fluid.data(name, [4, 4], "float32") for name in "xy")
        out = layers.relu(layers.matmul(layers.relu(layers.matmul(x, y)), y))
    exe, rng = fluid.Executor(), np.random.RandomState(2)
    arrays = [rng.normal(size=[4, 4]).astype("float32") for _ in range(3)]
    for a, b in [(0, 0)] * 5 + [(0, 1), (1, 2), (2, 2), (2, 0)]:
        x, y = arrays[a], arrays[b]
        want = np.maximum(np.maximum(x @ y, 0) @ y, 0)
        (found,) = exe.run(main, {"x": x, "y": y}, [out])
        assert np.allclose(found, want, rtol=1e-5, atol=1e-6)


def test_what_a_library_refuses_is_said_and_interpreted(statuses, monkeypatch):
    class Refusing(CommandFunctions):
        def __init__(self, library, free):
            super().__init__(library, free)
            self.run = self.run_free = lambda given, buffer: Status.FAILED

    net = training()
    want = losses_of(net, [net[3]] * 4)
    monkeypatch.setattr(library, "CommandFunctions", Refusing)
    with pytest.warns(RuntimeWarning, match="refused one of the commands mul, relu.*status 3"):
        found = losses_of(net, [net[3]] * 4)
    assert np.allclose(found, want, rtol=1e-5)
