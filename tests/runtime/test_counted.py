"""Loops whose passes are counted by constants: in compiled plans one pass after the other."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import lower, session
from fluidlite.runtime.plan import Plan
from fluidlite.runtime.segment import Segment

layers = fluid.layers
X = np.random.default_rng(2).normal(size=[2, 3]) * 0.5


def number(value):
    return layers.fill_constant([1], "int64", value)


def repeated(step, value, times=3, limit=None):
    """What a step makes of a value and the number of the pass, pass by pass."""
    i, n = number(0), number(times) if limit is None else limit
    return layers.while_loop(
        lambda i, v: layers.less_than(i, n),
        lambda i, v: [i + 1, step(v, i)],
        [i, layers.assign(value)],
    )[1]


def variable():
    x = fluid.data("x", [2, 3], "float64")
    x.stop_gradient = False
    return x


def dense(v):
    attr = fluid.ParamAttr("w", fluid.initializer.Uniform(-0.5, 0.5, seed=5))
    return layers.fc(v, 3, param_attr=attr, bias_attr=False, act="tanh")


def plain(x):
    return repeated(lambda v, i: layers.tanh(v) * x, x)


def drawing(x):
    return repeated(lambda v, i: layers.dropout(v, 0.5) + x, x)


def in_each_other(x):
    return repeated(lambda v, i: repeated(lambda u, j: layers.sin(u) * x, v, times=2), x)


def recurrent(x):
    def step(v, i):
        rnn = layers.StaticRNN()
        with rnn.step():
            now, before = rnn.step_input(v), rnn.memory(shape=[3], batch_ref=v)
            after = layers.tanh(now + before)
            rnn.update_memory(before, after)
            rnn.step_output(after)
        return rnn() * x

    return repeated(step, x)


def arrays(x):
    kept = layers.array_write(x, number(0))

    def step(v, i):
        before = layers.array_read(kept, i)
        layers.array_write(v * before, i + 1, array=kept)
        return layers.sin(v) + before

    return repeated(step, x)


def trained(x):
    return repeated(lambda v, i: dense(v) + x, x)


def second_order(x):
    (slope,) = fluid.gradients(layers.reduce_sum(layers.square(trained(x))), x)
    return slope


NETWORKS = [plain, drawing, in_each_other, recurrent, arrays, trained, second_order]


def results(loss, names, runs=3):
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        if fluid.default_startup_program().global_block().ops:
            exe.run(fluid.default_startup_program())
        found = [exe.run(feed={"x": X}, fetch_list=[loss, *names]) for _ in range(runs)]
        (plan,) = exe._known(fluid.default_main_program()).plans.values()
    return found, plan


@pytest.mark.parametrize("network", NETWORKS, ids=lambda f: f.__name__)
def test_passes_one_after_the_other_compute_what_the_loop_does(network, monkeypatch):
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 3
    x = variable()
    loss = layers.reduce_sum(layers.square(network(x)))
    slopes = fluid.gradients(loss, x)
    found, plan = results(loss, slopes)
    (segment,) = plan.items
    assert isinstance(segment, Segment) and segment.last is not None
    monkeypatch.setattr(session, "function_for", lambda *_: None)
    expected, _ = results(loss, slopes)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine[0], other[0], rtol=1e-10)
        np.testing.assert_allclose(mine[1], other[1], rtol=1e-10)


def test_a_loop_that_depends_on_values_is_driven():
    x, limit = variable(), fluid.data("limit", [1], "int64")
    y = repeated(lambda v, i: layers.tanh(v) * x, x, limit=limit)
    z = repeated(lambda v, i: layers.tanh(v) * x, x, times=2)
    items = Plan(fluid.default_main_program(), [y.name, z.name]).items
    assert [type(item).__name__ for item in items] == ["Segment", "Step", "Segment"]
    exe = fluid.Executor()
    for times in (1, 2, 2, 2):
        found = exe.run(feed={"x": X, "limit": np.array([times])}, fetch_list=[y, z])
        assert (found[0] == found[1]).all() == (times == 2)


def test_a_loop_of_more_passes_than_a_plan_holds_is_driven(monkeypatch):
    monkeypatch.setattr(lower, "UNROLLED", 10)
    loss = layers.reduce_sum(plain(variable()))
    found, plan = results(loss, [])
    (segment,) = plan.items
    assert segment.last is None and segment.parts
    assert found[0] == found[1] == found[2]


def test_a_loop_with_a_branch_is_driven():
    x = variable()

    def step(v, i):
        below = layers.less_than(layers.reshape(layers.reduce_sum(v), [1]), fed)
        return layers.cond(below, lambda: layers.sin(v), lambda: v * x)

    fed = layers.fill_constant([1], "float64", 0.2)
    items = Plan(fluid.default_main_program(), [repeated(step, x).name]).items
    assert "Step" in [type(item).__name__ for item in items]
