"""Times of operators by line: interpreted, specialised, in blocks; tables and trace files."""

import json
import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import profiler

layers = fluid.layers
FEED = {"x": np.random.default_rng(0).normal(size=[8, 4]).astype("float32")}


def net():
    x = fluid.data("x", [None, 4], "float32")
    hidden = layers.fc(x, 3, act="tanh")
    loss = layers.mean(layers.square(hidden))
    fluid.optimizer.SGD(0.1).minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    return loss


def loop():
    x = fluid.data("x", [8, 4], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    found = layers.while_loop(
        lambda i, y: layers.less_than(i, n),
        lambda i, y: [layers.increment(i), layers.square(y)],
        [i, x],
    )
    return found[1]


def test_an_executor_that_does_not_profile_has_no_profile():
    assert fluid.Executor().profile is None


def test_operators_are_counted_by_type_and_line_whether_interpreted_or_compiled():
    loss = net()
    exe = fluid.Executor(profile=True)
    for _ in range(5):
        exe.run(feed=FEED, fetch_list=[loss])
    rows = {row.type: row for row in exe.profile.rows()}
    assert {"mul", "elementwise_add", "tanh", "square", "mean", "tanh_grad", "sgd"} <= rows.keys()
    assert rows["tanh"].calls == 5
    assert rows["sgd"].calls == 10  # of the weights and of the bias
    assert rows["tanh"].memory == 8 * 3 * 4
    assert rows["tanh"].line.startswith(__file__)
    for row in rows.values():
        assert 0 < row.min <= row.ave <= row.max <= row.total
    assert exe.profile.runs == 5
    assert sum(row.total for row in rows.values()) <= exe.profile.run_time


def test_profiling_does_not_change_what_is_computed():
    loss = net()
    fluid.default_main_program().random_seed = 1
    start = {v.name: np.array(v.get_tensor()) for v in fluid.global_scope()}
    losses = []
    for profile in (False, True):
        scope = fluid.Scope()
        for name, value in start.items():
            scope.var(name).get_tensor().set(value)
        exe = fluid.Executor(profile=profile)
        losses.append([exe.run(feed=FEED, fetch_list=[loss], scope=scope)[0] for _ in range(5)])
    np.testing.assert_array_equal(*losses)


def test_a_prepared_run_is_counted_too():
    loss = net()
    exe = fluid.Executor(profile=True)
    step = exe.prepare(feed_names=["x"], fetch_list=[loss])
    for _ in range(5):
        step(FEED)
    assert exe.profile.runs == 5


@pytest.mark.parametrize("key", ["calls", "total", "max", "min", "ave"])
def test_rows_are_sorted_the_largest_first(key):
    loss = net()
    exe = fluid.Executor(profile=True)
    exe.run(feed=FEED, fetch_list=[loss])
    values = [getattr(row, key) for row in exe.profile.rows(key)]
    assert values == sorted(values, reverse=True)
    assert exe.profile.table(key) == exe.profile.table(key)


def test_the_table_has_a_line_for_each_operator_and_line():
    loss = net()
    exe = fluid.Executor(profile=True)
    exe.run(feed=FEED, fetch_list=[loss])
    lines = str(exe.profile).splitlines()
    assert lines[0].startswith("1 runs of programs, ")
    assert " ".join(lines[2].split()) == "operator line calls total share min max ave writes"
    assert len(lines) == 4 + len(exe.profile.rows())
    assert len({len(line) for line in lines[2:]}) == 1
    assert any("test_profiler.py:" in line and line.startswith("tanh ") for line in lines)


def test_the_trace_is_made_of_events_that_lie_inside_each_other(tmp_path):
    found = loop()
    exe = fluid.Executor(profile=True)
    for _ in range(3):
        exe.run(feed=FEED, fetch_list=[found])
    path = tmp_path / "trace.json"
    exe.profile.save(path)
    trace = json.loads(path.read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {event["cat"] for event in events} == {"run", "operator", "plan"}
    for event in events:
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
    runs = [e for e in events if e["cat"] == "run"]
    assert len(runs) == 3
    for event in events:
        assert any(inside(event, run) for run in runs)
    loops = [e for e in events if e["name"] == "while"]
    squares = [e for e in events if e["name"] == "square"]
    assert any(inside(square, each) for square in squares for each in loops)
    (operator,) = {e["args"]["line"].rpartition(":")[0] for e in squares}
    assert operator == __file__


def inside(event, other, rounding=0.01):
    begins = other["ts"] - rounding <= event["ts"]
    return begins and event["ts"] + event["dur"] <= other["ts"] + other["dur"] + rounding


def test_start_stop_and_reset_measure_all_executors(tmp_path, capsys):
    loss = net()
    exe = fluid.Executor()
    profiler.start_profiler("CPU")
    exe.run(feed=FEED, fetch_list=[loss])
    profiler.reset_profiler()
    exe.run(feed=FEED, fetch_list=[loss])
    fluid.Executor().run(feed=FEED, fetch_list=[loss])
    path = tmp_path / "deep" / "trace"
    profiler.stop_profiler("calls", str(path))
    printed = capsys.readouterr().out
    assert printed.startswith("2 runs of programs, ")
    assert "tanh_grad" in printed
    assert json.loads(path.read_text())["traceEvents"]
    exe.run(feed=FEED, fetch_list=[loss])
    profiler.stop_profiler()  # nothing is measured, nothing is printed
    assert not capsys.readouterr().out


def test_the_context_prints_and_writes_also_where_the_block_fails(tmp_path, capsys):
    loss = net()
    exe = fluid.Executor()
    path = tmp_path / "trace"
    with pytest.raises(KeyError, match="mine"):
        with profiler.profiler("All", "total", str(path)) as profile:
            exe.run(feed=FEED, fetch_list=[loss])
            assert profile.runs == 1
            raise KeyError("mine")
    assert "tanh" in capsys.readouterr().out
    assert path.exists()
    assert profile.runs == 1
    with profiler.profiler("CPU", None, str(path)):
        pass
    assert "0 runs of programs" in capsys.readouterr().out


def test_an_executor_with_a_profile_of_its_own_records_there(tmp_path, capsys):
    loss = net()
    exe = fluid.Executor(profile=True)
    with profiler.profiler("CPU", None, str(tmp_path / "trace")) as shared:
        exe.run(feed=FEED, fetch_list=[loss])
        assert shared.runs == 0
    assert exe.profile.runs == 1


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: profiler.start_profiler("TPU"), "state to be one of 'CPU', 'GPU', 'All', got 'T"),
        (lambda: profiler.start_profiler("CPU", "Some"), "tracer_option to be one of 'Default'"),
        (lambda: profiler.stop_profiler("length"), "sorted_key to be one of None, 'calls'"),
        (lambda: profiler.Profile().table("length"), "sorted_key to be one of None, 'calls'"),
        (lambda: profiler.profiler("CPU", "length").__enter__(), "sorted_key to be one of None"),
    ],
)
def test_other_values_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_failing_run_keeps_what_was_measured_before():
    x = fluid.data("x", [None, 4], "float32")
    y = fluid.data("y", [None, 4], "float32")
    out = layers.elementwise_add(layers.tanh(x), y)
    exe = fluid.Executor(profile=True)
    with pytest.raises(ValueError, match="elementwise_add"):
        exe.run(feed={"x": FEED["x"], "y": FEED["x"][:3]}, fetch_list=[out])
    assert [row.type for row in exe.profile.rows()] == ["tanh"]
    assert exe.profile.runs == 1


def test_several_threads_have_lines_of_their_own():
    loss = net()
    test = fluid.default_main_program().clone(for_test=True)
    exe = fluid.Executor(profile=True)
    begin = threading.Barrier(3)

    def work():
        begin.wait()
        for _ in range(4):
            exe.run(test, FEED, [loss.name])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert exe.profile.runs == 12
    assert {r.type: r.calls for r in exe.profile.rows()}["tanh"] == 12
    events = exe.profile.chrome_trace()["traceEvents"]
    assert len({e["tid"] for e in events if e["ph"] == "X"}) == 3


def test_cuda_is_not_measured():
    with pytest.warns(UserWarning, match="there is no CUDA"):
        with profiler.cuda_profiler("nowhere.txt"):
            pass


def test_times_are_microseconds():
    profile = profiler.Profile()
    fluid.layers.fill_constant([2], "float32", 1.0)
    (op,) = fluid.default_main_program().global_block().ops
    profile.add(op, 1_000, 6_000, 8)
    profile.add(op, 6_000, 7_000, 4)
    (row,) = profile.rows()
    assert (row.calls, row.total, row.min, row.max, row.memory) == (2, 6.0, 1.0, 5.0, 8)
