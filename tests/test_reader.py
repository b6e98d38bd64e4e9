"""Readers of readers."""

import itertools
import random
import threading
import time

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.reader import (
    ComposeNotAligned,
    batch,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    shuffle,
    xmap_readers,
)


def numbers(n=7):
    return lambda: iter(range(n))


class Broken(Exception):
    """What a reader of the tests fails with."""


def breaks_after(n):
    def read():
        yield from range(n)
        raise Broken

    return read


@pytest.mark.parametrize(
    "drop_last, expected", [(False, [[0, 1, 2], [3, 4, 5], [6]]), (True, [[0, 1, 2], [3, 4, 5]])]
)
def test_batches_are_lists(drop_last, expected):
    assert list(batch(numbers(), 3, drop_last)()) == expected
    assert list(batch(numbers(6), 3)()) == [[0, 1, 2], [3, 4, 5]]


def test_shuffling_keeps_items_among_those_of_the_buffer():
    random.seed(0)
    found = list(shuffle(numbers(100), 10)())
    assert found != list(range(100))
    assert [sorted(found[i : i + 10]) for i in range(0, 100, 10)] == [
        list(range(i, i + 10)) for i in range(0, 100, 10)
    ]


def test_shuffling_follows_python_s_seed():
    orders = []
    for _ in range(2):
        random.seed(3)
        orders.append(list(shuffle(numbers(50), 50)()))
    assert orders[0] == orders[1]


def test_mapping_takes_one_item_of_each_reader():
    assert list(map_readers(lambda a, b: 10 * a + b, numbers(3), numbers(5))()) == [0, 11, 22]


def test_chains_go_from_one_reader_to_the_next():
    assert list(chain(numbers(2), numbers(0), numbers(3))()) == [0, 1, 0, 1, 2]


def test_composed_items_are_joined():
    pairs = map_readers(lambda n: (n, n + 1), numbers(2))
    assert list(compose(pairs, numbers(2), lambda: ["a", [3]])()) == [
        (0, 1, 0, "a"),
        (1, 2, 1, [3]),
    ]


def test_composed_readers_must_be_equally_long():
    with pytest.raises(ComposeNotAligned, match="reader 1 ends after 2 and another goes on"):
        list(compose(numbers(3), numbers(2))())
    assert list(compose(numbers(3), numbers(2), check_alignment=False)()) == [(0, 0), (1, 1)]


def test_a_cache_reads_once():
    calls = []
    kept = cache(lambda: calls.append(1) or range(3))
    assert [list(kept()), list(kept()), len(calls)] == [[0, 1, 2], [0, 1, 2], 1]


def test_a_cache_of_nothing_reads_once():
    calls = []
    kept = cache(lambda: calls.append(1) or [])
    assert [list(kept()), list(kept()), len(calls)] == [[], [], 1]


def test_the_first_items_of_an_endless_reader():
    assert list(firstn(itertools.count, 3)()) == [0, 1, 2]
    assert list(firstn(numbers(2), 3)()) == [0, 1]
    assert list(firstn(numbers(2), 0)()) == []


MADE = [
    lambda read: batch(read, 2),
    lambda read: shuffle(read, 2),
    lambda read: map_readers(str, read),
    lambda read: chain(read, read),
    lambda read: compose(read),
    lambda read: cache(read),
    lambda read: firstn(read, 3),
    lambda read: buffered(read, 2),
    lambda read: xmap_readers(str, read, 2, 3, order=True),
]


@pytest.mark.parametrize("make", MADE)
def test_a_reader_starts_again_at_every_call(make):
    random.seed(0)
    read = make(numbers())
    first = list(read())
    random.seed(0)
    assert first and list(read()) == first


@pytest.mark.parametrize("make", MADE)
def test_what_a_reader_fails_with_is_passed_on(make):
    with pytest.raises(Broken):
        list(make(breaks_after(2))())


# -- threads ---------------------------------------------------------------------------------------


def test_buffered_items_keep_their_order():
    assert list(buffered(numbers(1000), 3)()) == list(range(1000))


def test_items_before_a_failure_are_read():
    seen = []
    with pytest.raises(Broken):
        for item in buffered(breaks_after(5), 2)():
            seen.append(item)
    assert seen == list(range(5))


def wait_for(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_a_buffer_reads_ahead_and_no_farther():
    read = []
    items = buffered(lambda: map(read.append, range(100)), 4)()
    next(items)
    assert wait_for(lambda: len(read) >= 5)
    time.sleep(0.05)
    assert len(read) <= 7  # one was taken, four wait, one waits for room, one is in between
    items.close()


def test_the_thread_ends_when_nobody_reads_any_more():
    before = set(threading.enumerate())  # by identity: threads of other tests may end meanwhile
    items = buffered(itertools.count, 2)()
    assert next(items) == 0
    started = set(threading.enumerate()) - before
    assert started
    items.close()
    assert wait_for(lambda: not any(thread.is_alive() for thread in started))


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("count", [0, 1, 4, 100])
def test_threads_map_every_item(order, count):
    found = list(xmap_readers(lambda n: n * n, numbers(count), 3, 4, order)())
    assert sorted(found) == [n * n for n in range(count)]
    assert found == sorted(found) or not order


def test_results_come_as_they_are_ready():
    gate = threading.Event()

    def slow_at_first(n):
        if n == 0:
            gate.wait(10)
        return n

    items = xmap_readers(slow_at_first, numbers(3), 2, 3)()
    assert sorted([next(items), next(items)]) == [1, 2]
    gate.set()
    assert list(items) == [0]


@pytest.mark.parametrize("order", [True, False])
def test_what_a_mapper_fails_with_is_passed_on(order):
    def fails(n):
        raise Broken

    with pytest.raises(Broken):
        list(xmap_readers(fails, numbers(), 2, 3, order)())


def test_mapping_ends_when_nobody_reads_any_more():
    before = set(threading.enumerate())
    items = xmap_readers(str, itertools.count, 2, 4)()
    next(items)
    started = set(threading.enumerate()) - before
    assert len(started) >= 2
    items.close()
    assert wait_for(lambda: not any(thread.is_alive() for thread in started))


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MADE)
def test_items_in_place_of_a_reader_are_refused(make):
    with pytest.raises(ArgumentError, match=r"expected a reader, a function .*, got \[1, 2\] of"):
        make([1, 2])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: batch(numbers(), 0), "batch: expected batch_size to be an integer of at least 1"),
        (lambda: batch(numbers(), "some"), "batch_size to be an integer of at least 1, got 'some'"),
        (lambda: shuffle(numbers(), []), "shuffle: expected buf_size to be an integer"),
        (lambda: buffered(numbers(), None), "buffered: expected size to be an integer"),
        (lambda: firstn(numbers(), None), "firstn: expected n to be an integer"),
        (lambda: xmap_readers(str, numbers(), 0, 1), "expected process_num to be an integer"),
        (lambda: xmap_readers(str, numbers(), 1, None), "expected buffer_size to be an integer"),
        (lambda: xmap_readers(3, numbers(), 1, 1), "expected mapper to be a function, got 3"),
        (lambda: map_readers(3, numbers()), "map_readers: expected func to be a function, got 3"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize("size", [2.0, 2.5, "2", np.int64(2), np.float32(2)])
def test_the_size_of_a_batch_is_what_int_makes_of_it(size):
    assert list(batch(lambda: range(3), size)()) == [[0, 1], [2]]


@pytest.mark.parametrize("size", [0, -1, 2.0])
def test_readers_take_sizes_of_nothing(size):
    assert list(buffered(lambda: range(5), size)()) == [0, 1, 2, 3, 4]
    assert sorted(shuffle(lambda: range(5), size)()) == [0, 1, 2, 3, 4]
    assert sorted(xmap_readers(abs, lambda: range(5), 2, size)()) == [0, 1, 2, 3, 4]


def test_a_buffer_of_nothing_leaves_items_in_their_order():
    assert list(shuffle(lambda: range(20), 0)()) == [*range(20)]


def test_a_negative_number_of_first_items_is_all_of_them():
    assert list(firstn(lambda: range(3), -1)()) == [0, 1, 2]


def test_readers_feed_programs():
    x = fluid.data("x", [None, 2], "float32")
    feeder = fluid.DataFeeder([x])
    rows = map_readers(lambda n: ([n, 2 * n],), numbers(5))
    shapes = [feeder.feed(rows)["x"].shape for rows in batch(rows, 2)()]
    assert shapes == [(2, 2), (2, 2), (1, 2)]
