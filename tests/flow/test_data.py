"""Data sets, samplers and loaders of ``flow.utils.data``, which give what OneFlow 0.9 gives."""

import collections

import numpy as np
import pytest

from fluidlite import errors, flow
from fluidlite.flow.utils import data

Pair = collections.namedtuple("Pair", "a b")


class Mixed(data.Dataset):
    def __getitem__(self, number):
        part = {"a": flow.ones(1) * number}
        return np.full(2, number, "float32"), number, float(number), part, "x"

    def __len__(self):
        return 3


class Three(data.IterableDataset):
    def __iter__(self):
        return iter([1, 2, 3])


class Twice:
    def __call__(self, sample):
        return 2 * sample


def _rows():
    x = flow.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    return data.TensorDataset(x, flow.arange(3))


def _lists(batches):
    return [[part.tolist() for part in batch] for batch in batches]


WHOLE = [[[[0, 1], [2, 3]], [0, 1]], [[[4, 5]], [2]]]


@pytest.mark.parametrize("workers", [0, 2])
def test_rows_of_tensors_come_in_batches(workers):
    loader = data.DataLoader(_rows(), batch_size=2, num_workers=workers)
    assert len(loader) == 2
    assert _lists(loader) == _lists(loader) == WHOLE


def test_parts_of_samples_are_stacked_each_by_itself():
    array, number, fraction, part, text = next(iter(data.DataLoader(Mixed(), batch_size=2)))
    assert array.tolist() == [[0, 0], [1, 1]] and array.dtype == flow.float32
    assert number.tolist() == [0, 1] and number.dtype == flow.int64
    assert fraction.tolist() == [0, 1] and fraction.dtype == flow.float64
    assert part["a"].tolist() == [[0], [1]]
    assert text == ("x", "x")


@pytest.mark.parametrize(
    "samples, dtype",
    [
        ([1.5, 2.5], flow.float64),
        ([1, 2], flow.int64),
        ([True, False], flow.bool),
        ([np.float64(1), np.float64(2)], flow.float32),
        ([np.int32(1), np.int32(2)], flow.int32),
        ([np.ones(2), np.ones(2)], flow.float64),
    ],
)
def test_the_type_of_a_batch_is_oneflows(samples, dtype):
    (batch,) = data.DataLoader(samples, batch_size=2)
    assert batch.dtype == dtype
    assert batch.tolist() == [np.asarray(each).tolist() for each in samples]


def test_tuples_within_samples_are_lists_and_named_ones_keep_their_names():
    ((first, second),) = data.DataLoader([(1, (2, 3)), (4, (5, 6))], batch_size=2)
    assert first.tolist() == [1, 4]
    assert [each.tolist() for each in second] == [[2, 5], [3, 6]]
    (pair,) = data.DataLoader([Pair(1, 2), Pair(3, 4)], batch_size=2)
    assert pair.b.tolist() == [2, 4]


def test_samples_come_one_by_one_without_a_size():
    sample, *_ = data.DataLoader([(np.ones(2), 3)], batch_size=None)
    assert isinstance(sample[0], flow.Tensor) and sample[1] == 3
    loader = data.DataLoader([1, 2], batch_size=None, collate_fn=Twice(), num_workers=1)
    assert list(loader) == [2, 4]
    assert list(data.DataLoader(Three(), batch_size=None)) == [1, 2, 3]


def test_samples_that_are_read_in_order_come_in_batches():
    loader = data.DataLoader(Three(), batch_size=2)
    assert [batch.tolist() for batch in loader] == [[1, 2], [3]]
    assert [len(b) for b in data.DataLoader(Three(), batch_size=2, drop_last=True)] == [2]
    with pytest.raises(TypeError, match="does not know its length"):
        len(loader)


def test_samplers_say_the_order():
    assert _lists(data.DataLoader(_rows(), 2, sampler=[2, 0]))[0][1] == [2, 0]
    batches = _lists(data.DataLoader(_rows(), batch_sampler=[[2], [0, 1]]))
    assert [labels for _, labels in batches] == [[2], [0, 1]]
    flow.manual_seed(0)
    loader = data.DataLoader(_rows(), batch_size=3, shuffle=True)
    orders = {tuple(next(iter(loader))[1].tolist()) for _ in range(20)}
    assert len(orders) > 2
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2)}


def test_random_samplers_draw():
    assert sorted(data.RandomSampler("abc")) == [0, 1, 2]
    drawn = data.RandomSampler("abc", replacement=True, num_samples=7)
    assert len(list(drawn)) == len(drawn) == 7
    assert sorted(data.SubsetRandomSampler([4, 5])) == [4, 5]
    assert list(data.SequentialSampler("ab")) == [0, 1]


def test_batch_samplers_make_lists():
    numbers = data.SequentialSampler(range(5))
    assert list(data.BatchSampler(numbers, 2, False)) == [[0, 1], [2, 3], [4]]
    dropping = data.BatchSampler(numbers, 2, True)
    assert list(dropping) == [[0, 1], [2, 3]]
    assert len(dropping) == 2


def test_processes_share_a_data_set():
    parts = [data.DistributedSampler(range(5), 2, rank) for rank in (0, 1)]
    before = [list(part) for part in parts]
    assert {*before[0], *before[1]} == set(range(5))
    assert before == [list(part) for part in parts]
    orders = []
    for epoch in range(5):
        parts[0].set_epoch(epoch)
        orders.append(tuple(parts[0]))
    assert len(set(orders)) > 1
    assert list(data.DistributedSampler(range(5), 2, 1, shuffle=False)) == [1, 3, 0]
    assert list(data.DistributedSampler(range(5), 2, 1, shuffle=False, drop_last=True)) == [1, 3]


def test_data_sets_are_joined_and_split():
    both = data.Subset([5, 6], [1]) + data.Subset([7], [0])
    assert [both[k] for k in range(2)] == [6, 7]
    assert data.ConcatDataset([[1, 2], [3]]).cumulative_sizes == [2, 3]
    assert [len(part) for part in data.random_split(range(5), [3, 2])] == [3, 2]


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: data.DataLoader([1], shuffle=True, sampler=[0]), "sampler excludes shuffle"),
        (lambda: data.DataLoader([1], 2, batch_sampler=[[0]]), "excludes batch_size, got both"),
        (lambda: data.DataLoader([1], None, drop_last=True), "batch_size=None excludes drop_last"),
        (lambda: data.DataLoader(Three(), shuffle=True), "in order excludes shuffle"),
        (lambda: data.DataLoader([1], prefetch_factor=3), "num_workers=0 excludes prefetch"),
        (lambda: data.DataLoader([1], generator=3), "a Generator or None, got 3"),
        (lambda: data.DataLoader([1], multiprocessing_context="fork"), "context=None, got 'fork'"),
        (lambda: data.DataLoader([1], 0), "positive integer, got 0"),
        (lambda: data.RandomSampler("ab", num_samples=2), "with replacement=True"),
        (lambda: data.RandomSampler("ab", replacement=1), "True or False, got 1"),
        (lambda: data.BatchSampler([1], 1, 3), "expected drop_last to be True or False"),
        (lambda: data.DistributedSampler("ab", 2, 2), "expected rank from 0 to 1, got 2"),
        (lambda: data.TensorDataset(flow.ones(2), flow.ones(3)), r"as many rows each, got \[2, 3"),
        (lambda: list(data.DataLoader([[1], [1, 2]], 2)), r"as many fields .* got \[1, 2\]"),
        (lambda: list(data.DataLoader([object()])), "dictionaries and lists, got object"),
        (lambda: list(data.DataLoader([np.array("x")])), "got arrays of <U1"),
    ],
)
def test_what_does_not_fit_is_refused(ask, message):
    with pytest.raises(errors.ArgumentError, match=message):
        ask()


def test_arrays_of_different_sizes_make_no_batch():
    with pytest.raises(errors.ShapeError, match=r"got \[2\], \[3\]"):
        list(data.DataLoader([np.ones(2), np.ones(3)], batch_size=2))


def test_generators_draw_orders_and_parts():
    make = flow.utils.data

    def seeded():
        return flow.Generator().manual_seed(3)

    orders = [list(make.RandomSampler(range(9), generator=seeded())) for _ in range(2)]
    assert orders[0] == orders[1] and sorted(orders[0]) == [*range(9)]
    parts = [make.random_split(range(9), [4, 5], generator=seeded()) for _ in range(2)]
    assert list(parts[0][0]) == list(parts[1][0]) and len(parts[0][1]) == 5
    loader = make.DataLoader(range(9), shuffle=True, generator=seeded(), batch_size=9)
    assert next(iter(loader)).tolist() == orders[0]
    assert list(make.SubsetRandomSampler([4], generator=seeded())) == [4]
    with pytest.raises(errors.ArgumentError, match="a Generator or None"):
        list(make.RandomSampler(range(3), generator=3))
    with pytest.raises(errors.ArgumentError, match="add up to 9"):
        make.random_split(range(9), [1])


def test_data_sets_that_are_read_in_order_are_chained():
    chained = flow.utils.data.ChainDataset([range(2), "ab"])
    assert list(chained) == [0, 1, "a", "b"] and len(chained) == 4
    assert flow.utils.data.dataset.ChainDataset is flow.utils.data.ChainDataset
    assert flow.utils.data.get_worker_info() is None


def test_a_loader_says_how_large_its_batches_are():
    rows = flow.utils.data.TensorDataset(flow.arange(5))
    made = flow.utils.data.DataLoader(rows, batch_size=4, drop_last=True)
    assert (made.batch_size, made.drop_last, len(made), len([*made])) == (4, True, 1, 1)
    assert flow.utils.data.DataLoader(rows).batch_size == 1
    assert flow.utils.data.DataLoader(rows, batch_size=None).batch_size is None
    assert flow.utils.data.DataLoader(rows, batch_sampler=[[0, 1]]).batch_size is None


def test_batches_are_made_by_a_function_that_has_a_name():
    made = flow.utils.data.dataloader.default_collate([(1, flow.ones(2)), (2, flow.zeros(2))])
    assert [part.tolist() for part in made] == [[1, 2], [[1, 1], [0, 0]]]
