"""The pool of threads for large work: results do not depend on how many there are."""

import functools
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground import state
from fluidlite.kernels import pooling, step, threads

layers = fluid.layers
pytestmark = pytest.mark.usefixtures("several_blas_threads")


@pytest.fixture
def use(monkeypatch):
    """A function that lets so many threads work."""

    def pool_of(count):
        monkeypatch.setattr(threads, "cores", lambda: count)
        monkeypatch.setenv("FLUIDLITE_NUM_THREADS", str(count))
        state.reset()
        assert threads.count() == count

    return pool_of


def images(samples=16):
    """A net whose convolutions, pooling and optimizer steps are all cut."""
    x = fluid.data("x", [samples, 3, 32, 32], "float32")
    label = fluid.data("label", [samples, 1], "int64")
    hidden = layers.conv2d(x, 16, 5, padding=2, act="relu")
    hidden = layers.pool2d(hidden, 2, "max", 2)
    hidden = layers.conv2d(hidden, 24, 3, stride=2, padding=1, act="tanh")
    hidden = layers.conv2d(hidden, 24, 3, padding=1, act="tanh")
    hidden = layers.fc(hidden, 200)
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 10), label))
    return loss, {"x": [samples, 3, 32, 32], "label": [samples, 1]}


def wide():
    """A net of element-wise operators on large values."""
    x = fluid.data("x", [600, 1200], "float32")
    w = layers.create_parameter([1, 1200], "float32", attr="w")
    hidden = layers.exp(layers.tanh(layers.elementwise_mul(x, w)))
    hidden = layers.elementwise_max(layers.sqrt(hidden), layers.transpose(hidden, [0, 1]))
    hidden = layers.elementwise_add(hidden, layers.log(hidden))
    return layers.mean(hidden), {"x": [600, 1200]}


def trained(build, optimizer, kernels=None):
    """Losses and parameters after some specialised steps."""
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    main.random_seed = startup.random_seed = 7
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        loss, shapes = build()
        optimizer().minimize(loss)
    rng = np.random.default_rng(1)
    feed = {
        name: rng.integers(0, 10, shape)
        if name == "label"
        else rng.normal(size=shape).astype("float32")
        for name, shape in shapes.items()
    }
    exe = fluid.Executor()
    exe.run(startup, scope=scope)
    losses = [exe.run(main, feed, [loss], scope=scope)[0] for _ in range(4)]
    assert "def run(" in exe.plan(main, [loss]).source
    return losses + [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]


OPTIMIZERS = {
    "sgd": lambda: fluid.optimizer.SGD(0.05),
    "momentum": lambda: fluid.optimizer.Momentum(0.05, 0.9),
    "adam": lambda: fluid.optimizer.Adam(0.01),
}


@pytest.fixture
def in_parts(monkeypatch):
    """Work that is small is cut, too: the names of the modules whose work was, as it is done."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    monkeypatch.setattr(step, "CUT_FROM", 1)
    monkeypatch.setattr(pooling, "PART", 1)
    each, modules = threads.each, set()

    def noted(function, count, *args, **named):
        if count > 1:
            modules.add(function.__module__.rpartition(".")[2])
        return each(function, count, *args, **named)

    monkeypatch.setattr(threads, "each", noted)
    return modules


def busy_threads():
    return [t for t in threading.enumerate() if t.name.startswith("fluidlite-")]


@pytest.mark.parametrize(
    "build, optimizer", [(images, "momentum"), (images, "adam"), (wide, "sgd")]
)
def test_results_are_the_same_to_the_last_bit_on_1_2_and_3_threads(build, optimizer, use, in_parts):
    found = []
    for count in (1, 2, 3, 2):
        use(count)
        found.append(trained(build, OPTIMIZERS[optimizer]))
        assert len(busy_threads()) >= count - 1
    for other in found[1:]:
        for mine, want in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(mine, want)
    if build is images:
        assert in_parts >= {"convolution", "winograd", "pooling", "step"}


def test_every_part_is_done_once_and_by_a_worker_that_may(use):
    use(3)
    for parts in (0, 1, 2, 3, 50):
        done, workers = [], set()

        def part(k, worker, done=done, workers=workers):
            done.append(k)
            workers.add(worker)

        threads.each(part, parts)
        assert sorted(done) == list(range(parts))
        assert workers <= {0, 1, 2}
    workers.clear()
    threads.each(part, 50, workers=2)
    assert workers <= {0, 1, 2}


@pytest.mark.parametrize("count", [2, 3])
def test_several_threads_do_work_at_once(count, use):
    use(count)
    together = threading.Barrier(count)
    threads.each(lambda k, worker: together.wait(10), count)  # would not end if one did all


def test_an_error_in_a_part_reaches_the_caller_and_the_pool_goes_on(use):
    use(2)

    def part(k, worker):
        if k == 3:
            raise ValueError("part 3")

    for _ in range(3):
        with pytest.raises(ValueError, match="part 3"):
            threads.each(part, 8)
        threads.each(lambda k, worker: None, 8)


def test_small_work_starts_no_threads(use):
    use(2)
    before = len(busy_threads())
    x = fluid.data("x", [16, 8], "float32")
    loss = layers.mean(layers.square(layers.fc(x, 4, act="tanh")))
    fluid.optimizer.Adam().minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(5):
        exe.run(feed={"x": np.ones([16, 8], "float32")}, fetch_list=[loss])
    assert len(busy_threads()) <= before


def test_work_inside_of_work_is_done_by_whoever_asks(use):
    use(2)
    done = []

    def outer(k, worker):
        threads.each(lambda i, _: done.append((k, i)), 3)

    threads.each(outer, 4)
    assert sorted(done) == [(k, i) for k in range(4) for i in range(3)]


def test_two_callers_at_once_both_get_their_work_done(use):
    use(2)
    found = {}

    def call(number):
        for _ in range(200):
            total = np.zeros(8)
            threads.each(lambda k, _, total=total: total.__setitem__(k, k), 8)
            found.setdefault(number, set()).add(total.sum())

    callers = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == {k: {28.0} for k in range(4)}


def blas_threads():
    from threadpoolctl import threadpool_info

    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_without_threadpoolctl_products_are_not_divided(use, monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    use(2)
    seen = []
    threads.each(lambda k, worker: seen.append((k, threading.get_ident())), 4, blas=True)
    assert seen == [(k, threading.get_ident()) for k in range(4)]
    assert not threads.BlasThreads.has_several()


def test_the_blas_takes_one_thread_inside_and_what_it_had_afterwards(use):
    use(2)
    before, inside = blas_threads(), []
    threads.each(lambda k, worker: inside.append(blas_threads()), 4, blas=True)
    assert all(set(each) <= {1} for each in inside)
    assert blas_threads() == before
    with pytest.raises(ZeroDivisionError):
        threads.each(lambda k, worker: 1 // 0, 4, blas=True)
    assert blas_threads() == before


def test_a_function_runs_with_the_threads_of_the_blas_or_with_one():
    blas, before = threads.BlasThreads(), blas_threads()
    assert blas.within(2, blas_threads) == before
    assert set(blas.within(1, blas_threads)) <= {1}
    assert blas.has_several() == any(count > 1 for count in before)
    assert not blas.within(1, blas.has_several)


def test_never_more_threads_than_processors(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)
    for wanted, count in (("", 2), ("1", 1), ("9", 2), ("0", 2), ("many", 2)):
        monkeypatch.setenv("FLUIDLITE_NUM_THREADS", wanted)
        state.reset()
        assert threads.count() == count
    assert threads.cores() >= 1


def test_threads_end_with_their_pool(use):
    use(3)
    threads.each(lambda k, worker: None, 8)
    mine = busy_threads()
    assert mine
    state.reset()
    gc.collect()  # errors of tests before this one may refer to their pools
    for thread in mine:
        thread.join(10)
    assert not any(thread.is_alive() for thread in mine)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own():
    code = """
import os
os.environ["FLUIDLITE_NUM_THREADS"] = "2"
from fluidlite.kernels import threads
threads.cores = lambda: 2
threads.each(lambda k, worker: None, 4)
pid = os.fork()
done = []
threads.each(lambda k, worker: done.append(k), 4)
assert sorted(done) == [0, 1, 2, 3]
if pid:
    assert os.waitpid(pid, 0)[1] == 0
else:
    os._exit(0)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    "function, shapes",
    [
        (np.tanh, [(500, 700)]),
        (np.add, [(500, 700), (700,)]),
        (np.multiply, [(500, 700), (500, 1)]),
        (np.maximum, [(1, 700), (500, 1)]),
        (np.less, [(500, 700), (500, 700)]),
        (np.subtract, [(), (500, 700)]),
    ],
)
@pytest.mark.parametrize("order", ["rows", "columns"])
def test_a_function_that_is_cut_gives_what_it_gives_uncut(function, shapes, order, use):
    use(2)
    rng = np.random.default_rng(0)
    given = [np.asarray(rng.normal(size=shape), "float32") for shape in shapes]
    if order == "columns":
        given = [np.asfortranarray(each) for each in given]
    want, cut = function(*given), threads.spread(function)
    found = cut(*given)
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(found, want)
    room = np.empty_like(want)
    assert cut(*given, out=room) is room
    np.testing.assert_array_equal(room, want)


def test_only_what_is_large_and_element_wise_is_cut():
    assert threads.spread_where_large(np.tanh, threads.COSTLY - 1) is np.tanh
    assert threads.spread_where_large(np.tanh, threads.COSTLY) is not np.tanh
    assert threads.spread_where_large(np.add, threads.CHEAP - 1) is np.add
    assert threads.spread_where_large(np.add, threads.CHEAP) is not np.add
    assert threads.spread_where_large(np.matmul, 1 << 30) is np.matmul
    assert threads.spread_where_large(np.frexp, 1 << 30) is np.frexp
    reduce = functools.partial(np.sum, axis=0)
    assert threads.spread_where_large(reduce, 1 << 30) is reduce
