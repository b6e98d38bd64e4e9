"""Segments whose results have as many rows as the last of ascending numbers says."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.errors import OutOfRangeError
from fluidlite.runtime import bound

POOLS = ("sum", "mean", "max", "min")


def program(how="sum", dtype="float32", width=(3,)):
    """The rows of segments put together, and the slope of the sum of their squares."""
    rows = fluid.data("rows", [-1, *width], dtype)
    numbers = fluid.data("numbers", [-1], "int64")
    rows.stop_gradient = False
    made = getattr(paddle.geometric, f"segment_{how}")(rows, numbers)
    (slope,) = fluid.gradients([fluid.layers.reduce_sum(made * made)], [rows])
    return made, slope


def feed_of(numbers, dtype="float32", width=(3,), kind="int64"):
    rng = np.random.default_rng(len(numbers))
    return {
        "rows": rng.normal(size=(len(numbers), *width)).astype(dtype),
        "numbers": np.array(numbers, kind),
    }


def wanted(how, feed):
    """The same, row by row."""
    rows, numbers = feed["rows"], feed["numbers"]
    reduce = getattr(np, how)
    made = np.zeros((numbers[-1] + 1, *rows.shape[1:]), rows.dtype)
    slope = np.zeros_like(rows)
    for k in range(len(made)):
        own = numbers == k
        if own.any():
            made[k] = reduce(rows[own], axis=0)
            share = rows[own] == made[k] if how in ("max", "min") else 1
            slope[own] = 2 * made[k] * share / (own.sum() if how == "mean" else 1)
    return made, slope


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("how", POOLS)
def test_segments_are_compiled_for_the_last_of_their_numbers(how, dtype):
    fetches, exe = program(how, dtype), fluid.Executor()
    for numbers in [[0, 0, 2, 5, 5, 5]] * 4 + [[0, 1, 1, 1, 3, 3]] * 3 + [[0, 0, 1, 5, 5, 5]]:
        feed = feed_of(numbers, dtype)
        found = exe.run(feed=feed, fetch_list=[*fetches])
        for one, other in zip(found, wanted(how, feed)):
            assert one.shape == other.shape and one.dtype == dtype
            np.testing.assert_allclose(one, other, rtol=1e-5)
    plan = exe.plan(fetch_list=[*fetches])
    assert "segment_pool" in plan.source and "interpreted" not in plan.source
    assert len([each for each in plan.functions if each is not None]) == 2


@pytest.mark.parametrize("most_lines", [0, 32])
def test_a_bound_call_looks_at_the_last_number(monkeypatch, most_lines):
    monkeypatch.setattr(bound, "MOST_LINES", most_lines)
    fetches, exe = program(), fluid.Executor()
    step = exe.prepare(fluid.default_main_program(), ["rows", "numbers"], [*fetches])
    one, other = feed_of([0, 0, 4]), feed_of([0, 1, 2])
    for feed in [one] * 4 + [other] * 4 + [one, other] * 2:
        for found, right in zip(step(feed), wanted("sum", feed)):
            np.testing.assert_allclose(found, right, rtol=1e-6)
    (call, *_) = [
        call for _, call in exe.plan(fetch_list=[*fetches]).bound.of(fluid.global_scope()).values()
    ]
    assert "item(-1) != " in call.source


def test_numbers_that_are_not_in_order_are_refused_by_a_compiled_plan_too():
    fetches, exe = program(), fluid.Executor()
    for _ in range(3):
        exe.run(feed=feed_of([0, 0, 2]), fetch_list=[*fetches])
    for _ in range(3):
        with pytest.raises(OutOfRangeError, match="SegmentIds in ascending order"):
            exe.run(feed=feed_of([1, 0, 2]), fetch_list=[*fetches])
        with pytest.raises(OutOfRangeError, match="SegmentIds in ascending order"):
            exe.run(feed=feed_of([0, -3, -7]), fetch_list=[*fetches])
    found = exe.run(feed=feed_of([0, 0, 2]), fetch_list=[*fetches])
    np.testing.assert_allclose(found[0], wanted("sum", feed_of([0, 0, 2]))[0], rtol=1e-6)


def test_without_numbers_there_are_no_segments():
    fetches, exe = program(), fluid.Executor()
    for _ in range(4):
        made, slope = exe.run(feed=feed_of([]), fetch_list=[*fetches])
        assert made.shape == slope.shape == (0, 3)


def test_numbers_that_the_program_computes_are_looked_at_when_it_runs():
    rows, numbers = fluid.data("rows", [-1, 3], "float32"), fluid.data("numbers", [-1], "int64")
    made = paddle.geometric.segment_sum(rows, numbers + 1)
    exe = fluid.Executor()
    for numbers in [[0, 0, 2]] * 3 + [[0, 1, 4]] * 2:
        feed = feed_of(numbers)
        (found,) = exe.run(feed=feed, fetch_list=[made])
        np.testing.assert_allclose(found[1:], wanted("sum", feed)[0], rtol=1e-6)
        assert (found[0] == 0).all()


def test_rows_that_segments_add_are_never_written():
    nodes = fluid.data("nodes", [7, 4], "float32")
    source, numbers = fluid.data("source", [-1], "int32"), fluid.data("numbers", [-1], "int64")
    nodes.stop_gradient = False
    made = paddle.geometric.segment_sum(paddle.gather(nodes, source), numbers)
    fetches = [made, *fluid.gradients([fluid.layers.reduce_sum(made * made)], [nodes])]
    rng, exe = np.random.default_rng(0), fluid.Executor()
    feed = {
        "nodes": rng.normal(size=(7, 4)).astype("float32"),
        "source": rng.integers(0, 7, 9).astype("int32"),
        "numbers": np.array([0, 0, 0, 1, 1, 4, 4, 4, 5]),
    }
    expected = np.zeros((6, 4), "float32")
    np.add.at(expected, feed["numbers"], feed["nodes"][feed["source"]])
    slope = np.zeros((7, 4), "float32")
    np.add.at(slope, feed["source"], 2 * expected[feed["numbers"]])
    for _ in range(4):
        found = exe.run(feed=feed, fetch_list=fetches)
        np.testing.assert_allclose(found[0], expected, rtol=1e-5)
        np.testing.assert_allclose(found[1], slope, rtol=1e-5)
    source = exe.plan(fetch_list=fetches).source
    assert source.count("# sparse_product") == 2 and "gather" not in source
    feed["numbers"][:2] = 2
    with pytest.raises(OutOfRangeError, match="SegmentIds in ascending order"):
        exe.run(feed=feed, fetch_list=fetches)
