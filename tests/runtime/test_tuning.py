"""How many threads a library of matrix products gets in a plan."""

import io
import itertools
import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.kernels import threads, tuning
from fluidlite.runtime import segment

layers = fluid.layers


class Clock:
    """A team whose work takes what a test says, by the number of threads."""

    def __init__(self, monkeypatch, **seconds):
        self.now, self.threads = 0.0, 1
        self.seconds = {1: seconds["one"], 2: seconds["two"], 4: seconds.get("four", 100.0)}
        self.taken = []
        self.is_busy = False
        monkeypatch.setattr(tuning.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(tuning, "is_busy", lambda threads, running=1: self.is_busy)

    def within(self, threads, function, *arguments):
        self.taken.append(threads)
        self.now += self.seconds[threads]
        return function(*arguments)


def ran(crew, times):
    for number in range(times):
        assert crew.run(lambda x: x, number) == number


@pytest.mark.parametrize("one, two, best", [(2.0, 1.0, 2), (1.0, 2.0, 1), (1.0, 100.0, 1)])
def test_what_takes_less_time_is_what_most_runs_get(monkeypatch, one, two, best):
    clock = Clock(monkeypatch, one=one, two=two)
    crew = tuning.ThreadTuner(clock, 2, False)
    ran(crew, 200)
    assert set(clock.taken) == {1, 2}
    assert clock.taken[-100:].count(best) >= 90


def test_a_single_run_that_is_held_up_changes_nothing(monkeypatch):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    for held_up in range(14):
        clock.seconds[2] = 1000.0 if held_up == 4 else 1.0
        ran(crew, 1)
    del clock.taken[:]
    ran(crew, 20)
    assert clock.taken == [2] * 20


def test_it_looks_again_from_time_to_time(monkeypatch):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    ran(crew, 50)
    clock.seconds[2] = 50.0
    ran(crew, 500)
    assert clock.taken[-10:] == [1] * 10


def test_a_number_that_was_best_before_is_first_and_others_are_tried_later(monkeypatch):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    crew.begin_with(1)
    assert clock.threads == 1
    ran(crew, 40)
    assert clock.taken == [1] * 40
    ran(crew, 300)
    assert clock.taken[-100:].count(2) >= 85


@pytest.mark.parametrize("count", [0, 3, -1, 10**30])
def test_a_number_that_cannot_be_is_not_taken(monkeypatch, count):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    crew.begin_with(count)
    ran(crew, 30)
    assert clock.taken == [2] * 7 + [1] * 7 + [2] * 16


def test_what_is_best_is_told_once(monkeypatch):
    clock, told = Clock(monkeypatch, one=2.0, two=1.0), []
    crew = tuning.ThreadTuner(clock, 2, False)
    crew.found = told.append
    ran(crew, 14)
    assert told == [2]
    ran(crew, 300)
    assert told == [2]
    clock.seconds[2] = 50.0
    ran(crew, 1000)
    assert told == [2, 1]


def test_it_begins_with_one_thread_where_processors_have_other_work(monkeypatch):
    clock = Clock(monkeypatch, one=1.0, two=100.0)
    clock.is_busy = True
    ran(tuning.ThreadTuner(clock, 2, False, 4), 30)
    # trials of two, asleep and awake, are lost at once
    assert clock.taken == [1] * 7 + [4] * 3 + [2] * 3 + [1] * 17


def test_trials_take_longer_where_processors_have_other_work(monkeypatch):
    short = tuning.LONG_TRIAL / 16
    clock = Clock(monkeypatch, one=short, two=2 * short, four=2 * short)
    clock.is_busy = True
    ran(tuning.ThreadTuner(clock, 2, False, 4), tuning.WARM + 16 + tuning.WARM + 8)
    assert clock.taken == [1] * (tuning.WARM + 16) + [4] * (tuning.WARM + 8)


def test_threads_that_sleep_are_tried_where_processors_have_other_work(monkeypatch):
    clock = Clock(monkeypatch, one=3.0, two=2.0, four=1.0)
    crew = tuning.ThreadTuner(clock, 2, False, 4)
    ran(crew, 200)
    assert set(clock.taken) == {1, 2}
    clock.is_busy = True
    del clock.taken[:]
    ran(crew, 500)
    assert clock.taken[-50:].count(4) >= 36


def test_only_a_library_that_has_threads_that_sleep_gets_them(monkeypatch):
    clock = Clock(monkeypatch, one=3.0, two=2.0, four=1.0)
    clock.is_busy = True
    ran(tuning.ThreadTuner(clock, 2, False), 300)
    assert set(clock.taken) == {1, 2}


def test_numbers_are_tried_in_turn_the_one_that_waits_longest_first(monkeypatch):
    clock = Clock(monkeypatch, one=1.0, two=1.5, four=1.25)
    clock.is_busy = True
    ran(tuning.ThreadTuner(clock, 2, False, 4), 1000)
    tried = [count for count, _ in itertools.groupby(clock.taken)]
    assert tried[:9] == [1, 4, 2, 1, 4, 1, 2, 1, 4]


def test_that_threads_that_sleep_were_best_is_told_to_nobody(monkeypatch):
    clock, told = Clock(monkeypatch, one=3.0, two=2.0, four=1.0), []
    clock.is_busy = True
    crew = tuning.ThreadTuner(clock, 2, False, 4)
    crew.found = told.append
    ran(crew, 100)
    assert clock.taken[-20:].count(4) >= 13 and not told
    clock.is_busy, clock.seconds[4] = False, 9.0
    ran(crew, 300)
    assert told == [2]


@pytest.mark.parametrize("factor", [1.5, 0.5])
def test_it_looks_soon_where_runs_begin_to_take_another_time(monkeypatch, factor):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    ran(crew, 3000)
    assert clock.taken[-100:] == [2] * 100
    clock.seconds[2] = factor
    del clock.taken[:]
    ran(crew, 30)
    assert clock.taken.count(1) >= tuning.WARM + 1


def test_it_does_not_look_sooner_where_a_single_run_takes_long(monkeypatch):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    ran(crew, 3000)
    assert clock.taken[-100:] == [2] * 100
    del clock.taken[:]
    for held_up in range(60):
        clock.seconds[2] = 3.0 if held_up % 20 == 10 else 1.0
        ran(crew, 1)
    assert clock.taken == [2] * 60


@pytest.mark.parametrize(
    "said, threads, is_busy",
    [
        ("0.50 0.40 0.30 3/200 77", 2, False),
        ("0.50 0.40 0.30 3/200 77", 3, True),
        ("9.50 9.40 9.30 1/200 77", 4, False),
        ("", 4, False),
        ("1 2 3 four/5 6", 4, False),
    ],
)
def test_processors_are_busy_where_others_run_just_now(monkeypatch, said, threads, is_busy):
    monkeypatch.setattr(tuning.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(tuning, "open", lambda *_, **__: io.StringIO(said), raising=False)
    assert tuning.is_busy(threads) == is_busy
    assert tuning.is_busy(threads - 1, 2) == tuning.is_busy(threads - 2)


def test_nobody_knows_who_runs_where_the_system_does_not_say(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(tuning, "open", missing, raising=False)
    assert not tuning.is_busy(1000)


def test_a_number_that_is_said_is_kept(monkeypatch):
    clock = Clock(monkeypatch, one=1.0, two=100.0)
    ran(tuning.ThreadTuner(clock, 2, True), 50)
    assert set(clock.taken) == {2}


def test_where_the_number_is_said_threads_are_tried_asleep_beside_other_work(monkeypatch):
    clock, told = Clock(monkeypatch, one=0.1, two=2.0, four=1.0), []
    crew = tuning.ThreadTuner(clock, 2, True, 4)
    crew.found = told.append
    crew.begin_with(1)
    ran(crew, 100)
    assert set(clock.taken) == {2}
    clock.is_busy = True
    ran(crew, 500)
    assert set(clock.taken) == {2, 4} and clock.taken[-50:].count(4) >= 36
    clock.is_busy, clock.seconds[4] = False, 9.0
    ran(crew, 300)
    assert clock.taken[-50:] == [2] * 50 and not told


def test_other_work_is_looked_for_from_time_to_time_only(monkeypatch):
    clock = Clock(monkeypatch, one=1.0, two=1.0)
    asked = []
    monkeypatch.setattr(tuning, "is_busy", lambda *_: asked.append(clock.now))
    ran(tuning.ThreadTuner(clock, 2, True, 4), 1000)
    assert 2 < len(asked) < 50


def test_runs_at_once_have_the_same_number(monkeypatch):
    clock = Clock(monkeypatch, one=2.0, two=1.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    ran(crew, 5)

    def inner():
        first = len(clock.taken)
        other = threading.Thread(target=crew.run, args=(lambda: None,))
        other.start()
        other.join()
        return clock.taken[first - 1 :]

    for _ in range(30):
        assert len(set(crew.run(inner))) == 1


def plan_of(rows):
    """The function for a product of so many rows, and what it gives."""
    x = fluid.data("x", [None, 128], "float32")
    out = layers.fc(x, 128, bias_attr=False, param_attr="w")
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([rows, 128], "float32")}
    for _ in range(20):
        (found,) = exe.run(feed=feed, fetch_list=[out])
    weight = np.array(fluid.global_scope().find_var("w").get_tensor())
    np.testing.assert_allclose(found, feed["x"] @ weight, rtol=1e-5, atol=1e-5)
    return found


@pytest.mark.parametrize(
    "rows, several, fixed, expected",
    [(128, True, "", True), (8, True, "", False), (128, False, "", False), (128, True, "2", False)],
)
def test_large_products_of_a_blas_with_several_threads_have_a_crew(
    rows, several, fixed, expected, monkeypatch
):
    taken = counts_of_plans(monkeypatch, several, fixed)
    plan_of(rows)
    assert bool(taken) == expected and set(taken) == ({1, 2} if expected else set())


def counts_of_plans(monkeypatch, several=True, fixed=""):
    """How many threads NumPy's BLAS will have in runs of plans."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", fixed)
    monkeypatch.setattr(threads, "count", lambda: 2)
    monkeypatch.setattr(tuning, "is_busy", lambda threads, running=1: False)
    monkeypatch.setattr(threads.BlasThreads, "has_several", staticmethod(lambda: several))
    taken = []
    known = threads.BlasThreads.within

    def noted(self, count, function, *arguments):
        taken.append(count)
        return known(self, count, function, *arguments)

    monkeypatch.setattr(threads.BlasThreads, "within", noted)
    return taken


def test_a_plan_begins_with_the_number_in_its_note_and_tells_it_what_is_best(monkeypatch):
    taken, told = counts_of_plans(monkeypatch), []
    known = [1]

    class Note(segment.PlanNote):
        def __init__(self, *given):
            super().__init__(*given)
            self.thread_counts = list(known)

        def note_threads(self, *given):
            told.append(given)

    monkeypatch.setattr(segment, "PlanNote", Note)
    plan_of(128)
    assert set(taken) == {1} and not told
    known.clear()
    plan_of(128)
    assert [place for place, _ in told] == [0]


def test_a_trial_in_which_one_run_is_held_up_goes_on(monkeypatch):
    clock = Clock(monkeypatch, one=2.0, two=4.0)
    crew = tuning.ThreadTuner(clock, 2, False)
    ran(crew, 14)  # one is faster
    clock.seconds[2] = 1.0
    del clock.taken[:]
    while clock.taken.count(2) < tuning.WARM:
        ran(crew, 1)
    clock.seconds[2] = 10.0
    ran(crew, 1)
    clock.seconds[2] = 1.0
    ran(crew, 20)
    assert clock.taken[-10:] == [2] * 10
