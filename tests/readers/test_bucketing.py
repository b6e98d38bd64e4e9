"""Batches of few shapes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedError


@pytest.fixture
def columns():
    """Two variables that share a size."""
    return fluid.data("x", ["batch", "time", 2]), fluid.data("y", ["batch", "time"], "int64")


def example(n):
    return np.full((n, 2), n, "float32"), np.arange(n)


def test_examples_of_one_bucket_make_a_batch_and_keep_their_elements(columns):
    lengths = [3, 1, 4, 2, 5, 8]
    read = fluid.io.bucketed(lambda: map(example, lengths), columns, 2, {"time": [8, 4, 2]})
    batches = list(read())
    assert [batch["x"].shape for batch in batches] == [(2, 4, 2), (2, 2, 2), (2, 8, 2)]
    for batch, (one, other) in zip(batches, [(3, 4), (1, 2), (5, 8)]):
        for row, n in enumerate((one, other)):
            assert batch["y"][row, :n].tolist() == list(range(n)) and not batch["y"][row, n:].any()
            assert (batch["x"][row, :n] == n).all() and not batch["x"][row, n:].any()
    assert [batch["x"].shape for batch in read()] == [batch["x"].shape for batch in batches]


def test_what_is_left_makes_smaller_batches_or_none(columns):
    def read(**more):
        return list(
            fluid.io.bucketed(
                lambda: map(example, [1, 3, 3]), columns, 2, {"time": [2, 4]}, **more
            )()
        )

    assert [len(batch["x"]) for batch in read()] == [2, 1]
    assert [len(batch["x"]) for batch in read(drop_last=True)] == [2]
    assert read(fill={"y": -1})[0]["y"].tolist() == [[0, 1, 2, -1]] * 2


def test_a_program_runs_on_the_batches(columns):
    total = fluid.layers.reduce_sum(columns[0])
    read = fluid.io.bucketed(lambda: map(example, [3, 1]), columns, 1, {"time": [4]})
    exe = fluid.Executor()
    assert [float(exe.run(feed=batch, fetch_list=[total])[0][0]) for batch in read()] == [18.0, 2.0]


@pytest.mark.parametrize(
    "item, said",
    [
        (example(9), "example 0: size 'time' is 9, the largest bucket is 4"),
        ((np.ones((3, 2)), np.arange(2)), "size 'time' is 3 in 'x' and 2 in 'y'"),
        ((np.ones(3), np.arange(3)), "expected 2 dimensions of 'x'"),
        ((np.ones((3, 2)),), "has 1 parts, feed_list has 2 variables"),
    ],
)
def test_an_example_that_does_not_fit_is_named(columns, item, said):
    with pytest.raises(FeedError, match=said):
        list(fluid.io.bucketed(lambda: [item], columns, 1, {"time": [4]})())


@pytest.mark.parametrize(
    "more, said",
    [
        (
            dict(buckets={"steps": [4]}),
            "no variable of feed_list has a size 'steps'.*they have time",
        ),
        (dict(buckets={"batch": [4]}), "behind that of the batch"),
        (dict(buckets={"time": []}), "expected sizes to pad 'time' to"),
        (dict(buckets={"time": [0]}), "expected sizes to pad 'time' to"),
        (dict(batch_size=0), "expected batch_size to be at least 1"),
        (dict(feed_list=["x"]), "expected variables in feed_list"),
        (dict(reader=3), "expected a reader"),
    ],
)
def test_arguments_that_fit_nothing_are_refused(columns, more, said):
    given = dict(reader=list, feed_list=columns, batch_size=2, buckets={"time": [4]})
    with pytest.raises(ArgumentError, match=said):
        fluid.io.bucketed(**{**given, **more})
