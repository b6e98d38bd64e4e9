"""Updates are written over what they replace where nobody else holds that."""

import threading

import numpy as np
import pytest
from interpreters import updates_in_place

import fluidlite as fluid
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.runtime import in_place, segment, updates
from fluidlite.runtime.run import Run

layers = fluid.layers
pytestmark = updates_in_place


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder of kernels for all tests."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def small(compiler, cache, monkeypatch):
    """Parameters of small nets are written over, too; kernels are generated."""
    monkeypatch.setattr(updates, "SMALLEST", 0)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(cache))
    COMPILER.switch(Compiler())


def built(optimizer=None):
    """A net of two layers, its loss, what is fed, and a step in a scope of its own."""
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    startup.random_seed = 3
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [8, 60])
        hidden = layers.fc(x, 50, act="tanh", param_attr="w")
        loss = layers.mean(layers.square(layers.fc(hidden, 40)))
        (optimizer or fluid.optimizer.Adam(0.01)).minimize(loss)
    exe = fluid.Executor()
    exe.run(startup, scope=scope)
    feed = {"x": np.random.default_rng(3).random([8, 60], "float32")}

    def step(**more):
        return exe.run(main, {**feed, **more}, [loss], scope=scope)[0].item()

    return scope, step, lambda: exe.plan(main, [loss]).compiled


def place(scope, name="w"):
    return scope.find_var(name).value.ctypes.data


def contents(scope):
    return {v.name: np.array(v.value) for v in scope}


def careful(rate):
    """An optimizer that reads parameters and gradients more than once."""
    decay, clip = fluid.regularizer.L2Decay(0.1), fluid.clip.GradientClipByGlobalNorm(0.1)
    return fluid.optimizer.Adam(rate, regularization=decay, grad_clip=clip)


@pytest.mark.parametrize("optimizer", [fluid.optimizer.Adam, careful])
def test_parameters_stay_in_their_arrays_and_get_the_same_bits(small, monkeypatch, optimizer):
    scope, step, plan = built(optimizer(0.01))
    losses = [step() for _ in range(3)]
    before = place(scope)
    losses += [step() for _ in range(3)]
    assert place(scope) == before
    assert "w" in plan().late.names
    assert not plan().donated.keys() & set(plan().late.names)
    monkeypatch.setattr(updates, "SMALLEST", 1 << 40)
    apart, step, plan = built(optimizer(0.01))
    assert [step() for _ in range(6)] == losses
    assert plan().late is None
    same = contents(apart)
    for name, value in contents(scope).items():
        np.testing.assert_array_equal(value, same[name])


@pytest.fixture
def written_over(small, monkeypatch):
    """Whether each first run of a plan, which the first run of a program is, wrote over what it
    replaced.
    """
    monkeypatch.setattr(segment, "LARGE", 1)
    found, fits = [], in_place.PendingUpdates.fits
    monkeypatch.setattr(
        in_place.PendingUpdates, "fits", lambda *given: found.append(fits(*given)) or found[-1]
    )
    return found


def apart(monkeypatch, count=3):
    """The losses and the values of the same steps where nothing is written over."""
    monkeypatch.setattr(updates, "SMALLEST", 1 << 40)
    scope, step, plan = built()
    losses = [step() for _ in range(count)]
    assert plan().late is None
    return losses, contents(scope)


def agrees(scope, wanted):
    for name, value in contents(scope).items():
        np.testing.assert_array_equal(value, wanted[name], err_msg=name)


def test_the_first_run_of_a_plan_has_no_second_set_of_parameters(written_over, monkeypatch):
    scope, step, _ = built()
    before = place(scope)
    losses = [step() for _ in range(3)]
    assert place(scope) == before
    assert written_over == [True]
    wanted, values = apart(monkeypatch)
    assert losses == wanted
    agrees(scope, values)


def test_an_array_that_somebody_holds_is_left_by_the_first_run_of_a_plan(written_over, monkeypatch):
    scope, step, _ = built()
    held = scope.find_var("w").value
    before = held.copy()
    losses = [step() for _ in range(3)]
    np.testing.assert_array_equal(held, before)
    assert written_over == [False]
    wanted, values = apart(monkeypatch)
    assert losses == wanted
    agrees(scope, values)


def test_an_array_that_is_taken_before_a_first_run_commits_is_left_as_it_is(
    written_over, monkeypatch
):
    scope, step, _ = built()
    taken, kept = [], Run.kept_values

    def take(*given):
        if not taken:
            taken.extend([scope.find_var("w").value, scope.find_var("w").value.copy()])
        return kept(*given)

    monkeypatch.setattr(Run, "kept_values", take)
    losses = [step() for _ in range(3)]
    np.testing.assert_array_equal(*taken)
    assert written_over == [True]
    wanted, values = apart(monkeypatch)
    assert losses == wanted
    agrees(scope, values)


def test_a_parameter_that_is_fed_to_a_first_run_is_left_as_it_is(written_over):
    _, step, _ = built()
    fed = np.full([60, 50], 0.01, "float32")
    step(w=fed)
    np.testing.assert_array_equal(fed, np.full([60, 50], 0.01, "float32"))
    assert written_over == [False]


def test_updates_that_share_memory_are_made_outright_in_a_first_run(written_over, monkeypatch):
    monkeypatch.setattr(updates.LateUpdates, "is_safe", lambda *_: False)
    scope, step, plan = built()
    losses = [step() for _ in range(3)]
    assert plan().late is None and not written_over
    wanted, values = apart(monkeypatch)
    assert losses == wanted
    agrees(scope, values)


def test_commands_are_recorded_on_one_piece_of_memory_that_nothing_touches(small):
    _, step, plan = built()
    for _ in range(3):
        step()
    stand_ins = []

    class Buffer:
        def record(self, commands, arrays, *more):
            stand_ins.extend(arrays)

    plan().late.record(Buffer())
    assert len({id(array.base) for array in stand_ins}) == 1 < len(stand_ins)
    places = [array.ctypes.data for array in stand_ins]
    assert len(set(places)) == len(places)


def test_an_array_that_somebody_holds_is_left_as_it_is(small):
    scope, step, _ = built()
    for _ in range(3):
        step()
    held = scope.find_var("w").value
    before = held.copy()
    step()
    np.testing.assert_array_equal(held, before)
    assert held is not scope.find_var("w").value
    del held
    step()
    last = place(scope)
    step()
    assert place(scope) == last


def test_an_array_that_two_variables_hold_is_left_as_it_is(small):
    scope, step, _ = built()
    for _ in range(3):
        step()
    twin = scope.var("twin")
    twin.value = scope.find_var("w").value
    before = twin.value.copy()
    for _ in range(2):
        step()
    np.testing.assert_array_equal(twin.value, before)


def test_an_array_that_is_taken_while_a_run_computes_is_left_as_it_is(small, monkeypatch):
    scope, step, plan = built()
    losses, taken = [step() for _ in range(4)], []
    early = type(plan().late).record

    def record(self, buffer):
        taken.append(scope.find_var("w").value)
        before.append(taken[0].copy())
        early(self, buffer)

    before = []
    monkeypatch.setattr(type(plan().late), "record", record)
    again, step, _ = built()
    scope = again
    assert [step() for _ in range(4)] == losses
    np.testing.assert_array_equal(taken[0], before[0])


def test_a_parameter_that_is_fed_is_left_as_it_is(small):
    scope, step, _ = built()
    fed = np.full([60, 50], 0.01, "float32")
    for _ in range(5):
        step(w=fed)
    np.testing.assert_array_equal(fed, np.full([60, 50], 0.01, "float32"))
    assert not np.array_equal(scope.find_var("w").value, fed)


def test_what_is_fetched_of_a_parameter_stays_as_it_was(small):
    scope, step, _ = built()
    for _ in range(4):
        step()
    fetched = np.array(scope.find_var("w").get_tensor())
    before = fetched.copy()
    step()
    np.testing.assert_array_equal(fetched, before)


def test_runs_of_two_threads_see_whole_steps(small):
    scope, step, _ = built()
    for _ in range(4):
        step()
    reached = []

    def work():
        for _ in range(20):
            reached.append(step())

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    alone, step, _ = built()
    wanted = [step() for _ in range(44)][4:]
    assert sorted(reached, reverse=True) == pytest.approx(sorted(wanted, reverse=True), rel=1e-5)
    np.testing.assert_allclose(
        scope.find_var("w").value, alone.find_var("w").value, rtol=1e-4, atol=1e-6
    )
