"""An interrupt at any moment leaves a step undone or done, and never half of it.

Most instructions away from the commit are left out; with ``EVERY_INSTRUCTION=1`` all are taken.
"""

import gc
import itertools
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from interpreters import updates_in_place
from shares import PARTS
from threadpoolctl import ThreadpoolController

import fluidlite as fluid
from fluidlite.ground import state
from fluidlite.kernels import threads
from fluidlite.runtime import bound, in_place, segment, updates

layers = fluid.layers
pytestmark = pytest.mark.usefixtures("several_blas_threads")

PACKAGE = str(Path(fluid.__file__).parent)
#: where a planned run checks, takes and commits values; a bound call is looked at everywhere
AROUND_A_RUN = (
    "scope",
    "runtime/executor",
    "runtime/ownership",
    "runtime/feeding",
    "runtime/bound",
    "runtime/plan",
    "runtime/run_state",
    "runtime/session",
)


def tried(count, stride, probe, near=None):
    """Interrupt at some instructions of a run, and at all of them around its commit.

    Args:
        count: how many there are.
        stride: from one instruction to the next.
        probe: interrupts at one; gives whether the step was done.
        near: how many are around the commit; ``stride`` when None.

    Returns:
        how often it was undone, and done.
    """
    if os.environ.get("EVERY_INSTRUCTION"):
        stride = near = 1
    found = {at: done for at in range(1, count, stride) if (done := probe(at)) is not None}
    last = max(at for at, done in found.items() if not done)
    end = min(last + stride, count)
    while end - last > (near or stride):
        middle = (last + end) // 2
        found[middle] = probe(middle)
        last, end = (last, middle) if found[middle] else (middle, end)
    for at in range(last + 1, end):
        found[at] = probe(at)
    done = sum(map(bool, found.values()))
    return len(found) - done, done


class Interrupt:
    """Raises KeyboardInterrupt at an instruction of fluidlite's Python code.

    Args:
        at: the number of the instruction, from 1; 0 counts them only.
        modules: where instructions count; None for all code of fluidlite and for
            what it has compiled.
    """

    def __init__(self, at, modules=None):
        self.at, self.seen = at, 0
        self.files = modules and {f"{PACKAGE}/{name}.py" for name in modules}

    def counts(self, file):
        return file.startswith(PACKAGE) or file == "<compiled plan>"

    def trace(self, frame, event, argument):
        file = frame.f_code.co_filename
        if not (self.counts(file) if self.files is None else file in self.files):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.seen += 1
            if self.seen == self.at:
                raise KeyboardInterrupt
        return self.trace

    def during(self, work):
        """Do some work; whether it was interrupted."""
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


def net(begin=lambda x: None):
    """A net with parameters, moments, powers of beta, running statistics and random numbers."""
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 3
    x = fluid.data("x", [4, 3], "float32")
    begin(x)
    hidden = layers.batch_norm(layers.dropout(layers.fc(x, 2), 0.5))
    loss = layers.mean(layers.square(hidden))
    fluid.optimizer.Adam(layers.exponential_decay(0.1, 10, 0.9)).minimize(loss)
    return loss, {"x": np.arange(12, dtype="float32").reshape(4, 3) / 7}


def values(scope):
    return {v.name: None if v.value is None else np.array(v.get_tensor()) for v in scope}


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def restore(scope, known):
    for name, value in known.items():
        scope.var(name).get_tensor().set(value)


def interrupted_everywhere(exe, scope, work, stride, modules=None, near=None):
    """Interrupt some work at its instructions; check the scope each time, and that the work can be
    done afterwards.  Returns how often the step was found undone, and done.
    """
    main = fluid.default_main_program()
    before, random = values(scope), exe.random_state(main)
    counter = Interrupt(0, modules)
    assert not counter.during(work)
    after = values(scope)
    assert not same(before, after)

    def probe(at):
        restore(scope, before)
        exe.set_random_state(main, random)
        if not Interrupt(at, modules).during(work):
            return None
        now, count = values(scope), exe.random_state(main)["run"] - random["run"]
        assert count in (0, 1)
        assert same(now, (before, after)[count]), f"torn at instruction {at}"
        if not count:
            work()
            assert same(values(scope), after), f"instruction {at} left something behind"
        return count

    return tried(counter.seen, stride, probe, near)


@pytest.fixture
def trained():
    """An executor, its scope, and a step of training that has been run some times."""
    loss, feed = net()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)

    def step(**how):
        exe.run(fluid.default_main_program(), feed, [loss], scope=scope, **how)

    return exe, scope, step


@pytest.mark.parametrize("lines", [bound.MOST_LINES, 0])
def test_an_interrupt_of_a_bound_call_leaves_a_step_undone_or_done(trained, lines, monkeypatch):
    monkeypatch.setattr(bound, "MOST_LINES", lines)
    exe, scope, step = trained
    for _ in range(4):
        step()
    assert min(interrupted_everywhere(exe, scope, step, 41)) > 0


@updates_in_place
def test_an_interrupt_of_a_call_that_updates_in_place_leaves_a_step_undone_or_done(
    compiler, monkeypatch
):
    monkeypatch.setattr(updates, "SMALLEST", 0)
    monkeypatch.setattr(updates, "SMALLEST_ARRAY", 0)
    done, call = [], in_place.InPlaceCall.__call__
    monkeypatch.setattr(
        in_place.InPlaceCall, "__call__", lambda *given: done.append(call(*given)) or done[-1]
    )
    loss, feed = net()
    exe, scope = fluid.Executor(), fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)

    def step():
        exe.run(fluid.default_main_program(), feed, [loss], scope=scope)

    for _ in range(4):
        step()
    assert min(interrupted_everywhere(exe, scope, step, 41)) > 0
    assert len(done) > 30 and None not in done


@updates_in_place
def test_an_interrupt_of_a_first_run_that_updates_in_place_leaves_a_step_undone_or_done(
    compiler, monkeypatch
):
    monkeypatch.setattr(updates, "SMALLEST", 0)
    monkeypatch.setattr(updates, "SMALLEST_ARRAY", 0)
    monkeypatch.setattr(segment, "LARGE", 1)
    done, fits = [], in_place.PendingUpdates.fits
    monkeypatch.setattr(
        in_place.PendingUpdates, "fits", lambda *given: done.append(fits(*given)) or done[-1]
    )
    loss, feed = net()
    main, exe, scope = fluid.default_main_program(), fluid.Executor(), fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)

    def step():
        exe._known(main).plans.clear()
        exe.run(main, feed, [loss], scope=scope)

    step()
    modules = (*AROUND_A_RUN, "runtime/in_place", "runtime/turn", "runtime/updates")
    near = 199 if PARTS == 1 else 40  # each time it is planned and traced again
    assert min(interrupted_everywhere(exe, scope, step, 199 * PARTS, modules, near)) > 0
    assert len(done) > 5 and all(done)


def test_an_interrupt_of_a_bound_call_takes_a_batch_with_the_step_or_leaves_it():
    loaders = []

    def begin(x):
        loaders.append(fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False))

    loss, _ = net(begin)
    main, exe = fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    numbers = (np.full([4, 3], k, "float32") for k in itertools.count())
    loaders[0].set_batch_generator(lambda: ([each] for each in numbers))
    loaders[0].start()

    def step():
        return exe.run(fetch_list=["x", loss])[0][0, 0]

    assert [step() for _ in range(4)] == [0, 1, 2, 3]
    modules, due = ("runtime/bound", "runtime/reader_steps", "runtime/executor"), 4

    def interrupted(at):
        found = Interrupt(at, modules)
        found.files.add("<compiled plan>")
        return found

    def probe(at):
        nonlocal due
        before = exe.random_state(main)["run"]
        if not interrupted(at).during(step):
            due += 1
            return None
        done = exe.random_state(main)["run"] - before
        assert step() == due + done, f"interrupted at instruction {at}"
        due += done + 1
        return bool(done)

    counter = interrupted(0)
    assert not counter.during(step)
    due += 1
    assert min(tried(counter.seen, 11, probe)) > 0
    loaders[0].reset()


def test_an_interrupt_of_a_compiled_run_leaves_a_step_undone_or_done(trained):
    exe, scope, step = trained
    for _ in range(4):
        step()

    def planned():
        step(return_numpy=False)

    assert min(interrupted_everywhere(exe, scope, planned, 41, AROUND_A_RUN)) > 0


def test_an_interrupt_of_an_interpreted_run_leaves_a_step_undone_or_done(trained, monkeypatch):
    exe, scope, step = trained
    monkeypatch.setattr("fluidlite.runtime.session.function_for", lambda *_: None)
    assert min(interrupted_everywhere(exe, scope, step, 199, AROUND_A_RUN)) > 0


def test_an_interrupt_of_a_startup_program_makes_all_variables_or_none():
    net()
    startup = fluid.default_startup_program()
    counter, whole = Interrupt(0, AROUND_A_RUN), fluid.Scope()
    counter.during(lambda: fluid.Executor().run(startup, scope=whole))

    def probe(at):
        scope, exe = fluid.Scope(), fluid.Executor()
        if not Interrupt(at, AROUND_A_RUN).during(lambda: exe.run(startup, scope=scope)):
            return None
        assert all(value is not None for value in values(scope).values())
        assert len(values(scope)) in (0, len(values(whole)))
        return bool(values(scope))

    assert min(tried(counter.seen, 41, probe)) > 0


def test_an_interrupt_in_a_scope_below_another_tears_neither(trained):
    exe, scope, _ = trained
    kid = scope.new_scope()
    kid.var("fc_0.w_0").get_tensor().set(np.array(scope.find_var("fc_0.w_0").get_tensor()))
    loss = fluid.default_main_program().global_block().ops[-1].output_arg_names[0]
    feed = {"x": np.ones([4, 3], "float32")}

    def below():
        exe.run(fluid.default_main_program(), feed, [loss], scope=kid)

    for _ in range(4):
        below()
    both = (scope, kid)
    before, random = [values(s) for s in both], exe.random_state(fluid.default_main_program())
    below()
    after, counter = [values(s) for s in both], Interrupt(0, AROUND_A_RUN)
    counter.during(below)

    def probe(at):
        for each, known in zip(both, before):
            restore(each, known)
        exe.set_random_state(fluid.default_main_program(), random)
        if not Interrupt(at, AROUND_A_RUN).during(below):
            return None
        now = [values(s) for s in both]
        done = [all(map(same, now, known)) for known in (before, after)]
        assert any(done), f"torn at instruction {at}"
        return done[1]

    assert min(tried(counter.seen, 41, probe)) > 0


@pytest.mark.parametrize("interrupted", range(6))
def test_an_interrupt_of_work_on_threads_lets_go_of_them(interrupted, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "3")
    state.reset()
    before = [each.num_threads for each in blas_libraries()]

    def part(number, worker):
        if number == interrupted:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), state.collector_paused():
        threads.each(part, 6, blas=True)
    assert gc.isenabled()
    assert [each.num_threads for each in blas_libraries()] == before
    met = threading.Barrier(2, timeout=10)
    threads.each(lambda part, worker: met.wait(), 2)  # for which one thread alone would wait


def blas_libraries():
    return ThreadpoolController().select(user_api="blas").lib_controllers


def test_threads_that_cannot_be_started_are_done_without(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "3")
    state.reset()

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done = []
    threads.each(lambda part, worker: done.append(part), 5)
    assert sorted(done) == [0, 1, 2, 3, 4]
