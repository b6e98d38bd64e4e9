"""Compiled programs run as the program does."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedTypeError
from fluidlite.runtime import segment

ONES = np.ones([3, 2], "float32")


def summed():
    """The sum of what is fed."""
    return fluid.layers.reduce_sum(fluid.data("x", [None, 2]))


def trained(run):
    """Losses of a few steps of a small net, run by ``run(main, startup, feed, loss)``."""
    x = fluid.data("x", [None, 2])
    loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr=fluid.initializer.Constant(0.5)))
    fluid.optimizer.SGD(0.1).minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    return [run(loss)[0].item() for _ in range(3)]


def test_a_compiled_program_runs_as_the_program():
    out = summed()
    compiled = fluid.CompiledProgram(fluid.default_main_program())
    assert fluid.Executor().run(compiled, {"x": ONES}, [out])[0] == [6]


def test_a_compiled_program_trains():
    def run(loss):
        compiled = fluid.CompiledProgram(fluid.default_main_program())
        compiled.with_data_parallel(loss.name, fluid.BuildStrategy(), fluid.ExecutionStrategy())
        return fluid.Executor().run(compiled, {"x": ONES}, [loss])

    np.testing.assert_allclose(trained(run), [1.0, 0.7, 0.4], rtol=1e-5)


def test_the_executor_of_one_program_trains():
    def run(loss):
        exe = fluid.ParallelExecutor(False, loss.name, share_vars_from=None)
        assert exe.device_count == 1
        return exe.run([loss], feed_dict={"x": ONES})

    np.testing.assert_allclose(trained(run), [1.0, 0.7, 0.4], rtol=1e-5)


def test_batches_of_several_devices_become_one():
    out = summed()
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    exe = fluid.Executor()
    assert exe.run(compiled, [{"x": ONES}, {"x": 2 * ONES}], [out])[0] == [18]
    with pytest.raises(FeedTypeError, match="the same names in every dictionary, got x; y"):
        exe.run(compiled, [{"x": ONES}, {"y": ONES}], [out])
    with pytest.raises(FeedTypeError, match="join along the batch"):
        exe.run(compiled, [{"x": ONES}, {"x": np.ones([3, 3], "float32")}], [out])


def test_a_compiled_program_can_be_prepared():
    out = summed()
    compiled = fluid.CompiledProgram(fluid.default_main_program())
    assert fluid.Executor().prepare(compiled, ["x"], [out])({"x": ONES})[0] == [6]


def test_strategies_have_the_settings_of_fluid_and_no_others():
    strategy = fluid.compiler.BuildStrategy()
    strategy.reduce_strategy = strategy.ReduceStrategy.Reduce
    strategy.fuse_bn_act_ops = True
    with pytest.raises(AttributeError):
        strategy.fuse_everything = True
    with pytest.raises(AttributeError):
        fluid.ExecutionStrategy().threads = 2


def test_what_is_no_program_or_strategy_is_refused():
    with pytest.raises(ArgumentError, match="expected a Program to compile, got 'main'"):
        fluid.CompiledProgram("main")
    with pytest.raises(ArgumentError, match="expected build_strategy to be a BuildStrategy"):
        fluid.CompiledProgram(fluid.Program(), fluid.ExecutionStrategy())
    compiled = fluid.CompiledProgram(fluid.Program()).with_data_parallel()
    with pytest.raises(ArgumentError, match="called once"):
        compiled.with_data_parallel()


def test_a_strategy_stays_where_no_other_is_given():
    strategy = fluid.BuildStrategy()
    compiled = fluid.CompiledProgram(fluid.Program(), strategy).with_data_parallel()
    assert compiled.build_strategy is strategy


def test_kernels_of_a_program_that_reads_much_are_requested_in_its_first_run(compiler, monkeypatch):
    monkeypatch.setattr(segment, "LARGE", 4 * 600)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "auto")
    x = fluid.data("x", [100, 600])
    out = fluid.layers.reduce_sum(fluid.layers.exp(fluid.layers.tanh(x) + 0.25))
    exe, requested = fluid.Executor(), []
    monkeypatch.setattr(type(compiler), "request", lambda self, sources: requested.extend(sources))
    exe.run(feed={"x": np.ones([100, 600], "float32")}, fetch_list=[out])
    assert requested


def test_a_first_run_with_many_convolutions_is_compiled(monkeypatch):
    monkeypatch.setattr(segment, "MANY", 4 * 3 * 9 * 18)
    x = fluid.data("x", [None, 2, 5, 5])
    out = fluid.layers.reduce_sum(fluid.layers.conv2d(x, 3, 3))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for images, is_compiled in ((3, False), (4, True)):
        exe.run(feed={"x": np.ones([images, 2, 5, 5], "float32")}, fetch_list=[out])
        assert ("def run(" in exe.plan(fetch_list=[out]).source) == is_compiled


def test_a_first_run_that_reads_much_is_compiled(monkeypatch):
    monkeypatch.setattr(segment, "LARGE", 4 * 600)
    x = fluid.data("x", [None, 6])
    out = fluid.layers.reduce_sum(fluid.layers.exp(x))
    exe = fluid.Executor()
    for rows, is_compiled in ((99, False), (100, True)):
        feed = {"x": np.full([rows, 6], 0.5, "float32")}
        for _ in range(3):
            total = exe.run(feed=feed, fetch_list=[out])[0]
            assert total == pytest.approx(rows * 6 * np.exp(0.5), rel=1e-5)
            assert ("def run(" in exe.plan(fetch_list=[out]).source) == is_compiled
            is_compiled = True
