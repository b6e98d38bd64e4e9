"""Programs on eight devices are one compiled function, and compute what one device computes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import NonFiniteError, OutOfRangeError
from fluidlite.layers import collective

DEVICES = 8


def parallel(count=DEVICES, loss=None):
    program = fluid.CompiledProgram(fluid.default_main_program())
    return program.with_data_parallel(loss, places=fluid.cpu_places(count))


def started(backend):
    scope = fluid.Scope()
    fluid.default_startup_program().random_seed = 3
    if fluid.default_startup_program().global_block().ops:
        fluid.Executor(backend="numpy").run(fluid.default_startup_program(), scope=scope)
    return scope, fluid.Executor(backend=backend)


def values(scope):
    return {v.name: np.array(v.get_tensor()) for v in scope if v.is_initialized}


def batch(rows=16, classes=4):
    rng = np.random.default_rng(0)
    return {
        "x": rng.normal(size=[rows, 6]).astype("float32"),
        "y": rng.integers(0, classes, [rows, 1]),
    }


def network(normal=False):
    x, y = fluid.data("x", [None, 6], "float32"), fluid.data("y", [None, 1], "int64")
    h = layers.fc(x, 5, act="tanh")
    h = layers.batch_norm(h) if normal else h
    p = layers.fc(h, 4, act="softmax")
    loss = layers.mean(layers.cross_entropy(p, y))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return loss


def test_a_training_on_several_devices_is_that_of_one():
    loss = network()
    alone, exe = started("jax")
    right = [exe.run(feed=batch(), fetch_list=[loss], scope=alone)[0] for _ in range(3)]
    scope, exe = started("jax")
    program = parallel()
    found = [exe.run(program, batch(), [loss], scope=scope)[0] for _ in range(3)]
    assert [each.shape for each in found] == [(DEVICES,)] * 3  # a value from each
    np.testing.assert_allclose([each.mean() for each in found], np.ravel(right), 1e-5)
    for name, value in values(alone).items():
        np.testing.assert_allclose(values(scope)[name], value, 1e-5, 1e-6, err_msg=name)


OPTIMIZERS = {
    "Adam": lambda: fluid.optimizer.Adam(0.01, lazy_mode=True),
    "Adagrad": lambda: fluid.optimizer.Adagrad(0.1),
    "Momentum, clipped": lambda: fluid.optimizer.Momentum(
        layers.exponential_decay(0.1, 2, 0.5),
        0.9,
        regularization=fluid.regularizer.L2Decay(0.1),
        grad_clip=fluid.clip.GradientClipByGlobalNorm(0.1),
    ),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_table_of_which_devices_name_different_rows_is_trained_as_on_one(optimizer):
    word, y = fluid.data("word", [None, 1], "int64"), fluid.data("y", [None, 1], "int64")
    h = layers.embedding(word, [20, 8], is_sparse=True)
    loss = layers.mean(layers.cross_entropy(layers.fc(h, 4, act="softmax"), y))
    optimizer().minimize(loss)
    rng = np.random.default_rng(0)
    feeds = [{"word": rng.integers(0, 20, [16, 1]), "y": batch()["y"]} for _ in range(3)]
    alone, exe = started("numpy")
    for feed in feeds:
        exe.run(feed=feed, fetch_list=[loss], scope=alone)
    scope, exe = started("jax")
    program = parallel()
    for feed in feeds:
        exe.run(program, feed, [loss], scope=scope)
    for name, value in values(alone).items():
        np.testing.assert_allclose(values(scope)[name], value, 1e-4, 1e-6, err_msg=name)
    held = scope.find_var("embedding_0.w_0").value
    assert len(held.sharding.device_set) == DEVICES  # they did not take turns


@pytest.mark.parametrize("lazy", [False, True])
def test_a_batch_that_does_not_divide_trains_the_rows_of_a_table_that_it_names(lazy):
    word = fluid.data("word", [None, 1], "int64")
    loss = layers.mean(layers.square(layers.embedding(word, [20, 8], is_sparse=True)))
    fluid.optimizer.Adam(0.1, lazy_mode=lazy).minimize(loss)
    rng = np.random.default_rng(0)
    feeds = [{"word": rng.integers(0, 20, [rows, 1])} for rows in (8, 5, 8, 6)]
    trained = []
    for backend in ("numpy", "jax"):
        scope, exe = started(backend)
        program = parallel(4)
        for feed in feeds:
            exe.run(program, feed, [loss], scope=scope)
        trained.append(values(scope))
    right, found = trained
    for name, value in right.items():
        np.testing.assert_allclose(found[name], value, 1e-4, 1e-6, err_msg=name)


def test_a_value_that_is_not_finite_is_looked_for_on_every_device_and_nothing_changes():
    loss = network()
    wrong = batch()
    wrong["x"][9, 2] = np.nan
    said = []
    for backend in ("numpy", "jax"):
        scope, exe = started(backend)
        exe.run(parallel(2), batch(), [loss], scope=scope)
        before = values(scope)
        with pytest.raises(NonFiniteError) as info:
            exe.run(parallel(2), wrong, [loss], scope=scope, check_nan_inf=True)
        said.append(str(info.value).split(" holds ")[0])
        for name, value in values(scope).items():
            np.testing.assert_array_equal(value, before[name])
    assert said == ["mul: variable 'fc_0.tmp_0'"] * 2


def dropped(backend, rows):
    fluid.default_main_program().random_seed = 3
    scope, exe = started(backend)
    program, name = parallel(2), fluid.default_main_program().global_block().ops[0].output("Out")
    return [exe.run(program, {"x": np.ones([n, 6])}, name, scope=scope)[0] for n in rows]


def test_devices_that_take_turns_draw_what_they_draw_together():
    layers.dropout(fluid.data("x", [None, 6], "float64"), 0.5)
    together, turns = dropped("jax", [4, 4]), dropped("jax", [5, 5])
    for mine, other in zip(together, turns):  # 2 and 2 rows; 3 and 2
        np.testing.assert_array_equal(mine[0], other[0])
        np.testing.assert_array_equal(mine[2:], other[3:])


def test_devices_draw_on_the_host_where_they_are_to(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_JAX_RANDOM", "host")
    layers.dropout(fluid.data("x", [None, 6], "float64"), 0.5)
    np.testing.assert_array_equal(dropped("jax", [4, 4]), dropped("numpy", [4, 4]))


def test_statistics_are_those_of_each_device_as_on_numpy(jax):
    loss = network(normal=True)
    results = {}
    for backend in ("numpy", "jax"):
        scope, exe = started(backend)
        program = parallel(4)
        losses = [exe.run(program, batch(), [loss], scope=scope)[0] for _ in range(3)]
        results[backend] = losses, values(scope)
    np.testing.assert_allclose(results["jax"][0], results["numpy"][0], 1e-4)
    for name, value in results["numpy"][1].items():
        np.testing.assert_allclose(results["jax"][1][name], value, 1e-4, 1e-5, err_msg=name)
    held = scope.find_var("fc_0.w_0").value
    assert len(held.sharding.device_set) == 4


def test_values_are_fetched_from_each_device_where_they_are_not_to_be_merged():
    x = fluid.data("x", [None, 2], "float32")
    total = layers.reduce_sum(x)
    scope, exe = started("jax")
    given = np.arange(16, dtype="float32").reshape(8, 2)
    (found,) = exe.run(parallel(4), {"x": given}, [total], scope=scope, return_merged=False)
    assert [float(each[0]) for each in found] == [6, 22, 38, 54]


def test_collective_operators_are_those_of_the_devices():
    x = fluid.data("x", [None, 2], "float32")
    fetches = [
        *(collective._c_allreduce(x, reduce_type=how) for how in ("sum", "max", "min")),
        collective._allreduce(x, reduce_type="prod"),
        collective._c_allgather(x, 4),
        collective._c_reducescatter(collective._c_allgather(x, 4), 4),
    ]
    scope, exe = started("jax")
    given = np.arange(1, 9, dtype="float32").reshape(4, 2)
    found = exe.run(parallel(4), {"x": given}, fetches, scope=scope)
    for mine, reduce in zip(found, (np.sum, np.max, np.min, np.prod)):
        np.testing.assert_allclose(mine, np.tile(reduce(given, axis=0), [4, 1]))
    np.testing.assert_array_equal(found[4], np.tile(given, [4, 1]))
    np.testing.assert_array_equal(found[5], given * 4)


def test_a_batch_that_does_not_divide_goes_through_the_devices_in_turn():
    loss = network()
    results = []
    for backend in ("numpy", "jax"):
        scope, exe = started(backend)
        results.append(exe.run(parallel(4), batch(10), [loss], scope=scope)[0])
    np.testing.assert_allclose(results[1], results[0], 1e-5)


def test_a_label_out_of_range_is_refused_and_nothing_changes():
    loss = network()
    scope, exe = started("jax")
    program = parallel(4)
    exe.run(program, batch(), [loss], scope=scope)
    before = values(scope)
    with pytest.raises(OutOfRangeError, match=r"in \[0, 4\), got 7"):
        exe.run(program, dict(batch(), y=np.full([16, 1], 7)), [loss], scope=scope)
    for name, value in values(scope).items():
        np.testing.assert_array_equal(value, before[name])


def test_too_few_devices_take_turns_with_a_warning():
    x = fluid.data("x", [None, 2], "float32")
    total = layers.reduce_sum(x)
    scope, exe = started("jax")
    with pytest.warns(UserWarning, match="on 9 devices, and JAX sees 8: they take turns"):
        (found,) = exe.run(parallel(9), {"x": np.ones([9, 2], "float32")}, [total], scope=scope)
    assert found.tolist() == [2] * 9


def test_what_devices_keep_outlives_a_run_that_does_not_write_it():
    x = fluid.data("x", [None, 3], "float32")
    first = layers.reduce_mean(x)
    loss = layers.mean(layers.batch_norm(x, moving_mean_name="mean"))
    inputs = np.arange(24, dtype="float32").reshape(8, 3)
    found = []
    for backend in ("numpy", "jax"):
        scope, exe = started(backend)
        program = parallel(2)
        for fetched, is_cut in ((loss, False), (first, True), (loss, False)):
            exe.run(program, {"x": inputs}, [fetched], scope=scope, use_prune=is_cut)
        found += [np.asarray(each["mean"]) for each in program.kept.of(scope, 2)]
    of_numpy, of_jax = found
    np.testing.assert_allclose(of_jax, of_numpy, 1e-5)


def test_a_run_on_several_devices_is_cut_down_to_an_optimizers_result():
    x = fluid.data("x", [None, 3], "float32")
    layers.increment(layers.create_global_var([1], 0.0, "float32", True, name="count"))
    loss = layers.mean(layers.fc(x, 1, param_attr="w"))
    made = fluid.optimizer.SGD(0.1).minimize(loss)
    layers.reduce_sum(x + fluid.data("z", [None, 3], "float32"))
    scope, exe = started("jax")
    before = values(scope)
    for _ in range(3):
        exe.run(parallel(2), {"x": np.ones([4, 3], "float32")}, [loss, made], scope=scope)
    after = values(scope)
    assert after["count"] == 0 and (after["w"] < before["w"]).all()
