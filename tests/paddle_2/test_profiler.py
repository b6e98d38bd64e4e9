"""``paddle.profiler``: schedules, events, tables and files."""

import json

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite import profiler as own
from fluidlite.errors import ArgumentError, FluidWarning, UnsupportedError, UsageError
from fluidlite.paddle import profiler

S = profiler.ProfilerState


def states(schedule, count):
    return [schedule(step).name for step in range(count)]


def test_a_schedule_leaves_out_waits_and_records():
    schedule = profiler.make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
    period = ["CLOSED", "READY", "RECORD", "RECORD_AND_RETURN"]
    assert states(schedule, 11) == ["CLOSED", *period, *period, "CLOSED", "CLOSED"]
    endless = profiler.make_scheduler(closed=0, ready=0, record=2)
    assert states(endless, 4) == ["RECORD", "RECORD_AND_RETURN"] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"closed": -1, "ready": 0, "record": 1},
        {"closed": 1, "ready": -1, "record": 1},
        {"closed": 1, "ready": 1, "record": 0},
        {"closed": 1, "ready": 1, "record": 1, "repeat": -1},
        {"closed": 1, "ready": 1, "record": 1, "skip_first": -1},
    ],
)
def test_a_schedule_needs_numbers_of_steps(wrong):
    with pytest.raises(AssertionError):
        profiler.make_scheduler(**wrong)


def recorded(steps=5, **options):
    """A profiler of some steps, the states in these, and when there were results."""
    ready = []
    options.setdefault("on_trace_ready", lambda p: ready.append(p.step_num))
    with profiler.Profiler(**options) as each:
        seen = []
        for _ in range(steps):
            seen.append(each.current_state.name)
            with profiler.RecordEvent("mine"):
                x = paddle.ones([3]) + 1.0
                paddle.concat([x * x, paddle.topk(x, 2)[0]])
            each.step(num_samples=4)
    return each, seen, ready


def test_two_numbers_say_which_steps_are_recorded():
    each, seen, ready = recorded(scheduler=(1, 3))
    assert seen == ["READY", "RECORD", "RECORD_AND_RETURN", "CLOSED", "CLOSED"]
    assert ready == [3] and each.current_state is S.CLOSED
    _, seen, ready = recorded(steps=3, scheduler=(0, 2))
    assert seen == ["RECORD", "RECORD_AND_RETURN", "CLOSED"] and ready == [2]


def test_everything_is_recorded_without_a_schedule_and_results_come_at_the_end():
    each, seen, ready = recorded(steps=2)
    assert set(seen) == {"RECORD"} and ready == [2]
    spans = each.profiler_result.spans
    assert [s.name for s in spans if s.kind == "ProfileStep"][:2] == [
        "ProfileStep#0",
        "ProfileStep#1",
    ]
    assert [s.name for s in spans].count("mine") == 2
    assert {s.kind for s in spans if s.name == "mine"} == {"PythonUserDefined"}


def test_the_calls_of_eager_operators_are_recorded_and_only_then():
    x = paddle.ones([3])
    before = (x + x).tolist()
    each, *_ = recorded(steps=3)
    counts = {}
    for span in each.profiler_result.spans:
        if span.kind == "operator":
            counts[span.name] = counts.get(span.name, 0) + 1
    assert counts["elementwise_mul"] == counts["concat"] == counts["top_k_v2"] == 3
    held = len(each.profiler_result.spans)
    assert (x + x).tolist() == before
    assert len(each.profiler_result.spans) == held


def test_operators_of_programs_are_recorded():
    paddle.enable_static()
    x = paddle.static.data("x", [2], "float32")
    y = paddle.tanh(x)
    exe = paddle.static.Executor()
    with profiler.Profiler(on_trace_ready=lambda p: None) as each:
        exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
    assert "tanh" in [row.type for row in each.profiler_result.rows()]


def test_a_new_profile_begins_with_each_return():
    results = []
    schedule = profiler.make_scheduler(closed=0, ready=0, record=1)
    recorded(
        steps=2, scheduler=schedule, on_trace_ready=lambda p: results.append(p.profiler_result)
    )
    first, second, _ = results
    assert first is not second
    assert [s.name for s in second.spans if s.kind == "ProfileStep"] == ["ProfileStep#1"]
    assert own.active.get() is None


def test_files_are_written_for_chrome(tmp_path):
    folder = tmp_path / "new"
    each, *_ = recorded(
        steps=1, on_trace_ready=profiler.export_chrome_tracing(str(folder), "worker")
    )
    (file,) = folder.iterdir()
    assert file.name.startswith("worker_time_") and file.name.endswith(".paddle_trace.json")
    events = json.loads(file.read_text())["traceEvents"]
    assert {"mine", "ProfileStep#0"} <= {event["name"] for event in events}
    each.export(str(tmp_path / "again.json"))
    assert json.loads((tmp_path / "again.json").read_text())["traceEvents"] == events
    with pytest.raises(UnsupportedError):
        each.export(str(tmp_path / "x.pb"), format="pb")


def test_tables_show_what_was_recorded(capsys):
    each, *_ = recorded(steps=2)
    each.summary(sorted_by=profiler.SortedKeys.CPUMax, time_unit="us")
    text = capsys.readouterr().out
    for word in ("Overview, in us", "PythonUserDefined", "Operators", "elementwise_mul", "mine"):
        assert word in text
    each.summary(views=profiler.SummaryView.UDFView)
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "User-defined, in ms" and lines[2].split()[:2] == ["mine", "2"]
    with pytest.raises(ArgumentError):
        each.summary(time_unit="hours")
    with pytest.raises(UsageError):
        profiler.Profiler().summary()


def test_tables_are_sorted_by_what_is_told():
    spans = [own.Span(n, "Operator", 0, t, 0, {}) for n, t in [("a", 3), ("b", 2), ("b", 2)]]
    found = {}
    for key in ("CPUTotal", "CPUAvg", "CPUMin", "GPUTotal"):
        text = profiler.summary.summary(
            spans, profiler.SortedKeys[key], "ns", [profiler.SummaryView.OperatorView]
        )
        found[key] = [line.split() for line in text.split("\n")[2:]]
    assert found["CPUTotal"][0] == ["b", "2", "4.0000", "2.0000", "2.0000", "2.0000"]
    assert [found[key][0][0] for key in ("CPUAvg", "CPUMin", "GPUTotal")] == ["a", "a", "a"]


def test_times_of_steps_are_told(monkeypatch, capsys):
    moments = iter(range(0, 10**10, 500_000_000))
    monkeypatch.setattr(profiler.timing, "clock", lambda: next(moments))
    each = profiler.Profiler(timer_only=True)
    each.start()
    each.step()
    assert each.step_info() == " batch_cost: 0.50000 s ips: 2.000 steps/s"
    each.step(num_samples=10)
    assert each.step_info(unit="images") == " batch_cost: 0.50000 s ips: 20.000 images/s"
    assert each.step_info() == ""
    each.stop()
    assert "0.50000" in capsys.readouterr().out and each.profiler_result is None


def test_an_event_is_a_decorator_and_needs_a_name():
    @profiler.RecordEvent("call", profiler.TracerEventType.Forward)
    def function(x):
        return x

    with profiler.Profiler(on_trace_ready=lambda p: None) as each:
        assert function(3) == 3
        profiler.RecordEvent("never begun").end()
    first = each.profiler_result.spans[0]
    assert (first.name, first.kind) == ("call", "Forward")
    with pytest.raises(ArgumentError):
        profiler.RecordEvent(3)


@pytest.mark.parametrize("wrong", [{"targets": 3}, {"scheduler": (3, 1)}, {"scheduler": "a"}])
def test_a_profiler_needs_targets_and_steps(wrong):
    with pytest.raises((AssertionError, TypeError)):
        profiler.Profiler(**wrong)


def test_targets_that_are_not_there_are_said():
    with pytest.warns(FluidWarning, match="GPU"):
        profiler.Profiler(targets=[profiler.ProfilerTarget.CPU, profiler.ProfilerTarget.GPU])
