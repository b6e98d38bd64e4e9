"""What is dropped is gone: programs, plans, compiled segments, scopes, threads."""

import gc
import sys
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from interpreters import frees_functions

import fluidlite as fluid
from fluidlite.ground.weak_tables import WeakTable
from fluidlite.opdef.prepared import KernelLibrary
from fluidlite.runtime import segment
from fluidlite.runtime.compile import MOST_PUT_OFF
from fluidlite.runtime.memory import Observation

layers = fluid.layers
pytestmark = frees_functions

FEED = {"x": np.ones([4, 3], "float32")}


def trained(exe, scope):
    """A program that has been built and run until it is bound; weak references to what is of it."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [None, 3], "float32")
        loss = layers.mean(layers.square(layers.fc(layers.dropout(x, 0.3), 2)))
        fluid.optimizer.Adam(0.1).minimize(loss)
    exe.run(startup, scope=scope)
    for _ in range(4):
        exe.run(main, FEED, [loss], scope=scope)
    plan = exe.plan(main, [loss])
    assert plan.bound.of(scope)
    return [weakref.ref(each) for each in (main, startup, plan, plan.compiled)]


def alive(references):
    gc.collect()
    return sum(each() is not None for each in references)


@pytest.mark.parametrize("executors", ["one executor", "many executors"])
@pytest.mark.parametrize("scopes", ["one scope", "many scopes"])
def test_programs_that_are_dropped_are_gone(executors, scopes):
    exe, scope = fluid.Executor(), fluid.Scope()
    found, threads = [], threading.active_count()
    for _ in range(12):
        exe = exe if executors == "one executor" else fluid.Executor()
        scope = scope if scopes == "one scope" else fluid.Scope()
        found += trained(exe, scope)
    assert not alive(found)
    assert threading.active_count() <= threads


def test_programs_that_come_and_go_leave_no_objects_behind():
    exe = fluid.Executor()

    def objects():
        for _ in range(6):
            trained(exe, fluid.Scope())
        gc.collect()
        return len(gc.get_objects())

    objects()
    before = objects()
    assert objects() <= before + 20


def test_one_program_keeps_neither_executors_nor_scopes():
    x = fluid.data("x", [None, 3], "float32")
    loss = layers.mean(layers.square(layers.fc(x, 2)))
    fluid.optimizer.Adam(0.1).minimize(loss)
    main, found = fluid.default_main_program(), []
    for _ in range(8):
        exe, scope = fluid.Executor(), fluid.Scope()
        exe.run(fluid.default_startup_program(), scope=scope)
        for _ in range(4):
            exe.run(feed=FEED, fetch_list=[loss], scope=scope)
        plan = exe.plan(fetch_list=[loss])
        value = scope.find_var("fc_0.w_0").value
        found += [weakref.ref(each) for each in (exe, scope, value, plan, plan.compiled)]
        del exe, scope, value, plan
    assert not alive(found)
    assert not main.remembered and not fluid.default_startup_program().remembered


def test_an_executor_that_is_closed_lets_go_of_its_plans():
    exe, scope = fluid.Executor(), fluid.Scope()
    x = fluid.data("x", [None, 3], "float32")
    y = layers.scale(x, 2.0)
    for _ in range(4):
        exe.run(feed=FEED, fetch_list=[y], scope=scope)
    plan = weakref.ref(exe.plan(fetch_list=[y]))
    exe.close()
    assert not alive([plan])


def test_a_plan_that_is_made_anew_lets_go_of_the_memory_of_the_one_before():
    x = fluid.data("x", [4, 3000])
    loss = layers.mean(layers.square(layers.fc(layers.exp(x), 50)))
    fluid.optimizer.Adam().minimize(loss)
    exe, feed = fluid.Executor(), {"x": np.zeros([4, 3000], "float32")}
    exe.run(fluid.default_startup_program())
    for _ in range(4):
        exe.run(feed=feed, fetch_list=[loss])
    before = exe.plan(fetch_list=[loss]).compiled
    assert before.donated
    memory = [array for array in before.buffers.take() if type(array) is np.ndarray]
    gone = [weakref.ref(each) for each in (before, *memory, *before.donated.values())]
    before.improvement = SimpleNamespace(is_ready=lambda: True)
    del before, memory
    exe.run(feed=feed, fetch_list=[loss])
    assert exe.plan(fetch_list=[loss]).compiled.is_ready and not alive(gone)


def test_a_plan_whose_kernels_are_being_compiled_takes_no_memory_between_a_few_runs(monkeypatch):
    x = fluid.data("x", [4, 3000])
    y = layers.fc(layers.exp(x), 50)
    exe, feed = fluid.Executor(), {"x": np.ones([4, 3000], "float32")}
    exe.run(fluid.default_startup_program())
    library = KernelLibrary()
    library.improvement = lambda: SimpleNamespace(is_requested=True, is_ready=lambda: False)
    monkeypatch.setattr(segment, "kernel_libraries", lambda: [lambda graph: library])
    looked, note = [], Observation.note
    monkeypatch.setattr(Observation, "note", lambda *given: looked.append(1) or note(*given))
    results = [exe.run(feed=feed, fetch_list=[y])[0] for _ in range(MOST_PUT_OFF + 1)]
    compiled = exe.plan(fetch_list=[y]).compiled
    assert not compiled.is_ready and not looked  # how values lie matters once it is written
    results.append(exe.run(feed=feed, fetch_list=[y])[0])
    assert compiled.is_ready and looked
    assert all((each == results[0]).all() for each in results)


def test_no_python_code_runs_when_a_program_an_executor_or_a_scope_dies():
    exe, scope, main = fluid.Executor(), fluid.Scope(), fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [None, 3], "float32")
        y = layers.scale(x, 2.0)
    for _ in range(4):
        exe.run(main, FEED, [y], scope=scope)
    known, called = exe.plan(main, [y]).bound, []
    assert len(known) == len(main.remembered) == 1
    table = WeakTable()
    table.keep(main, 1)
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: called.append((event, frame.f_code.co_name)))
    del scope, exe, x, y, main
    sys.setprofile(before)
    gc.collect()
    assert not known and not table
    assert [name for event, name in called if event == "call"] == []


def test_what_a_prepared_run_was_made_of_dies_with_it():
    exe, scope, main, startup = fluid.Executor(), fluid.Scope(), fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        y = layers.fc(fluid.data("x", [None, 3], "float32"), 2)
    exe.run(startup, scope=scope)
    run = exe.prepare(main, ["x"], [y], scope=scope)
    for _ in range(4):
        run(FEED)
    references = [weakref.ref(each) for each in (exe, scope, main)]
    del run, exe, scope, main, startup, y
    assert not alive(references)
