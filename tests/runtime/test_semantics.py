"""What users rely on, whether a program is interpreted or specialised: each is run often enough to
be both.
"""

import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FluidWarning

layers = fluid.layers
RUNS = range(5)  # the first is interpreted, the third runs what was written


def rows(count, width=300, value=None):
    """An array of plenty of elements, so that results lie in planned buffers."""
    if value is not None:
        return np.full([count, width], value, "float32")
    return np.random.default_rng(count).normal(size=[count, width]).astype("float32")


def test_a_fed_array_is_not_written_where_results_could_take_its_place():
    """Nothing reads x after the first operator, whose result has its size."""
    x = fluid.data("x", [None, 300], "float32")
    out = layers.scale(layers.relu(layers.tanh(layers.scale(x, 3.0))), 0.5)
    exe = fluid.Executor()
    given = rows(20)
    kept = given.copy()
    for _ in RUNS:
        exe.run(feed={"x": given}, fetch_list=[out])
        np.testing.assert_array_equal(given, kept)


def test_a_fed_parameter_is_a_copy_and_what_was_fed_is_not_updated():
    x = fluid.data("x", [20, 300], "float32")
    loss = layers.mean(layers.fc(x, 200, bias_attr=False))
    fluid.optimizer.SGD(1.0).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    weights = rows(300, 200)
    kept = weights.copy()
    for _ in RUNS:
        exe.run(feed={"x": rows(20), "fc_0.w_0": weights}, fetch_list=[loss])
        np.testing.assert_array_equal(weights, kept)
        held = fluid.global_scope().find_var("fc_0.w_0").value
        assert not np.shares_memory(held, weights)
        assert (np.asarray(held) != kept).any()


def test_a_fetched_feed_is_a_copy():
    x = fluid.data("x", [20, 300], "float32")
    out = layers.relu(x)
    exe = fluid.Executor()
    given = rows(20)
    for _ in RUNS:
        back, result = exe.run(feed={"x": given}, fetch_list=["x", out])
        np.testing.assert_array_equal(back, given)
        assert not np.shares_memory(back, given)
        assert not np.shares_memory(result, given)
        back[:] = 0  # and belongs to whoever fetched it
        result[:] = 0


def test_a_variable_fetched_twice_or_under_two_names_gives_arrays_of_its_own():
    x = fluid.data("x", [20, 300], "float32")
    y = layers.scale(x, 2.0)
    same = layers.assign(y)
    exe = fluid.Executor()
    for _ in RUNS:
        found = exe.run(feed={"x": rows(20)}, fetch_list=[y, y, same])
        found[0][:] = 0
        np.testing.assert_array_equal(found[1], rows(20) * 2)
        np.testing.assert_array_equal(found[2], rows(20) * 2)


def test_a_view_of_a_feed_that_is_kept_does_not_follow_the_feed():
    """reshape gives a view; what is kept in the scope must not change with the fed array."""
    x = fluid.data("x", [20, 300], "float32")
    kept = layers.create_global_var([300, 20], 0.0, "float32", persistable=True, name="kept")
    layers.assign(layers.reshape(x, [300, 20]), kept)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in RUNS:
        given = rows(20)
        exe.run(feed={"x": given})
        given[:] = 7
        held = np.array(fluid.global_scope().find_var("kept").get_tensor())
        np.testing.assert_array_equal(held, rows(20).reshape(300, 20))


def test_another_element_type_is_noticed():
    x = fluid.data("x", [None, 300], "float32")
    out = layers.scale(layers.square(x), 0.5)
    exe = fluid.Executor()
    for dtype in ("float32", "float64", "float32"):
        x.declare(dtype=dtype)
        for _ in RUNS:
            (found,) = exe.run(feed={"x": rows(3).astype(dtype)}, fetch_list=[out])
            assert found.dtype == dtype
            np.testing.assert_allclose(found, rows(3).astype(dtype) ** 2 / 2, rtol=1e-6)


def test_another_scope_has_other_parameters():
    x = fluid.data("x", [4, 300], "float32")
    out = layers.fc(x, 100, bias_attr=False)
    exe = fluid.Executor()
    scopes = [fluid.Scope() for _ in range(3)]
    for k, scope in enumerate(scopes):
        exe.run(fluid.default_startup_program(), scope=scope)
        scope.find_var("fc_0.w_0").get_tensor().set(rows(300, 100, float(k)))
    for _ in RUNS:
        for k, scope in enumerate(scopes):
            (found,) = exe.run(feed={"x": rows(4, 300, 1.0)}, fetch_list=[out], scope=scope)
            assert (found == 300 * k).all()


def test_a_parameter_of_another_shape_is_noticed():
    x = fluid.data("x", [4, 300], "float32")
    w = layers.create_parameter([300, 10], "float32", attr="w")
    out = layers.matmul(x, w)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for width in (10, 1, 10):
        fluid.global_scope().find_var("w").get_tensor().set(rows(300, width, 1.0))
        warns = pytest.warns(FluidWarning, match=r"'w' is declared with shape \[300, 10\]")
        with warns if width == 1 else nullcontext():
            run = exe.run(feed={"x": rows(4, 300, 1.0)}, fetch_list=[out])
        assert run[0].shape == (4, width)
        for _ in RUNS:
            assert exe.run(feed={"x": rows(4, 300, 1.0)}, fetch_list=[out])[0].shape == (4, width)


def test_a_changed_block_of_a_loop_or_branch_is_noticed():
    x = fluid.data("x", [4, 300], "float32")
    yes = layers.fill_constant([1], "bool", True)
    out = layers.cond(yes, lambda: layers.scale(x, 2.0), lambda: x)
    exe = fluid.Executor()
    main = fluid.default_main_program()
    inner = next(op for block in main.blocks[1:] for op in block.ops if op.type == "scale")
    for factor in (2.0, 5.0, -1.0):
        inner.set_attr("scale", factor)
        for _ in RUNS:
            (found,) = exe.run(feed={"x": rows(4)}, fetch_list=[out])
            np.testing.assert_array_equal(found, rows(4) * np.float32(factor))


def test_an_appended_operator_is_noticed():
    x = fluid.data("x", [4, 300], "float32")
    out = layers.scale(x, 2.0)
    exe = fluid.Executor()
    for times in (2, 4, 8):
        for _ in RUNS:
            (found,) = exe.run(feed={"x": rows(4)}, fetch_list=[out])
            np.testing.assert_array_equal(found, rows(4) * np.float32(times))
        layers.assign(layers.scale(out, 2.0), out)


def test_other_sequence_lengths_and_none_are_noticed():
    x = fluid.data("x", [None, 3], "float32", lod_level=1)
    out = layers.scale(x, 2.0)
    exe = fluid.Executor()
    values = np.arange(15, dtype="float32").reshape(5, 3)
    for lengths in ([2, 3], [4, 1], [2, 3]):
        given = fluid.create_lod_tensor(values, [lengths], fluid.CPUPlace())
        for _ in RUNS:
            (found,) = exe.run(feed={"x": given}, fetch_list=[out], return_numpy=False)
            assert found.recursive_sequence_lengths() == [lengths]
            np.testing.assert_array_equal(np.array(found), values * 2)
    for _ in RUNS:
        (found,) = exe.run(feed={"x": values}, fetch_list=[out], return_numpy=False)
        assert found.recursive_sequence_lengths() == []


def everything():
    """Copies of all that is in the global scope."""
    return {v.name: np.array(v.get_tensor()) for v in fluid.global_scope() if v.is_initialized}


@pytest.mark.parametrize(
    "optimizer", [fluid.optimizer.Momentum(0.1, 0.9), fluid.optimizer.Adam(0.1)], ids=type
)
@pytest.mark.parametrize("kernels", ["numpy", "auto"])
def test_an_error_in_the_middle_of_a_step_changes_nothing(optimizer, kernels, monkeypatch):
    """The optimizer of the first layer may run before the look-up that fails."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", kernels)
    x = fluid.data("x", [8, 300], "float32")
    ids = fluid.data("ids", [8, 1], "int64")
    step = layers.autoincreased_step_counter()
    first = layers.mean(layers.square(layers.fc(x, 50, act="tanh")))
    optimizer.minimize(first)
    late = layers.reduce_sum(layers.gather(layers.fc(x, 50), ids))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    good = {"x": rows(8), "ids": np.zeros([8, 1], "int64")}
    bad = {"x": rows(8), "ids": np.full([8, 1], 99)}
    for _ in range(3):
        for _ in RUNS:
            exe.run(feed=good, fetch_list=[late])
        before = everything()
        with pytest.raises(IndexError, match="gather"):
            exe.run(feed=bad, fetch_list=[late, step])
        with pytest.raises(IndexError, match="gather"):
            exe.run(feed=bad, fetch_list=[late])
        after = everything()
        assert before.keys() == after.keys()
        for name, value in before.items():
            np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_without_the_cache_every_run_plans_anew_and_computes_the_same():
    x = fluid.data("x", [8, 300], "float32")
    loss = layers.mean(layers.square(layers.fc(x, 50)))
    fluid.optimizer.SGD(0.1).minimize(loss)
    main = fluid.default_main_program()
    main.random_seed = fluid.default_startup_program().random_seed = 3
    losses = {}
    for cached in (True, False):
        exe, scope = fluid.Executor(), fluid.Scope()
        exe.run(fluid.default_startup_program(), scope=scope)
        losses[cached] = [
            exe.run(main, {"x": rows(8)}, [loss], scope=scope, use_program_cache=cached)[0].item()
            for _ in RUNS
        ]
        assert bool(exe._known(main).plans) == cached
    np.testing.assert_allclose(losses[False], losses[True], rtol=1e-5)


def test_without_return_numpy_tensors_are_given_that_belong_to_whoever_asked():
    x = fluid.data("x", [8, 300], "float32")
    out = layers.relu(layers.scale(x, 2.0))
    exe = fluid.Executor()
    found = [
        exe.run(feed={"x": rows(8, value=float(k))}, fetch_list=[out, "x"], return_numpy=False)
        for k in RUNS
    ]
    for k, (tensor, fed) in enumerate(found):
        assert isinstance(tensor, fluid.LoDTensor)
        assert (np.array(tensor) == 2 * k).all()
        assert (np.array(fed) == k).all()
        tensor.set(np.zeros([1, 1], "float32"))


def test_fetching_now_and_then_does_not_disturb_the_training():
    def losses(fetch_every):
        main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
        main.random_seed = startup.random_seed = 3
        with fluid.unique_name.guard(), fluid.program_guard(main, startup):
            x = fluid.data("x", [8, 300], "float32")
            hidden = layers.dropout(layers.fc(x, 50, act="tanh"), 0.3)
            loss = layers.mean(layers.square(hidden))
            fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
        exe = fluid.Executor()
        exe.run(startup, scope=scope)
        for k in range(12):
            wanted = [loss] if k % fetch_every == fetch_every - 1 else []
            found = exe.run(main, {"x": rows(8)}, wanted, scope=scope)
        weights = [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]
        return [found[0], *weights]

    want = losses(1)
    for every in (3, 12):
        for mine, other in zip(losses(every), want, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-7)


def test_threads_that_train_one_program_at_once_in_scopes_of_their_own():
    """They share the plan and its functions, not the buffers."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 300], "float32")
        loss = layers.mean(layers.square(layers.fc(x, 80, act="tanh")))
        fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    exe = fluid.Executor()

    def scope_of(k):
        scope = fluid.Scope()
        exe.run(startup, scope=scope)
        scope.find_var("fc_0.w_0").get_tensor().set(rows(300, 80) * np.float32(0.1 + 0.02 * k))
        return scope

    def train(k, scope):
        return [exe.run(main, {"x": rows(16)}, [loss], scope=scope)[0].item() for _ in range(25)]

    alone = [train(k, scope_of(k)) for k in range(4)]
    scopes, found = [scope_of(k) for k in range(4)], {}
    threads = [
        threading.Thread(target=lambda k=k: found.setdefault(k, train(k, scopes[k])))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_allclose(found[k], alone[k], rtol=1e-4)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_ten_thousand_runs_leave_resident_memory_as_it_is():
    """In a process of its own: 1 MB is less than what other tests leave behind."""
    code = """
import resource
import numpy as np
import fluidlite as fluid

x = fluid.data("x", [4, 20], "float32")
hidden = fluid.layers.dropout(fluid.layers.fc(x, 10, act="relu"), 0.2)
loss = fluid.layers.mean(fluid.layers.square(hidden))
fluid.optimizer.Adam(0.01).minimize(loss)
exe = fluid.Executor()
exe.run(fluid.default_startup_program())
feed = {"x": np.ones([4, 20], "float32")}

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def run(times):
    for _ in range(times):
        exe.run(feed=feed, fetch_list=[loss])

run(1000)
before = resident()
run(10000)
print(resident() - before)
"""
    root = Path(fluid.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    assert int(found.stdout) < 1 << 20
