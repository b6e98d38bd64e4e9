"""Plans that are cut into several functions, and what planning shares and leaves alone."""

import gc

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FluidError
from fluidlite.ground.state import collector_paused
from fluidlite.runtime import memory

layers = fluid.layers


def net():
    """A training with buffers, views, an output that is fetched, and random numbers."""
    x = fluid.data("x", [64, 40], "float32")
    hidden = layers.fc(x, 50, act="relu", param_attr="w0", bias_attr="b0")
    hidden = layers.dropout(hidden, 0.3, seed=5)
    first, second = layers.split(hidden, 2, dim=1)
    hidden = layers.concat([layers.tanh(first), second], axis=1)
    out = layers.fc(hidden, 30, act="sigmoid", param_attr="w1", bias_attr="b1")
    loss = layers.mean(layers.square(out))
    fluid.optimizer.Momentum(0.5, 0.9).minimize(loss)
    return out, loss


def trained(steps=6):
    """Fetched values and parameters after some steps, and the source of the plan."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 3
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        out, loss = net()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(startup, scope=scope)
    feed = {"x": np.random.default_rng(0).normal(size=[64, 40]).astype("float32")}
    found = []
    for _ in range(steps):
        found += exe.run(main, feed=feed, fetch_list=[out, loss, "x", "w0"], scope=scope)
    found += [np.array(scope.value(p.name)) for p in main.all_parameters()]
    return found, exe.plan(main, [out, loss, "x", "w0"])


@pytest.mark.parametrize("longest", [1, 2, 5, 13])
def test_functions_one_after_the_other_compute_what_one_does(longest, monkeypatch):
    expected, whole = trained()
    assert whole.source.count("def ") == 1
    monkeypatch.setattr(memory, "LONGEST", longest)
    found, plan = trained()
    kernels = len(plan.items[0].last.order)
    assert plan.source.count("def part") == -(-kernels // longest)
    assert plan.source.count("def run(") == 1
    for value, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, same)


def test_what_looks_on_sees_the_kernels_of_all_parts(monkeypatch):
    monkeypatch.setattr(memory, "LONGEST", 4)
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    found, _ = trained()
    assert all(np.isfinite(value).all() for value in found)


def test_parts_hand_on_what_a_later_part_reads_and_nothing_else(monkeypatch):
    monkeypatch.setattr(memory, "LONGEST", 2)
    x = fluid.data("x", [3], "float32")
    early = layers.exp(x)
    value = early
    for _ in range(3):
        value = layers.tanh(value)
    out = layers.elementwise_mul(value, early)
    exe, feed = fluid.Executor(), {"x": np.array([0.1, 0.2, 0.3], "float32")}
    for _ in range(3):
        found = exe.run(feed=feed, fetch_list=[out])[0]
    given = np.exp(feed["x"])
    np.testing.assert_allclose(found, np.tanh(np.tanh(np.tanh(given))) * given, rtol=1e-6)
    source = exe.plan(fetch_list=[out]).source
    lines = [line.partition("  #")[0] for line in source.splitlines() if line.startswith(" ")]
    assert lines == [
        "    V[1] = k0(v0)",
        "    V[2] = k1(V[1])",
        "    v3 = k1(V[2])",  # nothing outside reads it
        "    del V[2]",
        "    V[4] = k1(v3)",
        "    V[5] = k4(V[4], V[1])",
        "    del V[4], V[1]",
        "    V = {}",
        "    part0(B, D, G, V, v0)",  # it alone reads what is fed
        "    part1(B, D, G, V)",
        "    part2(B, D, G, V)",
        "    return (V[5],)",
    ]


def test_operators_alike_share_a_kernel_but_not_with_other_attributes():
    x = fluid.data("x", [2, 3], "float32")
    outs = [layers.scale(x, s, b) for s, b in ((2.0, 0.0), (2.0, 0.0), (3.0, 0.0), (0.0, -0.0))]
    outs.append(layers.scale(x, -0.0, -0.0))
    total = [layers.reduce_sum(x, dim=0), layers.reduce_sum(x, dim=1)]
    exe, feed = fluid.Executor(), {"x": np.ones([2, 3], "float32")}
    for _ in range(3):
        found = exe.run(feed=feed, fetch_list=[*outs, *total])
    for value, number in zip(found, (2, 2, 3, 0, 0)):
        np.testing.assert_array_equal(value, np.full([2, 3], number, "float32"))
    np.testing.assert_array_equal(found[5], [2, 2, 2])
    np.testing.assert_array_equal(found[6], [3, 3])


def test_the_collector_runs_again_after_planning_and_after_errors():
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with pytest.raises(KeyError), collector_paused():
            raise KeyError
        assert not gc.isenabled()
    assert gc.isenabled()
    x = fluid.data("x", [None, 3], "float32")
    out = layers.reshape(x, [4, 3])
    exe = fluid.Executor()
    for _ in range(3):
        with pytest.raises(FluidError):
            exe.run(feed={"x": np.ones([2, 3], "float32")}, fetch_list=[out])
        assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
