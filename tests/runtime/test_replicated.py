"""Compiled programs on several devices: parts of a batch, the mean of gradients, merged fetches."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedError, FeedTypeError, FetchError, NonFiniteError

layers = fluid.layers

X = np.arange(12, dtype="float32").reshape(4, 3)
Z = np.arange(4, dtype="float32").reshape(4, 1)


@pytest.fixture
def net(monkeypatch):
    """A net, and a function that trains it for a step on two devices from weights of zero."""
    monkeypatch.setenv("CPU_NUM", "2")
    x, z = fluid.data("x", [None, 3], "float32"), fluid.data("z", [None, 1], "float32")
    made = {"h": layers.fc(x, 1, param_attr="w", bias_attr=False)}
    made["loss"] = layers.mean(made["h"] + z)
    made["sum"] = layers.reduce_sum(x)
    fluid.optimizer.SGD(0.1).minimize(made["loss"])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    tensor = fluid.global_scope().find_var("w").get_tensor()

    def run(fetches, feed=None, places=None, strategy=None, **how):
        compiled = fluid.CompiledProgram(fluid.default_main_program())
        compiled.with_data_parallel(made["loss"].name, strategy, places=places)
        for _ in range(3):
            tensor.set(np.zeros([3, 1], "float32"))
            given = {"x": X, "z": Z} if feed is None else feed
            found = exe.run(compiled, given, [made.get(n, n) for n in fetches], **how)
        return found, np.array(tensor).ravel()

    return run


def test_fetches_hold_one_value_of_each_device(net):
    (loss, total, hidden, w), after = net(["loss", "sum", "h", "w"])
    assert loss.tolist() == [0.5, 2.5] and total.tolist() == [15, 51]
    assert hidden.shape == (4, 1)
    np.testing.assert_allclose(after, [-0.45, -0.55, -0.65], rtol=1e-6)
    np.testing.assert_array_equal(w.ravel(), [*after, *after])


def test_fetches_are_lists_where_they_are_not_merged(net):
    (loss, hidden), _ = net(["loss", "h"], return_merged=False)
    assert [value.tolist() for value in loss] == [[0.5], [2.5]]
    assert [value.shape for value in hidden] == [(2, 1), (2, 1)]


@pytest.mark.parametrize("feed", [{"x": X, "z": Z, "q": X}, [{"x": X, "z": Z, "q": X}] * 2])
def test_what_is_fed_to_no_variable_is_refused(net, feed):
    with pytest.raises(FeedError, match="on 2 devices: the program has no variable 'q'"):
        net(["loss"], feed)


def test_gradients_are_means_over_devices_or_sums(net):
    (gradient,), _ = net(["w@GRAD"])
    np.testing.assert_allclose(gradient.ravel(), [4.5, 5.5, 6.5] * 2)
    strategy = fluid.BuildStrategy()
    strategy.gradient_scale_strategy = fluid.BuildStrategy.GradientScaleStrategy.One
    _, after = net(["loss"], strategy=strategy)
    np.testing.assert_allclose(after, [-0.9, -1.1, -1.3], rtol=1e-6)


def test_the_first_devices_get_more_of_a_batch_that_does_not_divide(net):
    (loss,), after = net(["loss"], {"x": X[:3], "z": Z[:3]})
    assert loss.tolist() == [0.5, 2.0]
    np.testing.assert_allclose(after, [-0.375, -0.475, -0.575], rtol=1e-6)


def test_a_list_has_the_batch_of_each_device(net):
    (loss,), after = net(["loss"], [{"x": X[:1], "z": Z[:1]}, {"x": X[1:], "z": Z[1:]}])
    assert loss.tolist() == [0, 2]
    np.testing.assert_allclose(after, [-0.3, -0.4, -0.5], rtol=1e-6)
    with pytest.raises(FeedTypeError, match="a dictionary for each of 2 devices, got 1"):
        net(["loss"], [{"x": X, "z": Z}])


def test_places_say_how_many_devices_there_are(net):
    assert net(["loss"], places=[fluid.CPUPlace()] * 4)[0][0].tolist() == [0, 1, 2, 3]
    assert net(["loss"], places=[fluid.CPUPlace()])[0][0].tolist() == [1.5]


def test_what_goes_wrong_changes_nothing(net):
    with pytest.raises(FeedError, match="'x' was fed 1 samples for 2 devices"):
        net(["loss"], {"x": X[:1], "z": Z[:1]})
    with pytest.raises(FeedError, match="data variable 'z' was not fed"):
        net(["loss"], {"x": X})
    with pytest.raises(FetchError, match="no variable 'nothing' to fetch"):
        net(["nothing"])
    with pytest.raises(NonFiniteError, match="test_replicated.py:"):
        net(["loss"], {"x": X + np.inf, "z": Z}, check_nan_inf=True)
    assert not np.array(fluid.global_scope().find_var("w").get_tensor()).any()


def test_what_the_program_does_not_need_need_not_be_fed(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    x = fluid.data("x", [None, 3], "float32")
    fluid.data("z", [None, 1], "float32")
    mean = layers.mean(layers.scale(x, 2.0))
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    (found,) = fluid.Executor().run(compiled, {"x": X}, [mean])
    assert found.tolist() == [5, 17]


def test_sequences_stay_whole(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    x = fluid.data("x", [None, 1], "float32", lod_level=1)
    double, count = layers.scale(x, 2.0), layers.shape(x)
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    fed = fluid.create_lod_tensor(np.arange(6, dtype="float32")[:, None], [[3, 1, 2]], None)
    found = fluid.Executor().run(compiled, {"x": fed}, [double, count], return_numpy=False)
    assert found[0].recursive_sequence_lengths() == [[3, 1, 2]]
    assert np.array(found[0]).ravel().tolist() == [0, 2, 4, 6, 8, 10]
    assert np.array(found[1]).tolist() == [4, 1, 2, 1]


def test_sparse_gradients_of_devices_are_gathered(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    ids = fluid.data("ids", [None, 1], "int64")
    loss = layers.mean(layers.embedding(ids, [4, 1], is_sparse=True, param_attr="table"))
    fluid.optimizer.SGD(1.0).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    tensor = fluid.global_scope().find_var("table").get_tensor()
    tensor.set(np.zeros([4, 1], "float32"))
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    exe.run(compiled, {"ids": np.array([[1], [1], [2], [1]])}, [loss])
    np.testing.assert_allclose(np.array(tensor).ravel(), [0, -0.75, -0.25, 0])


def test_each_device_draws_other_random_numbers(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    fluid.data("x", [None, 3], "float32")
    out = layers.uniform_random([5])
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    (found,) = fluid.Executor().run(compiled, {"x": X}, [out])
    assert len(set(found.tolist())) == 10


def test_a_wrong_number_of_devices_is_refused(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "two")
    compiled = fluid.CompiledProgram(fluid.Program()).with_data_parallel()
    with pytest.raises(ArgumentError, match="CPU_NUM to be a number of devices, got 'two'"):
        fluid.Executor().run(compiled)


def test_each_device_keeps_its_own_statistics_and_the_scope_those_of_the_first(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    x = fluid.data("x", [None, 2])
    h = layers.batch_norm(x, momentum=0.5, moving_mean_name="mean")
    loss = layers.mean(layers.fc(h, 1))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe, scope = fluid.Executor(), fluid.global_scope()
    exe.run(fluid.default_startup_program())
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel(loss.name)
    small = np.array([[0, 1], [2, 5], [10, 20], [14, 30]], "float32")
    large = np.concatenate([small, [[1, 1], [2, 2], [3, 4], [5, 9]]]).astype("float32")
    tensor = scope.find_var("mean").get_tensor()
    for batch, first, second in (
        (small, [0.5, 1.5], [6, 12.5]),
        (large, [3.5, 7.75], [4.375, 8.25]),
        (small, [2.25, 5.375], [8.1875, 16.625]),
    ):
        (found,) = exe.run(compiled, {"x": batch}, ["mean"], use_prune=batch is large)
        np.testing.assert_allclose(found, [*first, *second])
        np.testing.assert_allclose(np.array(tensor), first)
    tensor.set(np.float32([100, 200]), fluid.CPUPlace())
    (found,) = exe.run(compiled, {"x": small}, ["mean"])
    np.testing.assert_allclose(found, [50.5, 101.5, 10.09375, 20.8125])
    with fluid.scope_guard(fluid.Scope()):
        exe.run(fluid.default_startup_program())
        (found,) = exe.run(compiled, {"x": small}, ["mean"])
    np.testing.assert_allclose(found, [0.5, 1.5, 6, 12.5])


def test_devices_share_statistics_in_turn_where_they_reduce_and_count_one_step(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    x = fluid.data("x", [None, 2])
    h = layers.batch_norm(x, momentum=0.5, moving_mean_name="mean")
    loss = layers.mean(layers.fc(h, 1))
    fluid.optimizer.SGD(layers.exponential_decay(0.1, 1, 0.5)).minimize(loss)
    exe, strategy = fluid.Executor(), fluid.BuildStrategy()
    exe.run(fluid.default_startup_program())
    strategy.reduce_strategy = fluid.BuildStrategy.ReduceStrategy.Reduce
    compiled = fluid.CompiledProgram(fluid.default_main_program())
    compiled.with_data_parallel(loss.name, strategy)
    batch = np.array([[0, 1], [2, 5], [10, 20], [14, 30]], "float32")
    for number, mean in ((0, [6.25, 13.25]), (1, [7.8125, 16.5625])):
        found = exe.run(compiled, {"x": batch}, ["mean", "@LR_DECAY_COUNTER@"])
        np.testing.assert_allclose(found[0], mean * 2)
        assert found[1].tolist() == [number] * 2


def test_there_are_as_many_places_as_cpu_num_says(monkeypatch):
    monkeypatch.delenv("CPU_NUM", raising=False)
    assert len(fluid.cpu_places()) == 1
    monkeypatch.setenv("CPU_NUM", "3")
    assert (len(fluid.cpu_places()), len(fluid.cpu_places(2))) == (3, 2)
    monkeypatch.setenv("CPU_NUM", "many")
    with pytest.raises(ArgumentError, match="expected CPU_NUM to be a number of devices"):
        fluid.cpu_places()


def test_a_compiled_program_has_a_place_for_each_device(monkeypatch):
    program, two = fluid.default_main_program(), fluid.cpu_places(2)
    assert len(fluid.CompiledProgram(program)._places) == 1
    assert fluid.CompiledProgram(program).with_data_parallel(places=two)._places == two
    monkeypatch.setenv("CPU_NUM", "3")
    assert len(fluid.CompiledProgram(program).with_data_parallel()._places) == 3
