"""Data sets, samplers and the numbers that they give."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, UnsupportedError

BatchSampler = fluid.io.BatchSampler


class Five(fluid.io.Dataset):
    def __getitem__(self, number):
        return [number]

    def __len__(self):
        return 5


def test_a_batch_sampler_gives_lists_of_numbers():
    sampler = BatchSampler(Five(), batch_size=2)
    assert list(sampler) == [[0, 1], [2, 3], [4]] and len(sampler) == 3


def test_a_batch_sampler_leaves_out_a_last_batch_that_is_shorter():
    sampler = BatchSampler(Five(), batch_size=2, drop_last=True)
    assert list(sampler) == [[0, 1], [2, 3]] and len(sampler) == 2


def test_a_batch_sampler_takes_numbers_or_a_sampler():
    assert list(BatchSampler(indices=[5, 7, 6], batch_size=2)) == [[5, 7], [6]]
    order = fluid.io.SequenceSampler("abc")
    assert list(BatchSampler(indices=order, batch_size=2)) == [[0, 1], [2]]


def test_shuffled_passes_are_those_of_fluid():
    np.random.seed(3)
    sampler = BatchSampler(range(6), shuffle=True, batch_size=6)
    assert [list(sampler) for _ in range(3)] == [  # fluid 1.8.5 printed these
        [[3, 5, 4, 1, 0, 2]],
        [[2, 0, 5, 4, 1, 3]],
        [[3, 0, 4, 1, 2, 5]],
    ]


def test_a_random_sampler_gives_each_number_once():
    np.random.seed(0)
    found = list(fluid.io.RandomSampler(range(20)))
    assert sorted(found) == list(range(20)) != found


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "got neither"),
        ({"dataset": Five(), "indices": [1]}, "got both"),
        ({"dataset": 3}, "expected a Dataset"),
        ({"indices": 3}, "a list or a sampler"),
        ({"dataset": Five(), "batch_size": 0}, "batch_size to be a positive integer, got 0"),
        ({"dataset": Five(), "batch_size": True}, "batch_size to be a positive integer"),
        ({"dataset": Five(), "shuffle": 1}, "shuffle to be True or False"),
        ({"dataset": Five(), "drop_last": "yes"}, "drop_last to be True or False"),
    ],
)
def test_a_batch_sampler_says_what_it_was_given_wrongly(given, message):
    with pytest.raises(ArgumentError, match=message):
        BatchSampler(**given)


@pytest.mark.parametrize("use", [lambda d: d[0], len])
def test_a_data_set_that_defines_nothing_says_so(use):
    class Nothing(fluid.io.Dataset):
        pass

    with pytest.raises(UnsupportedError, match="class Nothing is to define"):
        use(Nothing())


@pytest.mark.parametrize("use", [lambda d: d[0], len, iter])
def test_an_iterable_data_set_that_defines_nothing_says_so(use):
    with pytest.raises(UnsupportedError, match="class IterableDataset"):
        use(fluid.io.IterableDataset())


def test_a_sampler_that_defines_nothing_says_so():
    with pytest.raises(UnsupportedError, match="class Sampler is to define"):
        iter(fluid.io.Sampler())


def test_samples_are_stacked_field_by_field():
    x, y = fluid.io.default_collate_fn([(np.ones(2, "float32"), 1), (np.zeros(2, "float32"), 2)])
    assert x.tolist() == [[1, 1], [0, 0]] and x.dtype == "float32" and y.tolist() == [1, 2]


def test_samples_that_are_arrays_or_numbers_are_a_field():
    assert fluid.io.default_collate_fn([1.5, 2.0])[0].tolist() == [1.5, 2.0]
    assert fluid.io.default_collate_fn([np.ones(2), np.ones(2)])[0].shape == (2, 2)


def test_samples_that_are_dictionaries_stay_dictionaries():
    assert fluid.io.default_collate_fn([{"x": 1}, {"x": 2}])["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "batch, message",
    [
        (["a", "b"], "tuples of arrays and numbers, got 'a'"),
        ([None], "got None of type NoneType"),
        ([(1, 2), (1,)], r"as many fields as each other, got \[1, 2\]"),
        ([(np.ones(2),), (np.ones(3),)], r"field 0 .* shapes \[2\] and \[3\]"),
    ],
)
def test_samples_that_make_no_batch_are_refused(batch, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.io.default_collate_fn(batch)
