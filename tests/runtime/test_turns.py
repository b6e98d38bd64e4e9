"""Threads that update one scope: no step is lost, and nothing waits for ever."""

import copy
import dis
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ConcurrentUpdateError, OpError
from fluidlite.runtime.bound import SWITCHES_AT_JUMPS, bound_call
from fluidlite.runtime.run_state import PLANS_KEPT, RunState

layers = fluid.layers
THREADS, STEPS, BETA = 3, 60, 0.9


@pytest.fixture(autouse=True)
def _threads_change_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def trained(begin=lambda p: None):
    """A net that Adam trains, with a scope where it has begun; its loss."""
    x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 1])
    predicted = layers.fc(x, 1)
    begin(predicted)
    loss = layers.mean(layers.square_error_cost(predicted, y))
    fluid.optimizer.Adam(0.01, beta1=BETA).minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    return loss


def fed(rows=4):
    return {"x": np.ones([rows, 3], "float32"), "y": np.ones([rows, 1], "float32")}


def steps_done(scope=None):
    """How many steps Adam has done, as its power says."""
    scope = scope or fluid.global_scope()
    (name,) = {v.name for v in scope if "beta1_pow" in v.name and "b_0" not in v.name}
    return round(np.log(scope.host_value(name).item()) / np.log(BETA)) - 1


def at_once(work, threads=THREADS):
    """Do some work in threads that begin together; what the first of them raises."""
    begin = threading.Barrier(threads)

    def worked(number):
        begin.wait()
        for step in range(STEPS):
            work(number, step)

    with ThreadPoolExecutor(threads) as pool:
        for each in [pool.submit(worked, number) for number in range(threads)]:
            each.result(60)


def called(function):
    """A layer that calls a function of the user's, for :func:`trained`."""

    def begin(predicted):
        main = fluid.default_main_program()
        out = main.current_block().create_var("seen", dtype="float32", shape=[-1, 1])
        layers.py_func(function, predicted, out)

    return begin


@pytest.mark.parametrize("way", ["run", "prepared", "interpreted", "many", "kids", "called"])
def test_threads_that_train_one_scope_lose_no_step(way):
    loss = trained(called(np.array) if way == "called" else lambda p: None)
    if way == "many":  # bound calls with loops
        for k in range(9):
            extra = layers.create_global_var([1], 0.0, "float32", True, name=f"extra{k}")
            for _ in range(2):
                layers.increment(extra)
        fluid.Executor().run(fluid.default_startup_program())
    exe, scope = fluid.Executor(), fluid.global_scope()
    main = fluid.default_main_program()
    prepared = exe.prepare(main, ["x", "y"], [loss])
    kids = [scope, scope.new_scope(), scope.new_scope()]

    def work(number, step):
        if way == "prepared":
            prepared(fed())
        elif way == "interpreted":
            exe.run(main, fed(4 + number + step), [loss], scope)
        else:
            exe.run(main, fed(), [loss], kids[number] if way == "kids" else scope)

    at_once(work)
    assert steps_done() == THREADS * STEPS


def test_executors_of_their_own_lose_no_step_either():
    loss = trained()
    main, scope = fluid.default_main_program(), fluid.global_scope()
    executors = [fluid.Executor() for _ in range(THREADS)]
    at_once(lambda number, step: executors[number].run(main, fed(), [loss], scope))
    assert steps_done() == THREADS * STEPS


def test_nor_do_several_devices():
    loss = trained()
    main, scope = fluid.default_main_program(), fluid.global_scope()
    places = fluid.cpu_places(2)
    compiled = fluid.CompiledProgram(main).with_data_parallel(loss.name, places=places)
    exe = fluid.Executor()
    at_once(lambda number, step: exe.run(compiled, fed(), [loss], scope))
    assert steps_done() == THREADS * STEPS


def test_threads_may_plan_one_program_at_once(monkeypatch):
    program, known = fluid.default_main_program(), RunState(0)
    name = layers.fill_constant([1], "float32", 1.0).name
    old = known.plan(program, ((name,), None), True, False)
    revision, others = program.revision, iter(range(100))

    def read(self):
        known.plans[-1 - next(others), ((), None)] = old  # as another thread may at any time
        return revision

    monkeypatch.setattr(type(program), "revision", property(read))
    assert known.plan(program, ((name, name), None), True, False) is not old
    assert len(known.plans) <= PLANS_KEPT


@pytest.mark.parametrize("way", ["run", "prepared", "looked at"])
def test_nor_does_jax(way):
    pytest.importorskip("jax")
    loss = trained()
    exe, scope = fluid.Executor(backend="jax"), fluid.global_scope()
    main = fluid.default_main_program()
    prepared = exe.prepare(main, ["x", "y"], [loss])

    def work(number, step):
        if way == "prepared":
            prepared(fed())
        elif way == "run" or step % 6:
            exe.run(main, fed(), [loss], scope)
        else:
            exe.run(main, fed(), [loss], scope, check_nan_inf=True)

    at_once(work)
    assert steps_done() == THREADS * STEPS


def test_threads_share_a_reader():
    x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 1])
    loader = fluid.io.DataLoader.from_generator([x, y], capacity=4, iterable=False)
    loader.set_batch_generator(lambda: (list(fed().values()) for _ in range(THREADS * STEPS)))
    loss = layers.mean(layers.square_error_cost(layers.fc(x, 1), y))
    fluid.optimizer.Adam(0.01, beta1=BETA).minimize(loss)
    exe, scope = fluid.Executor(), fluid.global_scope()
    main = fluid.default_main_program()
    exe.run(fluid.default_startup_program())
    loader.start()
    at_once(lambda number, step: exe.run(main, None, [loss], scope))
    with pytest.raises(fluid.core.EOFException):
        exe.run(main, None, [loss], scope)
    loader.reset()
    assert steps_done() == THREADS * STEPS


def other_program():
    """A program that counts in a variable of its own."""
    counting, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(counting, startup):
        count = layers.create_global_var([1], 0.0, "float32", True, name="count")
        layers.increment(count)
    fluid.Executor().run(startup)
    return counting


def test_a_generator_may_run_what_updates_the_scope_that_is_trained():
    counting, scope = other_program(), fluid.global_scope()
    x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 1])
    loader = fluid.io.DataLoader.from_generator([x, y], capacity=1, iterable=False)
    exe, own = fluid.Executor(), fluid.Executor()
    main = fluid.default_main_program()

    def batches():
        for _ in range(20):
            own.run(counting, scope=scope)
            yield list(fed().values())

    loader.set_batch_generator(batches)
    loss = layers.mean(layers.square_error_cost(layers.fc(x, 1), y))
    fluid.optimizer.SGD(0.01).minimize(loss)
    exe.run(fluid.default_startup_program())
    loader.start()
    for _ in range(20):
        exe.run(main, None, [loss], scope)
    loader.reset()
    assert scope.value("count").item() == 20


def in_this_thread(work):
    return work()


def in_another_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(60)


@pytest.mark.parametrize("where", [in_this_thread, in_another_thread])
def test_a_function_of_a_program_may_run_another_one_in_the_same_scope(where):
    counting, scope, own = other_program(), fluid.global_scope(), fluid.Executor()

    def function(array):
        where(lambda: own.run(counting, scope=scope))
        return np.array(array)

    loss = trained(called(function))
    for _ in range(4):
        fluid.Executor().run(fluid.default_main_program(), fed(), [loss], scope)
    assert (scope.value("count").item(), steps_done()) == (4, 4)


@pytest.mark.parametrize("where", [in_this_thread, in_another_thread])
def test_what_a_function_of_a_program_has_updated_is_not_written_over(where):
    scope, own = fluid.global_scope(), fluid.Executor()

    def function(array):
        where(lambda: own.run(inner, fed(), [loss], scope))
        return np.array(array)

    loss = trained(called(function))
    outer = fluid.default_main_program()
    inner = outer.clone()
    block = inner.global_block()
    (place,) = [k for k, op in enumerate(block.ops) if op.type == "py_func"]
    block._remove_op(place)
    for _ in range(3):
        with pytest.raises(ConcurrentUpdateError, match="'fc_0.[bw]_0'.*nothing of this run is"):
            fluid.Executor().run(outer, fed(), [loss], scope)
    assert steps_done() == 3  # the inner runs'


def test_a_run_that_fails_lets_go_of_its_turn():
    def function(array):
        raise KeyboardInterrupt if np.array(array).sum() > 1e9 else ValueError("no")

    loss = trained(called(function))
    exe, main, scope = fluid.Executor(), fluid.default_main_program(), fluid.global_scope()
    with pytest.raises(OpError):
        exe.run(main, fed(), [loss], scope)
    scope.find_var("fc_0.b_0").get_tensor().set(np.full([1], 1e10, "float32"))
    with pytest.raises(KeyboardInterrupt):
        exe.run(main, fed(), [loss], scope)
    counting = other_program()
    in_another_thread(lambda: fluid.Executor().run(counting, scope=scope))
    for lock in (scope.turns.updates, scope.turns.calls):
        assert in_another_thread(lambda lock=lock: lock.acquire(blocking=False))


@pytest.mark.skipif(SWITCHES_AT_JUMPS, reason="calls have loops in Python 3.10")
def test_a_bound_call_looks_and_commits_at_once():
    """Between the two there is nothing behind which Python changes threads."""
    loss = trained()
    exe, main = fluid.Executor(), fluid.default_main_program()
    for _ in range(3):
        exe.run(main, fed(), [loss])
    call = bound_call(exe.plan(main, [loss]), fluid.global_scope())
    code = list(dis.get_instructions(call.run))
    (commit,) = [k for k, each in enumerate(code) if each.argval == "any"]
    looked = max(k for k in range(commit) if code[k].opname == "IS_OP")
    overtaken = [k for k in range(looked, commit) if code[k].opname == "RETURN_VALUE"]
    assert "again" in [each.argval for each in code[looked : overtaken[0]]]
    between = [each.opname for each in code[overtaken[0] : commit]]
    assert not [name for name in between if "CALL" in name or "BACKWARD" in name]


FORKED = textwrap.dedent("""
    import os, threading, sys
    import numpy as np
    import fluidlite as fluid

    x = fluid.data("x", [None, 3])
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe, scope, main = fluid.Executor(), fluid.global_scope(), fluid.default_main_program()
    exe.run(fluid.default_startup_program())
    held, done = threading.Event(), threading.Event()

    def hold():
        with scope.turns.updates, scope.turns.calls:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        for _ in range(4):
            exe.run(main, {"x": np.ones([2, 3], "float32")}, [loss], scope)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.set()
    thread.join()
    with scope.turns.updates:  # which the process that forks has goes on in the other one
        child = os.fork()
        if not child:
            exe.run(main, {"x": np.ones([2, 3], "float32")}, [loss], scope)
    if not child:
        os._exit(0)
    sys.exit(status or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_that_is_forked_during_another_thread_s_turn_has_its_own():
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    assert subprocess.run(command, timeout=60, check=False).returncode == 0


def test_a_scope_is_copied_without_its_turns():
    scope = fluid.Scope()
    scope.var("w").get_tensor().set(np.ones(2, "float32"))
    with scope.turns.updates:
        for copied in (copy.deepcopy(scope), pickle.loads(pickle.dumps(scope))):
            assert copied.value("w").tolist() == [1, 1]
            assert in_another_thread(lambda c=copied: c.turns.updates.acquire(blocking=False))
