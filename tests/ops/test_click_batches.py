"""Rows of pages with their ranks, and batches in another order."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FluidError

layers = fluid.contrib.layers
RNG = np.random.default_rng(0)


def run(fetched, **feed):
    exe = fluid.Executor()
    if fluid.default_startup_program().global_block().ops:
        exe.run(fluid.default_startup_program())
    return exe.run(feed=feed, fetch_list=list(fetched))


def attention_by_loops(x, offsets, matrices, most):
    """What rank_attention computes, row by row."""
    width = x.shape[1]
    found = np.zeros([len(x), matrices.shape[1]], x.dtype)
    for i, row in enumerate(offsets):
        for k in range(most):
            own, other, place = row[0] - 1, row[1 + 2 * k] - 1, row[2 + 2 * k]
            if own >= 0 and other >= 0:
                begin = (own * most + other) * width
                found[i] += x[place] @ matrices[begin : begin + width]
    return found


def test_rank_attention_maps_each_row_of_a_page_by_the_matrix_of_two_ranks():
    x = RNG.normal(size=[5, 2]).astype("float32")
    offsets = np.array(
        [
            [1, 1, 0, 2, 1, 3, 2],
            [2, 1, 0, 2, 1, 3, 2],
            [3, 1, 0, 2, 1, 3, 2],
            [-1, -1, -1, -1, -1, -1, -1],
            [2, 2, 4, -1, -1, 2, 4],
        ],
        "int32",
    )
    start = RNG.normal(size=[18, 4]).astype("float32")
    attr = fluid.ParamAttr("pairs", fluid.initializer.NumpyArrayInitializer(start))
    rows, ranks = fluid.data("x", [None, 2]), fluid.data("ranks", [None, 7], "int32")
    out = layers.rank_attention(rows, ranks, [18, 4], attr)
    (found,) = run([out], x=x, ranks=offsets)
    np.testing.assert_allclose(found, attention_by_loops(x, offsets, start, 3), rtol=1e-5)


def test_the_matrices_of_rank_attention_are_trained():
    x, ranks = fluid.data("x", [None, 2]), fluid.data("ranks", [None, 3], "int32")
    start = fluid.initializer.Constant(0.0)
    out = layers.rank_attention(x, ranks, [2, 1], fluid.ParamAttr("pairs", start), max_rank=1)
    fluid.optimizer.SGD(1.0).minimize(fluid.layers.reduce_sum(out))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = dict(
        x=np.array([[1, 2], [4, 8]], "float32"), ranks=np.array([[1, 1, 1], [0, 1, 0]], "int32")
    )
    exe.run(feed=feed, fetch_list=[out])
    found = np.array(fluid.global_scope().find_var("pairs").get_tensor())
    np.testing.assert_array_equal(found, [[-4], [-8]])


def test_rank_attention_says_how_large_the_parameter_must_be():
    x, ranks = fluid.data("x", [None, 2]), fluid.data("ranks", [None, 7], "int32")
    with pytest.raises(FluidError, match=r"expected RankParam of shape \[18, n\], got \[12, 4\]"):
        layers.rank_attention(x, ranks, [12, 4], fluid.ParamAttr("pairs"))


@pytest.mark.parametrize("seed", [None, 7])
def test_a_batch_keeps_its_rows_and_has_another_order_in_each_run(seed):
    x = fluid.data("x", [None, 3])
    out = layers.shuffle_batch(x, seed)
    value = np.arange(60, dtype="float32").reshape(20, 3)
    exe = fluid.Executor()
    if seed:
        exe.run(fluid.default_startup_program())
    first, second = (exe.run(feed=dict(x=value), fetch_list=[out])[0] for _ in range(2))
    for found in (first, second):
        assert sorted(map(tuple, found)) == sorted(map(tuple, value))
    assert not np.array_equal(first, second)


def test_a_seed_gives_the_same_orders_in_every_process():
    x = fluid.data("x", [None, 3])
    out = layers.shuffle_batch(x, seed=7)
    value = np.arange(60, dtype="float32").reshape(20, 3)

    def orders():
        with fluid.scope_guard(fluid.Scope()):
            exe = fluid.Executor()
            exe.run(fluid.default_startup_program())
            return [exe.run(feed=dict(x=value), fetch_list=[out])[0] for _ in range(3)]

    np.testing.assert_array_equal(orders(), orders())


def test_gradients_go_back_to_the_places_that_rows_came_from():
    x = fluid.data("x", [None, 3])
    x.stop_gradient = False
    weights = fluid.data("weights", [None, 3])
    out = layers.shuffle_batch(x, seed=3)
    (slope,) = fluid.gradients(fluid.layers.reduce_sum(out * weights), x)
    value = np.arange(12, dtype="float32").reshape(4, 3)
    scale = np.arange(12, 24, dtype="float32").reshape(4, 3)
    found, order = run([slope, out], x=value, weights=scale)
    places = (order[:, 0] / 3).astype(int)
    np.testing.assert_array_equal(found[places], scale)


def test_a_variable_that_holds_the_seed_gets_the_next_one():
    x = fluid.data("x", [None, 3])
    seed = fluid.layers.create_global_var([1], 5, "int64", persistable=True)
    out = layers.shuffle_batch(x, seed)
    run([out], x=np.zeros([2, 3], "float32"))
    assert np.array(fluid.global_scope().find_var(seed.name).get_tensor()) != 5


def test_rows_of_more_dimensions_stay_whole():
    x = fluid.data("x", [2, 3, 2])
    value = np.arange(12, dtype="float32").reshape(2, 3, 2)
    (found,) = run([layers.shuffle_batch(x)], x=value)
    assert found.shape == (2, 3, 2)
    assert sorted(map(tuple, found.reshape(-1, 2))) == list(map(tuple, value.reshape(-1, 2)))
