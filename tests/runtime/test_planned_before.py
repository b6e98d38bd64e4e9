"""What a process has planned is planned at its first run by the next one."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.errors import OpError
from fluidlite.kernels import threads
from fluidlite.runtime import planned_before, segment

layers = fluid.layers


def net():
    """A program of 25 operators that takes rows by their numbers, and drops some of its values."""
    main = fluid.Program()
    main.random_seed = 5
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x, index = fluid.data("x", [None, 4]), fluid.data("index", [3], "int64")
        hidden = layers.gather(layers.dropout(x, 0.5), index)
        for _ in range(22):
            hidden = layers.scale(hidden, 1.125)
        total = layers.reduce_sum(hidden)
    return main, total.name


def feed(*index, rows=6):
    x = np.arange(1, 1 + rows * 4, dtype="float32").reshape(rows, 4)
    return {"x": x, "index": np.array(index)}


@pytest.fixture
def later_process(compiler, monkeypatch):
    """What starts a later process with the same folder: it has a new compiler."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", "auto")
    compiler.cache.new_folder()

    def begin():
        COMPILER.switch(Compiler())
        monkeypatch.setattr(planned_before, "BEGUN", time.time_ns())

    return begin


def run(given, times, **options):
    """The last result of some runs, and whether the program is planned by then."""
    main, name = net()
    exe = fluid.Executor()
    for _ in range(times):
        (found,) = exe.run(main, feed=given, fetch_list=[name], **options)
    return found, "def run(" in exe.plan(main, [name]).source


def test_the_first_run_is_planned_where_a_process_before_has_planned(later_process):
    first = run(feed(0, 2, 4), 1)
    assert not first[1] and run(feed(0, 2, 4), 2)[1]
    later_process()
    found, is_planned = run(feed(0, 2, 4), 1)
    assert is_planned
    np.testing.assert_array_equal(found, first[0])  # of the same random numbers


def test_what_this_process_has_planned_changes_nothing_in_it(later_process):
    assert run(feed(0, 2, 4), 2)[1]
    assert not run(feed(0, 2, 4), 1)[1]


def test_a_plan_that_is_not_kept_is_interpreted(later_process, monkeypatch):
    assert run(feed(0, 2, 4), 2)[1]
    later_process()
    known = []
    monkeypatch.setattr(segment, "PlanNote", lambda *given: known.append(1))
    run(feed(0, 2, 4), 3, use_program_cache=False)
    assert not known


def test_one_that_ran_once_is_interpreted_again(later_process):
    assert not run(feed(0, 2, 4), 1)[1]
    later_process()
    assert not run(feed(0, 2, 4), 1)[1]


def test_other_shapes_are_another_plan(later_process):
    assert run(feed(0, 2, 4), 2)[1]
    later_process()
    assert not run(feed(0, 2, 4, rows=7), 1)[1]
    assert run(feed(0, 2, 4), 1)[1]


def test_a_first_run_that_fails_says_what_an_interpreted_one_says(later_process):
    said = []
    for times in (1, 2):
        with pytest.raises(OpError) as failed:
            run(feed(0, 2, 9), 1)
        said.append(str(failed.value))
        assert run(feed(0, 2, 4), times)[1] == (times == 2)
    later_process()
    with pytest.raises(OpError) as failed:
        run(feed(0, 2, 9), 1)
    assert said == [str(failed.value)] * 2
    assert "test_planned_before.py" in said[0]


def test_what_is_fed_wrongly_is_refused_alike(later_process):
    wrong = {**feed(0, 2, 4), "x": np.ones([6, 5], "float32")}
    with pytest.raises(fluid.errors.FeedError) as before:
        run(wrong, 1)
    run(feed(0, 2, 4), 2)
    later_process()
    with pytest.raises(fluid.errors.FeedError) as behind:
        run(wrong, 1)
    assert str(behind.value) == str(before.value)


def test_a_few_steps_are_not_looked_for(later_process, monkeypatch):
    monkeypatch.setattr(planned_before, "FEWEST", 100)
    run(feed(0, 2, 4), 2)
    later_process()
    assert not run(feed(0, 2, 4), 1)[1]


def test_no_folder_is_made_to_look(monkeypatch, tmp_path):
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "none"))
    COMPILER.switch(Compiler())
    run(feed(0, 2, 4), 1)
    assert not (tmp_path / "none").exists()


def test_processes_that_work_together_are_not_told_apart(later_process, monkeypatch):
    run(feed(0, 2, 4), 2)
    later_process()
    together = SimpleNamespace(get=lambda: SimpleNamespace(size=2))
    monkeypatch.setattr(planned_before, "groups", together)
    assert not run(feed(0, 2, 4), 1)[1]


def note():
    """The note of a program's plan."""
    main, name = net()
    (only,) = fluid.Executor().plan(main, [name]).items
    return planned_before.PlanNote(only.steps, "shapes")


def test_how_many_threads_were_best_is_known_to_later_processes(later_process, monkeypatch):
    note().note_planned()
    made = note()
    made.note_threads(1, 2)
    made.note_threads(0, 1)
    assert made.thread_counts == [1, 2]
    assert note().thread_counts == []
    later_process()
    assert (note().was_planned, note().thread_counts) == (True, [1, 2])
    monkeypatch.setattr(threads, "count", lambda: 96)
    assert (note().was_planned, note().thread_counts) == (True, [])


@pytest.mark.parametrize(
    "text, was_planned, counts",
    [
        ("", False, []),
        ("1", True, []),
        ("1 1", True, []),
        ("1 1 96 7 8", True, [7, 8]),
        ("1 1 95 7 8", True, []),
        ("1 1 96 -7", False, []),
        ("1 1 96  7", False, []),
        (f"1 {1 << 62} 96 7", True, []),
        (f"{1 << 62}", False, []),
        ("1" * 30, False, []),
        ("0x1", False, []),
        ("[1]", False, []),
    ],
)
def test_a_note_holds_numbers_alone(later_process, monkeypatch, text, was_planned, counts):
    monkeypatch.setattr(threads, "count", lambda: 96)
    made = note()
    made.note_planned()
    COMPILER.get().cache.note(made._key, text)
    later_process()
    assert (note().was_planned, note().thread_counts) == (was_planned, counts)


def test_steps_are_told_apart_by_their_operators_and_names(later_process):
    def step(type, **slots):
        op = SimpleNamespace(type=type, inputs=slots, outputs={"Out": ("y",)})
        return SimpleNamespace(op=op, body=None)

    steps = [
        step("scale", X=("a", "b")),
        step("scale", X=("a",), b=()),
        step("scale", X=("b", "a")),
        step("relu", X=("a", "b")),
    ]
    keys = {planned_before.PlanNote([each] * 20, "shapes")._key for each in steps}
    again = {planned_before.PlanNote([each] * 20, "shapes")._key for each in steps}
    assert len(keys) == 4 and again == keys
