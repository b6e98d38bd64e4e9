"""What a compiled plan must not bend: feeds, fetches, scopes, changes, errors, threads."""

import threading
import tracemalloc

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime.segment import Segment

layers = fluid.layers


def big_net(size=64):
    """A net large enough that its values lie in planned buffers."""
    x = fluid.data("x", [size, 256], "float32")
    hidden = layers.fc(x, 256, act="relu")
    out = layers.fc(hidden, 256, act="tanh")
    loss = layers.mean(layers.square(out))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.random.default_rng(0).normal(size=[size, 256]).astype("float32")}
    return exe, feed, out, loss


def functions(exe, program=None):
    """The functions that an executor has made for a program."""
    runs = exe._known(program or fluid.default_main_program())
    return [
        f
        for plan in runs.plans.values()
        for item in plan.items
        if isinstance(item, Segment)
        for f in item.functions.values()
        if hasattr(f, "source")
    ]


def test_the_source_reads_as_numpy_with_the_users_lines():
    exe, feed, _, loss = big_net()
    for _ in range(3):
        exe.run(feed=feed, fetch_list=[loss])
    (made,) = functions(exe)
    assert made.source.startswith("def run(B, D, G, ")
    assert "# matmul, test_compile.py:" in made.source


def test_a_read_only_feed_is_never_written():
    exe, feed, out, loss = big_net()
    feed["x"].flags.writeable = False
    kept = feed["x"].copy()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[out, loss])
    np.testing.assert_array_equal(feed["x"], kept)


def test_what_was_fetched_does_not_change_when_the_program_runs_again():
    exe, feed, out, loss = big_net()
    fetched = [exe.run(feed=feed, fetch_list=[out, loss, "x", "fc_0.w_0"]) for _ in range(5)]
    kept = [[v.copy() for v in values] for values in fetched]
    exe.run(feed=feed, fetch_list=[out])
    for values, copies in zip(fetched, kept, strict=True):
        for value, copied in zip(values, copies, strict=True):
            np.testing.assert_array_equal(value, copied)


def test_what_was_read_from_the_scope_does_not_change_when_the_program_runs_again():
    exe, feed, _, _ = big_net()
    for _ in range(3):
        exe.run(feed=feed)
    variable = fluid.global_scope().find_var("fc_0.w_0")
    tensor, array = variable.get_tensor(), variable.get_tensor().data
    view, kept = array[:2], array.copy()
    for _ in range(3):
        exe.run(feed=feed)
    np.testing.assert_array_equal(array, kept)
    np.testing.assert_array_equal(view, kept[:2])
    assert (np.array(tensor) != kept).any()


def test_training_is_the_same_with_and_without_specialised_plans(monkeypatch):
    exe, feed, _, loss = big_net()
    start = {v.name: np.array(v.get_tensor()) for v in fluid.global_scope()}
    specialised = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(12)]
    scope = fluid.Scope()
    for name, value in start.items():
        scope.var(name).get_tensor().set(value)
    monkeypatch.setattr("fluidlite.runtime.session.function_for", lambda *args: None)
    plain = fluid.Executor()
    interpreted = [
        plain.run(feed=feed, fetch_list=[loss], scope=scope)[0].item() for _ in range(12)
    ]
    np.testing.assert_allclose(specialised, interpreted, rtol=1e-5)
    assert functions(exe)
    assert not functions(plain)


def test_a_changed_attribute_shape_or_scope_is_noticed():
    x = fluid.data("x", [None, 3], "float32")
    out = layers.scale(layers.square(x), 2.0)
    exe = fluid.Executor()
    ones = np.ones([4, 3], "float32")
    for _ in range(4):
        assert exe.run(feed={"x": ones}, fetch_list=[out])[0].max() == 2
    for rows in (2, 7):
        for _ in range(4):
            assert (
                exe.run(feed={"x": ones[:1].repeat(rows, 0)}, fetch_list=[out])[0].shape[0] == rows
            )
    out.op.set_attr("scale", 3.0)
    for _ in range(4):
        assert exe.run(feed={"x": ones}, fetch_list=[out])[0].max() == 3


def test_an_error_in_a_specialised_run_names_the_operator_and_changes_nothing():
    ids = fluid.data("ids", [4, 1], "int64")
    loss = layers.mean(layers.embedding(ids, size=[5, 3]))
    fluid.optimizer.Adam(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    good = {"ids": np.array([[0], [1], [2], [4]])}
    for _ in range(4):
        exe.run(feed=good)
    before = {v.name: np.array(v.get_tensor()) for v in fluid.global_scope()}
    with pytest.raises(IndexError, match=r"(?s)lookup_table: expected Ids in \[0, 5\), got 9.*at"):
        exe.run(feed={"ids": np.array([[0], [1], [2], [9]])})
    for name, value in before.items():
        np.testing.assert_array_equal(
            np.array(fluid.global_scope().find_var(name).get_tensor()), value
        )


def test_two_threads_run_one_program_at_once():
    exe, feed, out, _ = big_net()
    test = fluid.default_main_program().clone(for_test=True)
    inputs = [np.full_like(feed["x"], k) for k in range(4)]
    want = [exe.run(test, {"x": v}, [out.name])[0] for v in inputs]
    for v in inputs:
        exe.run(test, {"x": v}, [out.name])
    wrong = []

    def work(k):
        for _ in range(20):
            found = exe.run(test, {"x": inputs[k]}, [out.name])[0]
            if not np.allclose(found, want[k], rtol=1e-5, atol=1e-6):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_py_func_may_run_the_program_that_it_stands_in():
    x = fluid.data("x", [32, 128], "float32")
    depth = []
    middle = layers.square(x) * 2.0
    out = fluid.default_main_program().current_block().create_var("out", "float32", [32, 128])
    exe = fluid.Executor()

    def again(value):
        if len(depth) < 3:
            depth.append(1)
            inner = exe.run(feed={"x": np.full([32, 128], 3.0, "float32")}, fetch_list=[end])[0]
            assert inner[0, 0] == 19.0
            depth.pop()
        return np.asarray(value) + 1.0

    layers.py_func(func=again, x=middle, out=out)
    end = layers.scale(out, 1.0)
    for _ in range(4):
        found = exe.run(feed={"x": np.ones([32, 128], "float32")}, fetch_list=[end])[0]
        assert (found == 3.0).all()


def test_dropout_and_random_operators_draw_as_interpreted_ones_do():
    fluid.default_main_program().random_seed = 9
    x = fluid.data("x", [8, 4], "float32")
    out = layers.dropout(x, 0.5) + layers.uniform_random([8, 4])
    feed = {"x": np.ones([8, 4], "float32")}
    exe = fluid.Executor()
    specialised = [exe.run(feed=feed, fetch_list=[out])[0] for _ in range(5)]
    fluid.set_flags({"FLAGS_check_nan_inf": True})  # interprets
    plain = fluid.Executor()
    interpreted = [plain.run(feed=feed, fetch_list=[out])[0] for _ in range(5)]
    np.testing.assert_array_equal(specialised, interpreted)


def test_many_runs_leave_memory_as_it_is(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "1")  # nothing is made for other numbers meanwhile
    exe, feed, _, loss = big_net()
    for _ in range(6):
        exe.run(feed=feed, fetch_list=[loss])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(60):
        exe.run(feed=feed, fetch_list=[loss])
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000


def test_a_loop_body_is_specialised_too():
    x = fluid.data("x", [16, 64], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 6)
    y = layers.scale(x, 1.0)
    cond = layers.less_than(i, n)
    with layers.While(cond).block():
        layers.assign(layers.tanh(y) * 2.0, y)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=cond)
    exe = fluid.Executor()
    given = np.random.default_rng(0).normal(size=[16, 64]).astype("float32")
    want = given
    for _ in range(6):
        want = np.tanh(want) * np.float32(2.0)
    for _ in range(4):
        found = exe.run(feed={"x": given}, fetch_list=[y])[0]
        np.testing.assert_allclose(found, want, rtol=1e-6)


def test_a_prepared_run_gives_what_run_gives_and_sees_every_change():
    x = fluid.data("x", [None, 3], "float32")
    w = layers.create_parameter([3, 1], "float32", attr="w")
    loss = layers.reduce_sum(layers.square(layers.matmul(x, w)))
    fluid.optimizer.SGD(0.01).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    start = np.array(fluid.global_scope().find_var("w").get_tensor())
    feeds = [{"x": np.full([n, 3], 0.1 * n, "float32")} for n in (2, 2, 2, 2, 5, 5, 5, 5, 2)]
    want = [exe.run(feed=feed, fetch_list=[loss])[0].item() for feed in feeds]
    fluid.global_scope().find_var("w").get_tensor().set(start)
    step = fluid.Executor().prepare(feed_names=["x"], fetch_list=[loss])
    found = [step(feed)[0].item() for feed in feeds]
    np.testing.assert_allclose(found, want, rtol=1e-6)
    fluid.global_scope().find_var("w").get_tensor().set(np.zeros([3, 1], "float32"))
    assert step(feeds[0])[0].item() == 0.0
    with pytest.raises(ValueError, match="declared float32 and was fed float64"):
        step({"x": np.ones([2, 3])})
    with pytest.raises(ValueError, match="no variable 'y' to feed"):
        fluid.Executor().prepare(feed_names=["y"])


def test_a_plan_says_what_it_runs_that_of_loops_included():
    x = fluid.data("x", [2, 2], "float32")
    i = fluid.layers.fill_constant([1], "int64", 0)
    n = fluid.data("n", [1], "int64")
    total = fluid.layers.while_loop(
        lambda i, s: fluid.layers.less_than(i, n),
        lambda i, s: [fluid.layers.increment(i), fluid.layers.matmul(s, x)],
        [i, x],
    )[1]
    exe = fluid.Executor()
    assert "# interpreted: " in exe.plan(fetch_list=[total]).source
    for _ in range(3):
        exe.run(feed={"x": np.eye(2, dtype="float32"), "n": np.array([4])}, fetch_list=[total])
    source = exe.plan(fetch_list=[total]).source
    assert "# runs blocks: " in source
    assert "    def run(" in source
    assert "# matmul, test_compile.py:" in source
    assert "# interpreted: " not in source
