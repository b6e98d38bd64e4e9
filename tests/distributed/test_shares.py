import random
from itertools import chain

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FluidWarning
from fluidlite.ground.process_group import OneProcess, groups


class Member(OneProcess):
    """One of several processes that need not talk."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size


def shares_of(size, reader, epochs=1, **options):
    """What each of several processes reads, by epoch."""
    found = []
    for rank in range(size):
        with groups.guard(Member(rank, size)):
            made = fluid.distributed.shard_reader(reader, **options)
            found.append([list(made()) for _ in range(epochs)])
    return [[each[epoch] for each in found] for epoch in range(epochs)]


def ten(batch_size=4):
    return fluid.io.batch(lambda: iter(range(10)), batch_size)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_shares_of_a_batch_are_the_batch(size):
    (epoch,) = shares_of(size, ten(5))
    assert all(len(shares) == 2 for shares in epoch)
    for number, want in enumerate(ten(5)()):
        assert list(chain(*(shares[number] for shares in epoch))) == want


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_weights_make_the_mean_of_uneven_shares_that_of_the_batch(size):
    (epoch,) = shares_of(size, ten(), weights=True)
    for number, batch in enumerate(ten()()):
        pairs = [shares[number] for shares in epoch]
        mean = np.mean([weight[0] * np.mean(share) for share, weight in pairs])
        assert mean == pytest.approx(np.mean(batch), rel=1e-6)
        assert list(chain(*(share for share, weight in pairs if weight[0]))) == batch
        assert all(len(share) for share, _ in pairs)


def test_a_batch_that_is_too_small_for_all_is_left_out_with_a_warning():
    with pytest.warns(FluidWarning, match="a batch of 2 samples for 3 processes is left out"):
        (epoch,) = shares_of(3, ten())
    assert [len(shares) for shares in epoch] == [2, 2, 2]


def test_all_processes_shuffle_alike_and_otherwise_in_each_epoch():
    reader = fluid.io.batch(fluid.io.shuffle(lambda: iter(range(10)), 10), 4)
    random.seed(1)
    first, second = shares_of(2, reader, epochs=2, weights=True, seed=9)
    orders = []
    for epoch in (first, second):
        read = [s for pair in zip(*epoch, strict=True) for share, _ in pair for s in share]
        assert sorted(read) == list(range(10))
        orders.append(read)
    assert orders[0] != orders[1]


def test_what_others_draw_does_not_matter_and_is_not_disturbed():
    reader = fluid.io.shuffle(lambda: iter([[k] for k in range(20)]), 5)
    quiet = list(fluid.distributed.shard_reader(reader, seed=2)())
    random.seed(5)
    want = [random.random() for _ in range(20)]
    random.seed(5)
    drawn, read = [], []
    for share in fluid.distributed.shard_reader(reader, seed=2)():
        drawn.append(random.random())
        read.append(share)
    assert (read, drawn) == (quiet, want)


def test_an_epoch_goes_on_with_another_number_of_processes():
    reader = fluid.io.batch(fluid.io.shuffle(lambda: iter(range(24)), 24), 6)
    with groups.guard(Member(0, 2)):
        made = fluid.distributed.shard_reader(reader, seed=3)
        whole = list(fluid.distributed.shard_reader(reader, seed=3)())
        begun = made()
        assert [next(begun), next(begun)] == whole[:2]
        state = made.state()
    left = []
    for rank in range(3):
        with groups.guard(Member(rank, 3)):
            again = fluid.distributed.shard_reader(reader)
            again.restore(state)
            left.append(list(again()))
    assert [len(each) for each in left] == [2, 2, 2]
    had = [set(x) for x in whole[:2]]
    for number in range(2):
        joined = list(chain(*(each[number] for each in left)))
        assert joined[:3] == whole[2 + number]
        assert not any(set(joined) & some for some in had)


def test_arrays_in_tuples_and_dictionaries_are_cut():
    x, y = np.arange(6).reshape(3, 2), np.arange(3)
    with groups.guard(Member(1, 2)):
        (share,) = fluid.distributed.shard_reader(lambda: iter([(x, y)]))()
        assert np.array_equal(share[0], x[2:]) and np.array_equal(share[1], y[2:])
        (share,) = fluid.distributed.shard_reader(lambda: iter([{"x": x, "y": y}]))()
        assert np.array_equal(share["x"], x[2:]) and share["y"].tolist() == [2]
        (share,) = fluid.distributed.shard_reader(lambda: iter([x]))()
        assert np.array_equal(share, x[2:])


@pytest.mark.parametrize(
    "batch", [3, (np.zeros(2), np.zeros(3)), {"x": [1], "y": [1, 2]}, {}], ids=repr
)
def test_a_batch_that_cannot_be_cut_is_refused(batch):
    with pytest.raises(ArgumentError, match="expected a batch to be"):
        list(fluid.distributed.shard_reader(lambda: iter([batch]))())


def test_wrong_arguments_are_refused():
    with pytest.raises(ArgumentError, match="expected a function that gives batches"):
        fluid.distributed.shard_reader([1, 2])
    with pytest.raises(ArgumentError, match="expected seed"):
        fluid.distributed.shard_reader(ten(), seed=-1)
    made = fluid.distributed.shard_reader(ten(), seed=1)
    with pytest.raises(ArgumentError, match="with seed, epoch and batches"):
        made.restore({"seed": 3})
    assert made.state() == {"seed": 1, "epoch": 0, "batches": 0}
