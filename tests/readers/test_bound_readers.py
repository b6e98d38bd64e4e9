"""Programs that read their batches themselves take the fast path, and read each batch once."""

import traceback

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FeedError, NonFiniteError
from fluidlite.runtime import bound

layers = fluid.layers


@pytest.fixture
def fast(monkeypatch):
    """Tells how many runs took the fast path."""
    taken = []
    run_bound = bound.run_bound

    def counted(*arguments):
        results = run_bound(*arguments)
        taken.append(results is not None)
        return results

    monkeypatch.setattr("fluidlite.runtime.executor.run_bound", counted)
    return lambda: sum(taken)


def reader_of(arrays, name="x", lod_level=0):
    """A variable that a loader of the program gives, and the loader, which has been started."""
    x = fluid.data(name, [None, 3], lod_level=lod_level)
    loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
    loader.set_batch_generator(arrays)
    loader.start()
    return x, loader


def numbered(*rows):
    """A generator of batches of so many rows that are full of 0, 1, ..."""

    def generator():
        for k, count in enumerate(rows):
            yield [np.full([count, 3], k, "float32")]

    return generator


def summed(x):
    """The sum of a variable and how often it has been taken, which a persistable one counts."""
    found = [layers.reduce_sum(x), layers.autoincreased_step_counter()]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, found


def run(exe, found, **how):
    return [value.item() for value in exe.run(fetch_list=found, **how)]


def test_each_pass_reads_all_batches_once_on_the_fast_path(fast):
    x, loader = reader_of(numbered(1, 1, 1, 1, 1))
    exe, found = summed(x)
    for begin in (1, 6, 11):
        assert [run(exe, found) for _ in range(5)] == [[3 * k, begin + k] for k in range(5)]
        for _ in range(2):
            with pytest.raises(fluid.core.EOFException):
                exe.run(fetch_list=found)
        loader.reset()
        loader.start()
    assert fast() == 13


def test_a_program_that_is_fed_nothing_takes_the_fast_path(fast):
    found = layers.fill_constant([1], "float32", 2.0) * 3.0
    exe = fluid.Executor()
    assert [exe.run(fetch_list=[found])[0].item() for _ in range(4)] == [6] * 4
    assert fast() == 2


def test_training_is_that_of_planned_runs(fast):
    data = np.random.default_rng(3).random([12, 4, 3]).astype("float32")
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = main.random_seed = 5
    with fluid.program_guard(main, startup):
        x, loader = reader_of(lambda: ([each] for each in data))
        hidden = layers.dropout(layers.fc(x, 4, act="tanh", param_attr="w"), 0.5)
        loss = layers.mean(layers.square(hidden))
        fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    found = []
    for bare in (True, False):
        exe, scope = fluid.Executor(), fluid.Scope()
        exe.run(startup, scope=scope)
        runs = [exe.run(main, None, [loss, "w"], scope=scope, return_numpy=bare) for _ in data]
        found.append([[np.array(value) for value in values] for values in runs])
        loader.reset()
        loader.start()
    assert fast() == 10
    for fastly, planned in zip(*found, strict=True):
        assert all(map(np.array_equal, fastly, planned))


def test_a_batch_of_another_shape_is_read_once_by_a_planned_run(fast):
    x, _ = reader_of(numbered(2, 2, 2, 2, 1, 2, 2, 1, 1, 1))
    exe, found = summed(x)
    sums = [run(exe, found)[0] for _ in range(10)]
    assert sums == [0, 6, 12, 18, 12, 30, 36, 21, 24, 27]
    assert 4 <= fast() < 10


def test_what_is_read_is_fetched_as_a_copy(fast):
    batch = np.ones([2, 3], "float32")
    x, _ = reader_of(lambda: ([batch] for _ in range(6)))
    total = layers.reduce_sum(x)
    exe = fluid.Executor()
    for _ in range(5):
        mine = exe.run(fetch_list=[x, total])[0]
        mine[:] = 7
    assert fast() == 3 and (batch == 1).all()


def test_what_nothing_computes_with_is_read_all_the_same(fast):
    x, y = fluid.data("x", [None, 1]), fluid.data("y", [None, 1])
    loader = fluid.io.DataLoader.from_generator([x, y], capacity=2, iterable=False)
    pairs = [[np.full([1, 1], k, "float32"), np.full([1, 1], -k, "float32")] for k in range(9)]
    loader.set_batch_generator(lambda: iter(pairs))
    loader.start()
    exe, total = fluid.Executor(), layers.reduce_sum(x)
    assert [run(exe, [total]) for _ in range(5)] == [[0], [1], [2], [3], [4]]
    assert fast() == 3
    assert [run(exe, [total, y]) for _ in range(4)] == [[5, -5], [6, -6], [7, -7], [8, -8]]


def test_several_readers_go_on_together(fast):
    x, first = reader_of(numbered(1, 1, 1, 1, 1, 1))
    y, second = reader_of(numbered(1, 1, 1, 1, 1), "y")
    exe, found = summed(x + y)
    assert [run(exe, found)[0] for _ in range(5)] == [0, 6, 12, 18, 24]
    assert fast() == 3
    with pytest.raises(fluid.core.EOFException):
        exe.run(fetch_list=found)
    second.reset()
    second.start()
    with pytest.raises(fluid.core.EOFException):  # the first one had one batch more
        exe.run(fetch_list=found)
    for loader in (first, second):
        loader.reset()
        loader.start()
    assert run(exe, found) == [0, 6]


def test_a_reader_that_is_read_twice_gives_two_batches():
    reader = layers.py_reader(2, [[-1, 3]], ["float32"], use_double_buffer=False)
    first, second = layers.read_file(reader), layers.read_file(reader)
    total = layers.reduce_sum(first - second * 10.0)
    reader.decorate_tensor_provider(numbered(*[1] * 10))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    reader.start()
    sums = [run(exe, [total])[0] for _ in range(5)]
    assert sums == [3 * (k - 10 * (k + 1)) for k in range(0, 10, 2)]


def test_sequences_are_read_once():
    def generator():
        for k in range(5):
            yield [fluid.create_lod_tensor(np.full([3, 3], k, "float32"), [[1, 2]])]

    x, _ = reader_of(generator, lod_level=1)
    exe, found = summed(layers.sequence_pool(x, "sum"))
    assert [run(exe, found) for _ in range(5)] == [[9 * k, k + 1] for k in range(5)]


def test_the_exception_of_a_generator_has_its_traceback(fast):
    def generator():
        yield from numbered(1, 1, 1, 1)()
        raise LookupError("mine")

    x, _ = reader_of(generator)
    exe, found = summed(x)
    assert [run(exe, found)[1] for _ in range(4)] == [1, 2, 3, 4]
    with pytest.raises(LookupError, match="mine") as caught:
        exe.run(fetch_list=found)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert fast() == 2 and 'raise LookupError("mine")' in lines
    with pytest.raises(fluid.core.EOFException):
        exe.run(fetch_list=found)


def test_a_batch_that_is_refused_is_left_behind(fast):
    wrong = [np.ones([1, 4], "float32")]
    good = [np.ones([1, 3], "float32")]
    x, _ = reader_of(lambda: iter([good, good, good, wrong, good]))
    exe, found = summed(x)
    assert [run(exe, found) for _ in range(3)] == [[3, 1], [3, 2], [3, 3]]
    with pytest.raises(FeedError, match=r"'x' is declared with shape \[-1, 3\]"):
        exe.run(fetch_list=found)
    assert run(exe, found) == [3, 4] and fast() == 2


def test_a_run_that_finds_a_bad_value_has_read_its_batch():
    values = [1, 2, 3, 4, -1, 5]
    x, _ = reader_of(lambda: ([np.full([1, 3], k, "float32")] for k in values))
    exe, found = summed(layers.log(x))
    for k in range(1, 5):
        assert run(exe, found, check_nan_inf=True) == [pytest.approx(3 * np.log(k)), k]
    with pytest.raises(NonFiniteError, match="log"):
        exe.run(fetch_list=found, check_nan_inf=True)
    assert run(exe, found, check_nan_inf=True) == [pytest.approx(3 * np.log(5)), 5]


def test_a_trace_leaves_the_batch_to_the_fast_path(fast):
    x, _ = reader_of(numbered(1, 1, 1, 1, 1))
    exe, found = summed(x)
    for k in range(5):
        assert exe.trace()[found[0]] == 3 * k
        assert run(exe, found) == [3 * k, k + 1]
    assert fast() == 3


def test_what_is_fed_as_well_takes_part(fast):
    x, _ = reader_of(numbered(1, 1, 1, 1, 1))
    y = fluid.data("y", [None, 3])
    exe, found = summed(x + y)
    for k in range(4):
        fed = np.full([1, 3], 10, "float32")
        assert run(exe, found, feed={"y": fed})[0] == 3 * k + 30
    assert fast() == 2
    with pytest.raises(FeedError, match="'y' was not fed"):
        exe.run(fetch_list=found)
    assert run(exe, found, feed={"y": fed}) == [42, 5]


def test_a_py_reader_is_read_on_the_fast_path(fast):
    reader = layers.py_reader(2, [[-1, 3]], ["float32"])
    exe, found = summed(layers.read_file(reader))
    reader.decorate_tensor_provider(numbered(1, 1, 1, 1))
    reader.start()
    assert [run(exe, found) for _ in range(4)] == [[0, 1], [3, 2], [6, 3], [9, 4]]
    assert fast() == 2


def test_runs_without_a_kept_plan_read_on(fast):
    x, _ = reader_of(numbered(*[1] * 8))
    exe, found = summed(x)
    sums = [run(exe, found, use_program_cache=k % 2 == 0)[0] for k in range(8)]
    assert sums == [3 * k for k in range(8)]


def test_runs_that_are_checked_read_each_batch_once(monkeypatch, fast):
    monkeypatch.setenv("FLUIDLITE_CHECK", "1")
    x, _ = reader_of(numbered(*[1] * 5))
    exe, found = summed(x)
    assert [run(exe, found) for _ in range(5)] == [[3 * k, k + 1] for k in range(5)]
    assert fast() == 0
