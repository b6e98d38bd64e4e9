"""How the threads of oneDNN wait: awake, or asleep where processors have other work."""

import gc
import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.backend import onednn
from fluidlite.backend.onednn import memory
from fluidlite.backend.onednn.library import Library
from fluidlite.kernels import threads
from fluidlite.kernels.tuning import ThreadTuner

layers = fluid.layers
pytestmark = pytest.mark.skipif(
    onednn.load() is None or onednn.load().parallel is None, reason="no oneDNN with OpenMP"
)
AWAKE, ASLEEP = 2, 3


def idle(but=()):
    """The threads that have idle teams."""
    found = [each for each in threading.enumerate() if each.name == "onednn-idle"]
    return [each for each in found if each not in but]


@pytest.fixture
def library():
    """The library, loaded for this test alone."""
    return Library(onednn.load().path)


@pytest.fixture
def contexts(library, monkeypatch):
    monkeypatch.setattr(memory, "cores", lambda: 2)
    before = idle()
    made = memory.ContextFactory(library, 2)
    assert made.asleep == ASLEEP
    yield made
    library._idle = None
    assert ended(idle(before))


def ended(before):
    for thread in before:
        thread.join(10)
    return not any(thread.is_alive() for thread in before)


def test_an_idle_team_is_there_while_threads_are_to_sleep(contexts):
    before = idle()
    contexts.threads = ASLEEP
    assert contexts.threads == ASLEEP and contexts.thread_count.value == 2
    first = contexts.within(ASLEEP, idle, before)
    assert len(first) == 1
    assert contexts.within(ASLEEP, idle, before) == first
    assert contexts.within(AWAKE, ended, first) and not idle(before)


def test_as_many_threads_work_as_there_may_be(contexts):
    asked = contexts.library._get_threads
    counts = [contexts.within(count, asked) for count in (1, AWAKE, ASLEEP)]
    assert counts == [1, 2, 2]


def test_an_idle_team_ends_with_its_library(monkeypatch):
    monkeypatch.setattr(memory, "cores", lambda: 2)
    before = idle()
    begun = memory.ContextFactory(Library(onednn.load().path), 2).within(ASLEEP, idle, before)
    gc.collect()
    assert len(begun) == 1 and ended(begun)


def test_a_forked_process_has_one_thread_and_no_idle_team(contexts):
    before = idle()
    contexts.library.process += 1
    contexts.threads = ASLEEP
    assert contexts.within(ASLEEP, contexts.library._get_threads) == 1
    assert contexts.threads == 1 and not idle(before)


def test_where_there_may_be_no_more_threads_the_others_work(contexts, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert contexts.within(ASLEEP, contexts.library._get_threads) == 2


def test_threads_that_sleep_compute_the_same_bits(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 2)
    monkeypatch.setattr(memory, "cores", lambda: 2)
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "")
    wanted, taken = [AWAKE], set()

    def forced(self, function, *arguments):
        taken.add(wanted[0])
        self._control.threads = wanted[0]
        return self._control.within(wanted[0], function, *arguments)

    monkeypatch.setattr(ThreadTuner, "run", forced)
    main = fluid.default_main_program()
    x = fluid.data("x", [None, 3, 20, 20], "float32")
    hidden = layers.conv2d(x, 16, 3, act="relu")
    loss = layers.mean(layers.fc(hidden, 300))
    grads = [grad for _, grad in fluid.backward.append_backward(loss)]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.random.default_rng(0).standard_normal([16, 3, 20, 20]).astype("float32")}
    found = {}
    for wanted[0] in (AWAKE, ASLEEP, AWAKE, ASLEEP):
        for _ in range(3):
            values = exe.run(main, feed=feed, fetch_list=[loss, *grads])
        found.setdefault(wanted[0], []).append([value.tobytes() for value in values])
    assert taken == {AWAKE, ASLEEP}
    first, second = found.values()
    assert first[1] == second[0] == second[1]
