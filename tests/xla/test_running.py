"""Programs compute on JAX what they compute on NumPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, FluidError, NonFiniteError, OutOfRangeError
from fluidlite.ground.process_group import OneProcess, groups

ROWS, CLASSES = 16, 4


def network(rate=0.0):
    """A network with its loss and optimizer, in the default programs."""
    x = fluid.data("x", [None, 8], "float32")
    y = fluid.data("y", [None, 1], "int64")
    h = fluid.layers.fc(x, 16, act="relu")
    h = fluid.layers.dropout(h, rate) if rate else h
    p = fluid.layers.fc(h, CLASSES, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(p, y))
    fluid.optimizer.Adam(0.01).minimize(loss)
    return loss


def batches(count=4):
    rng = np.random.default_rng(0)
    return [
        {
            "x": rng.normal(size=[ROWS, 8]).astype("float32"),
            "y": rng.integers(0, CLASSES, [ROWS, 1]),
        }
        for _ in range(count)
    ]


def trained(backend, loss, feeds, scope=None):
    """The losses of a training, from the same parameters; the executor and the scope."""
    scope = scope or fluid.Scope()
    with fluid.scope_guard(scope):
        fluid.default_startup_program().random_seed = 3
        fluid.Executor(backend="numpy").run(fluid.default_startup_program())
        exe = fluid.Executor(backend=backend)
        losses = [float(exe.run(feed=feed, fetch_list=[loss])[0]) for feed in feeds]
    return losses, exe, scope


def parameters(scope):
    return {v.name: np.array(v.get_tensor()) for v in scope if v.is_initialized}


def test_a_training_goes_the_same_way():
    loss = network()
    (mine, _, here), (right, _, there) = (trained(b, loss, batches()) for b in ("jax", "numpy"))
    np.testing.assert_allclose(mine, right, 1e-5)
    for name, value in parameters(there).items():
        np.testing.assert_allclose(parameters(here)[name], value, 1e-4, 1e-6, err_msg=name)


@pytest.mark.parametrize("lazy", [False, True])
def test_adam_takes_the_gradient_of_a_table_as_on_numpy(lazy):
    word = fluid.data("word", [None, 1], "int64")
    size = [12, 3]
    found = [layers.embedding(word, size, is_sparse=True, param_attr="table") for _ in range(2)]
    loss = layers.mean(layers.square(layers.fc(found, 2)))
    fluid.optimizer.Adam(0.1, lazy_mode=lazy).minimize(loss)
    feeds = [{"word": np.array(ids)[:, None]} for ids in ([1, 2, 2], [3, 1, 5], [7, 8, 2])]
    (_, exe, here), (_, _, there) = (trained(b, loss, feeds) for b in ("jax", "numpy"))
    for name, value in parameters(there).items():
        np.testing.assert_allclose(parameters(here)[name], value, 1e-4, 1e-6, err_msg=name)
    assert [stage.where for stage in exe.plan(fetch_list=[loss]).stages] == ["compiled"]


def test_parameters_stay_on_the_device_and_are_fetched_when_they_are_asked_for(jax):
    loss = network()
    _, _, scope = trained("jax", loss, batches(2))
    held = scope.find_var("fc_0.w_0")
    assert isinstance(held.value, jax.Array)
    assert type(np.array(held.get_tensor())) is np.ndarray
    held.get_tensor().set(np.zeros([8, 16], "float32"))
    assert not np.array(held.get_tensor()).any()


def test_a_training_goes_on_on_numpy_where_it_was_left_on_jax():
    loss = network()
    right, _, _ = trained("numpy", loss, batches())
    first, _, scope = trained("jax", loss, batches()[:2])
    exe = fluid.Executor(backend="numpy")
    more = [float(exe.run(feed=f, fetch_list=[loss], scope=scope)[0]) for f in batches()[2:]]
    np.testing.assert_allclose([*first, *more], right, 1e-5)


def test_a_program_without_branches_is_one_compiled_function():
    loss = network()
    _, exe, _ = trained("jax", loss, batches(2))
    (stage,) = exe.plan(fetch_list=[loss]).stages
    assert stage.where == "compiled"
    assert stage.operators > 15


def test_an_operator_whose_result_depends_on_values_runs_on_the_host():
    x = fluid.data("x", [None], "float32")
    twice = x * 2.0
    places = fluid.layers.where(twice > 1.0)
    after = fluid.layers.cast(places, "float32") + 1.0
    feed = {"x": np.array([0.1, 1, 0.2, 3], "float32")}
    exe = fluid.Executor(backend="jax")
    for _ in range(2):
        (found,) = exe.run(feed=feed, fetch_list=[after])
    assert found[:, 0].tolist() == [2, 4]
    stages = [str(stage) for stage in exe.plan(fetch_list=[after]).stages]
    assert [text.split(":")[0] for text in stages] == ["compiled", "host", "compiled"]
    assert stages[1].startswith("host: where_index: it needs values that are known when")


def test_a_label_out_of_range_is_refused_with_the_users_line_and_nothing_changes():
    loss = network()
    _, exe, scope = trained("jax", loss, batches(2))
    before = parameters(scope)
    wrong = dict(batches(1)[0], y=np.full([ROWS, 1], 9))
    with pytest.raises(OutOfRangeError, match=r"label in \[0, 4\), got 9[^$]*test_running.py:\d+"):
        exe.run(feed=wrong, fetch_list=[loss], scope=scope)
    for name, value in parameters(scope).items():
        np.testing.assert_array_equal(value, before[name])
    exe.run(feed=batches(1)[0], fetch_list=[loss], scope=scope)
    assert len(exe.plan(fetch_list=[loss]).stages) == 1


def test_shapes_that_do_not_fit_are_refused_in_the_words_of_numpy():
    x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [None, 3], "float32")
    total = x + y
    feed = {"x": np.ones([2, 3], "float32"), "y": np.ones([5, 3], "float32")}
    said = []
    for backend in ("numpy", "jax"):
        with pytest.raises(FluidError) as info:
            fluid.Executor(backend=backend).run(feed=feed, fetch_list=[total])
        said.append(str(info.value))
    assert said[0] == said[1]


def test_a_value_that_is_not_finite_is_traced_to_its_operator_and_nothing_changes():
    loss = network()
    _, exe, scope = trained("jax", loss, batches(2))
    before = parameters(scope)
    wrong = dict(batches(1)[0], x=np.full([ROWS, 8], np.nan, "float32"))
    with pytest.raises(NonFiniteError, match="mul.*fc_0.tmp_0"):
        exe.run(feed=wrong, fetch_list=[loss], scope=scope, check_nan_inf=True)
    for name, value in parameters(scope).items():
        np.testing.assert_array_equal(value, before[name])


class Two(OneProcess):
    """A group with another process, which waits for what this one sends."""

    size = 2


def test_a_run_that_others_take_part_in_is_refused_at_its_end():
    x = fluid.data("x", [2], "float32")
    y = layers.log(x)
    exe = fluid.Executor(backend="jax")
    with groups.guard(Two()), pytest.raises(NonFiniteError, match="^log: .* infinity"):
        exe.run(feed={"x": np.zeros(2, "float32")}, fetch_list=[y], check_nan_inf=True)


def test_random_numbers_depend_on_the_seed_the_run_and_the_name_only():
    fluid.default_main_program().random_seed = 7
    first = fluid.layers.uniform_random([3])
    second = fluid.layers.uniform_random([3])
    runs = []
    for _ in range(2):
        exe = fluid.Executor(backend="jax")
        runs.append([exe.run(fetch_list=[first, second]) for _ in range(2)])
    alone = fluid.Executor(backend="jax").run(fetch_list=[second])[0]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(alone, runs[0][0][1])
    drawn = np.concatenate([each for run in runs[0] for each in run])
    assert len(np.unique(drawn)) == drawn.size


def test_random_numbers_are_those_of_numpy_where_they_are_drawn_on_the_host(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_JAX_RANDOM", "host")
    fluid.default_main_program().random_seed = 7
    loss = network(rate=0.5)
    (mine, exe, _), (right, *_) = (trained(b, loss, batches()) for b in ("jax", "numpy"))
    np.testing.assert_allclose(mine, right, 1e-5)
    assert "dropout: it draws" in "\n".join(map(str, exe.plan(fetch_list=[loss]).stages))


def test_the_environment_chooses_the_backend(monkeypatch, jax):
    monkeypatch.setenv("FLUIDLITE_BACKEND", "jax")
    loss = network()
    _, _, scope = trained(None, loss, batches(1))
    assert isinstance(scope.find_var("fc_0.w_0").value, jax.Array)


def test_double_precision_is_computed_where_it_is_asked_for_and_nothing_is_changed_outside(jax):
    x = fluid.data("x", [None], "float64")
    value = np.array([1 / 3, 2 / 3])
    (found,) = fluid.Executor(backend="jax").run(feed={"x": value}, fetch_list=[x * 3.0])
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, value * 3, 1e-15)
    assert jax.numpy.ones(2).dtype == "float32"


def test_shapes_that_change_in_every_run_are_said_once_with_the_feed_to_pad():
    x = fluid.data("x", [None, 2], "float32")
    other = fluid.data("z", [3], "float32")
    total = layers.reduce_sum(x) + layers.reduce_sum(other)
    exe = fluid.Executor(backend="jax")

    def run(rows):
        feed = {"x": np.ones([rows, 2], "float32"), "z": np.ones(3, "float32")}
        return exe.run(feed=feed, fetch_list=[total])

    for rows in (1, 2, 1, 2, 3, 4):
        run(rows)
    for rows in (5, 6):
        run(rows)
    with pytest.warns(UserWarning, match=r"pad or bucket 'x' \(\[\d, 2\], .* to a few") as said:
        run(7)
    run(8)  # it is said once
    assert len(said) == 1
    assert said[0].filename == __file__
    assert "'z'" not in str(said[0].message)


def test_buckets_that_come_one_after_the_other_are_not_warned_of():
    x = fluid.data("x", [None, 2], "float32")
    total = layers.reduce_sum(x)
    exe = fluid.Executor(backend="jax")
    for rows in (1, 2, 3, 4, 5, 6, 7, 8):
        for _ in range(2):
            feed = {"x": np.ones([rows, 2], "float32")}
            assert exe.run(feed=feed, fetch_list=[total])[0] == 2 * rows


def test_functions_of_many_shapes_are_let_go(monkeypatch):
    from fluidlite.runtime.xla import stage

    monkeypatch.setattr(stage, "MOST_SHAPES", 3)
    made = []
    jit = stage.jax.jit
    monkeypatch.setattr(stage.jax, "jit", lambda *a, **how: made.append(a) or jit(*a, **how))
    x = fluid.data("x", [None, 2], "float32")
    total = layers.reduce_sum(x)
    exe = fluid.Executor(backend="jax")
    for rows in (1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 1):
        feed = {"x": np.ones([rows, 2], "float32")}
        for _ in range(2):
            assert exe.run(feed=feed, fetch_list=[total])[0] == 2 * rows
    assert len(made) > 2


def test_compiled_functions_are_kept_between_processes_where_a_folder_is_named(tmp_path):
    script = (
        "import numpy as np, fluidlite as fluid\n"
        "x = fluid.data('x', [None, 8], 'float32')\n"
        "y = fluid.layers.softmax(fluid.layers.matmul(x, x, transpose_y=True))\n"
        "feed = {'x': np.ones([64, 8], 'float32')}\n"
        "fluid.Executor(backend='jax').run(feed=feed, fetch_list=[y])\n"
    )
    root = str(Path(fluid.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "FLUIDLITE_JAX_CACHE": str(tmp_path)}
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert list(tmp_path.iterdir())


def test_importing_the_package_does_not_read_jax():
    script = (
        "import sys, fluidlite as fluid\n"
        "x = fluid.layers.fill_constant([2], 'float32', 1.0)\n"
        "fluid.Executor().run(fetch_list=[x])\n"
        "assert 'jax' not in sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(fluid.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_a_device_that_is_not_there_is_refused_with_what_to_install():
    with pytest.raises(FluidError, match=r"CUDAPlace\(0\).*fluidlite\[jax\]"):
        fluid.Executor(fluid.CUDAPlace(0))


@pytest.mark.parametrize("name", ["FLUIDLITE_BACKEND", "FLUIDLITE_JAX_RANDOM"])
def test_an_environment_that_says_something_else_is_refused(monkeypatch, name):
    monkeypatch.setenv(name, "torch")
    with pytest.raises(ArgumentError, match=f"expected {name} to be .*, got 'torch'"):
        fluid.Executor(backend=None if name == "FLUIDLITE_BACKEND" else "jax")


def test_parameters_that_a_program_only_reads_stay_on_the_device_too():
    x = fluid.data("x", [None, 3], "float32")
    y = fluid.layers.fc(x, 2, param_attr="w")
    exe = fluid.Executor(backend="jax")
    exe.run(fluid.default_startup_program())
    weight = fluid.global_scope().find_var("w")
    weight.get_tensor().set(np.arange(6, dtype="float32").reshape(3, 2), fluid.CPUPlace())
    feed = {"x": np.eye(3, dtype="float32")}
    for _ in range(3):
        (found,) = exe.run(feed=feed, fetch_list=[y])
        np.testing.assert_array_equal(found, np.arange(6).reshape(3, 2))
    assert not isinstance(weight.value, np.ndarray)
    weight.get_tensor().set(np.ones((3, 2), "float32"), fluid.CPUPlace())
    (found,) = exe.run(feed=feed, fetch_list=[y])
    np.testing.assert_array_equal(found, np.ones((3, 2)))


def test_a_prepared_run_is_bound_as_a_run_is_and_sees_what_changes():
    fluid.default_startup_program().random_seed = 5
    x = fluid.data("x", [None, 3], "float32")
    kept = layers.dropout(x, 0.5)
    loss = layers.mean(layers.square(layers.fc(kept, 2, param_attr="w", bias_attr=False)))
    fluid.optimizer.Adam(0.1).minimize(loss)
    feed, wide = (np.ones([n, 3], "float32") for n in (2, 5))
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    exe = fluid.Executor(backend="jax")
    turns = [{"x": feed}] * 4 + [{"x": wide}] * 2 + [{"x": feed}] * 2

    def losses(run):
        exe.run(startup)
        exe.set_random_state(main, {"seed": 3, "run": 0})
        return [run(fed)[0].item() for fed in turns]

    step = exe.prepare(feed_names=["x"], fetch_list=[loss])
    expected = losses(lambda fed: exe.run(feed=fed, fetch_list=[loss]))
    np.testing.assert_array_equal(losses(step), expected)
    fluid.global_scope().find_var("w").get_tensor().set(np.zeros((3, 2), "float32"))
    assert step({"x": feed})[0].item() == 0
    fluid.global_scope().erase(["w"])
    with pytest.raises(FluidError, match="'w' has no value"):
        step({"x": feed})
    exe.close()
    with pytest.raises(FluidError, match="closed"):
        step({"x": feed})


def test_a_recurrent_network_is_bound_as_others_are():
    x = fluid.data("x", [6, 2, 4], "float32")
    rnn = layers.StaticRNN()
    with rnn.step():
        word = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 3], batch_ref=word)
        hidden = layers.fc([word, before], 3, act="tanh", bias_attr=False)
        rnn.update_memory(before, hidden)
        rnn.step_output(hidden)
    loss = layers.mean(rnn())
    fluid.optimizer.Adam(0.01).minimize(loss)
    feed = {"x": np.random.default_rng(0).normal(size=[6, 2, 4]).astype("float32")}
    _, exe, scope = trained("jax", loss, [feed] * 2)
    plan = exe.plan(fluid.default_main_program(), [loss])
    ((_, call),) = plan.bound.of(scope).values()
    assert call is not None and call.takes(feed)
    mine, _, _ = trained("jax", loss, [feed] * 4)
    right, _, _ = trained("numpy", loss, [feed] * 4)
    np.testing.assert_allclose(mine, right, 1e-5)
