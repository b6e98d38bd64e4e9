"""Loaders of what generators give, in loops."""

import gc
import threading
import traceback

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedError

loader_of = fluid.io.DataLoader.from_generator


@pytest.fixture
def variables():
    return [fluid.data("x", [None, 3]), fluid.data("y", [None, 1], "int64")]


def samples(count=5):
    return lambda: ((np.full(3, k, "float32"), [k]) for k in range(count))


def batches(count=3, rows=2):
    def generator():
        for k in range(count):
            yield np.full([rows, 3], k, "float32"), np.full([rows, 1], k, "int64")

    return generator


def firsts(loader):
    """The first number of x of each batch of a pass, and how many rows each has."""
    return [(np.array(d["x"])[0, 0], np.array(d["x"]).shape[0]) for step in loader for d in step]


def test_samples_become_batches(variables):
    loader = loader_of(variables, capacity=2)
    assert loader.set_sample_generator(samples(), batch_size=2) is loader
    assert firsts(loader) == [(0, 2), (2, 2)]


def test_a_last_batch_that_is_shorter_is_kept_where_that_is_said(variables):
    loader = loader_of(variables, capacity=2)
    loader.set_sample_generator(samples(), batch_size=2, drop_last=False)
    assert firsts(loader) == [(0, 2), (2, 2), (4, 1)]


def test_lists_of_samples_are_batches(variables):
    loader = loader_of(variables, capacity=2)
    loader.set_sample_list_generator(fluid.io.batch(samples(), 3))
    assert firsts(loader()) == [(0, 3), (3, 2)]


def test_batches_are_given_as_they_are(variables):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches())
    assert firsts(loader()) == [(0, 2), (1, 2), (2, 2)]


def test_every_pass_begins_anew(variables):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches())
    assert firsts(loader()) == firsts(loader()) == firsts(loader)


def test_a_loop_in_a_loop_has_a_pass_of_its_own(variables):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches(2))
    assert [len(firsts(loader())) for _ in loader()] == [2, 2]


def test_steps_are_fed_as_they_come(variables):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches(), fluid.CPUPlace())
    total = fluid.layers.reduce_sum(variables[0])
    exe = fluid.Executor()
    assert [exe.run(feed=d, fetch_list=[total])[0].item() for d in loader()] == [0, 6, 12]


def test_steps_of_a_compiled_program_keep_their_sequences():
    x = fluid.data("x", [None, 1], "int64", lod_level=1)
    loader = loader_of([x], capacity=2)
    loader.set_sample_generator(lambda: iter([([1, 2],), ([3],)]), batch_size=2)
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    total = fluid.layers.reduce_sum(x)
    (step,) = loader
    found = fluid.Executor().run(compiled, step, [x, total], return_numpy=False)
    assert found[0].lod() == [[0, 2, 3]] and np.array(found[1])[0] == 6


def test_lists_are_given_where_they_are_wanted(variables):
    loader = loader_of(variables, capacity=2, return_list=True).set_batch_generator(batches())
    x, y = next(iter(loader))[0]
    assert x.shape() == [2, 3] and y.shape() == [2, 1] and x.lod() == []


def test_each_place_gets_a_batch(variables):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches(), fluid.cpu_places(2))
    assert [len(step) for step in loader] == [2]
    loader = loader_of(variables, capacity=2, drop_last=False)
    loader.set_batch_generator(batches(), fluid.cpu_places(2))
    assert [len(step) for step in loader] == [2, 1]


def test_next_goes_on_with_the_loop_or_begins_one(variables):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches())
    assert np.array(loader.next()[0]["x"])[0, 0] == 0
    assert np.array(next(loader)[0]["x"])[0, 0] == 1
    begun = iter(loader)
    next(begun)
    assert np.array(next(loader)[0]["x"])[0, 0] == 1


def test_sequences_are_given_as_lod_tensors():
    x = fluid.data("x", [None, 1], "int64", lod_level=1)
    y = fluid.data("y", [None, 1], "int64")
    loader = loader_of([x, y], capacity=2)
    loader.set_sample_generator(lambda: iter([([1, 2], [0]), ([3], [1])]), batch_size=2)
    ((step,),) = loader
    assert step["x"].lod() == [[0, 2, 3]] and np.array(step["x"]).tolist() == [[1], [2], [3]]
    loader.set_batch_generator(lambda: iter([[step["x"], np.zeros([2, 1], "int64")]]))
    assert next(iter(loader))[0]["x"].recursive_sequence_lengths() == [[2, 1]]


def test_a_generator_may_write_to_the_array_that_it_has_given(variables):
    def generator():
        x, y = np.zeros([1, 3], "float32"), np.zeros([1, 1], "int64")
        for k in range(4):
            x[:] = k
            yield x, y

    loader = loader_of(variables, capacity=4).set_batch_generator(generator)
    assert [first for first, _ in firsts(loader)] == [0, 1, 2, 3]


def test_a_dictionary_and_an_array_alone_are_batches(variables):
    x, y = next(batches()())
    loader = loader_of(variables, capacity=2)
    loader.set_batch_generator(lambda: iter([{"y": y, "x": x}]))
    assert firsts(loader) == [(0, 2)]
    alone = loader_of(variables[:1], capacity=2).set_batch_generator(lambda: iter([x]))
    assert firsts(alone) == [(0, 2)]


def test_eager_tensors_are_given_under_the_guard():
    with fluid.dygraph.guard():
        loader = loader_of(capacity=2, return_list=True).set_batch_generator(batches())
        x, y = next(iter(loader))
        assert isinstance(x, fluid.dygraph.VarBase) and y.numpy().tolist() == [[0], [0]]
        with pytest.warns(UserWarning, match="it is iterable"):
            assert loader_of(capacity=2, iterable=False).iterable


def test_a_py_reader_has_the_older_names(variables):
    reader = fluid.io.PyReader(variables, capacity=2)
    for decorate, given in (
        (reader.decorate_sample_generator, (samples(4), 2)),
        (reader.decorate_sample_list_generator, (fluid.io.batch(samples(4), 2),)),
        (reader.decorate_batch_generator, (batches(2),)),
    ):
        assert decorate(*given, places=fluid.cpu_places()) is None
        assert len(firsts(reader())) == 2


def test_the_exception_of_a_generator_has_its_own_line(variables):
    def generator():
        yield from batches(1)()
        raise LookupError("mine")

    passed = iter(loader_of(variables, capacity=2).set_batch_generator(generator))
    next(passed)
    with pytest.raises(LookupError, match="mine") as caught:
        next(passed)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert 'raise LookupError("mine")' in lines


def test_the_thread_ends_when_a_loop_is_left(variables):
    closed = threading.Event()

    def generator():
        try:
            while True:
                yield from batches()()
        finally:
            closed.set()

    loader = loader_of(variables, capacity=2).set_batch_generator(generator)
    for _ in loader():
        break
    gc.collect()
    assert closed.wait(20)


def test_order_is_kept_whatever_is_said_of_it():
    fluid.reader.keep_data_loader_order(False)
    assert fluid.reader.keep_data_loader_order() is False


@pytest.mark.parametrize(
    "generator, message",
    [
        (lambda: iter([[1]]), r"batch of 2 values \(x, y\), got 1"),
        (lambda: iter([[1, 2, 3]]), "got 3"),
        (lambda: iter([[([1, 2, 3], 0), ([1, 2, 3], 1), ([1, 2, 3], 1)]]), "set_sample_list"),
        (lambda: iter([["text", 1]]), "array of numbers for variable 'x', got 'text'"),
        (lambda: iter([[None, 1]]), "variable 'x', got None of type NoneType"),
        (lambda: iter([{"x": 1}]), "expected a batch with 'y', it has 'x'"),
    ],
)
def test_a_batch_that_is_none_says_which_reader_gave_it(variables, generator, message):
    loader = loader_of(variables, capacity=2).set_batch_generator(generator)
    with pytest.raises(FeedError, match=message) as caught:
        next(iter(loader))
    assert "DataLoader made at" in str(caught.value)
    assert "batch generator set at" in str(caught.value)
    assert "test_generator.py" in str(caught.value)


def test_a_sample_with_too_few_fields_says_so(variables):
    loader = loader_of(variables, capacity=2)
    loader.set_sample_generator(lambda: iter([(1,)]), batch_size=1)
    with pytest.raises(ArgumentError, match=r"sample generator set at .*2 fields \(x, y\)"):
        next(iter(loader))


def test_samples_that_do_not_fit_name_the_variable(variables):
    loader = loader_of(variables, capacity=2)
    loader.set_sample_generator(lambda: iter([([1, 2, "a"], 0)]), batch_size=1)
    with pytest.raises(FeedError, match="'x' is float32; expected numbers"):
        next(iter(loader))


@pytest.mark.parametrize("capacity", [None, 0, -1, "two", 1.5])
def test_a_capacity_of_nothing_is_refused(variables, capacity):
    with pytest.raises(ArgumentError, match="capacity"):
        loader_of(variables, capacity=capacity)


@pytest.mark.parametrize(
    "feed_list", [None, [], "x", [3], 3], ids=["none", "empty", "text", "number", "no list"]
)
def test_a_feed_list_of_something_else_is_refused(feed_list):
    with pytest.raises(ArgumentError, match="feed_list"):
        loader_of(feed_list, capacity=2)


@pytest.mark.parametrize("size", [0, -2, None, "many"])
def test_a_batch_size_of_nothing_is_refused(variables, size):
    with pytest.raises(ArgumentError, match="batch_size of 1 or more"):
        loader_of(variables, capacity=2).set_sample_generator(samples(), size)


def test_a_generator_in_the_place_of_a_function_is_refused(variables):
    with pytest.raises(ArgumentError, match="give the function that makes it"):
        loader_of(variables, capacity=2).set_batch_generator(batches()())


@pytest.mark.parametrize("places", [3, [], "cpu"])
def test_places_that_are_none_are_refused(variables, places):
    with pytest.raises(ArgumentError, match="a place or a list of them"):
        loader_of(variables, capacity=2).set_batch_generator(batches(), places)


def test_a_loader_without_a_generator_says_so(variables):
    with pytest.raises(ArgumentError, match="has nothing to read"):
        iter(loader_of(variables, capacity=2))


@pytest.mark.parametrize("method", ["start", "reset"])
def test_an_iterable_loader_is_not_started(variables, method):
    loader = loader_of(variables, capacity=2).set_batch_generator(batches())
    assert loader.iterable and loader.queue is None
    with pytest.raises(ArgumentError, match=f"{method}\\(\\) is for one that"):
        getattr(loader, method)()
