"""What a run on sequences of several lengths takes of memory."""

import tracemalloc

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground import allocator
from fluidlite.ops.time_order import time_order

layers = fluid.layers
SIZE = 64


def lengths(seed):
    """Those of a batch: the longest is far longer than most."""
    return [200, *np.random.default_rng(seed).integers(5, 20, 31).tolist()]


def feed(seed):
    many = lengths(seed)
    rows = np.random.default_rng(seed).normal(size=[sum(many), 4 * SIZE]).astype("float32")
    return {"x": fluid.create_lod_tensor(rows, [many])}


def peak(run):
    """The most bytes that are taken while something runs, beyond those before it."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def memory(x):
    return layers.dynamic_lstm(x, 4 * SIZE, use_peepholes=False)[0]


def unit(x):
    return layers.dynamic_gru(layers.fc(x, 3 * SIZE), SIZE)


#: how many numbers of a row live at once: lstm gathers, computes and hands out its gates, two
#: states and their activations, and orders two of them anew; gru likewise behind its input
NUMBERS = {memory: (4 + 4 + 3 + 2) * SIZE, unit: (3 + 3 + 3 + 2 + 1) * SIZE}


@pytest.mark.parametrize("net", [memory, unit])
def test_a_ragged_batch_takes_what_its_rows_take(net):
    x = fluid.data("x", [None, 4 * SIZE], "float32", lod_level=1)
    last = layers.sequence_pool(net(x), "last")
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for seed in range(2):
        exe.run(feed=feed(seed), fetch_list=[last])
    given = feed(5)
    time_order.cache_clear()
    taken = peak(lambda: exe.run(feed=given, fetch_list=[last]))
    rows = sum(lengths(5))
    assert taken < 1.3 * 4 * rows * NUMBERS[net]
    assert taken < 0.3 * 4 * 32 * 200 * NUMBERS[net]  # padded to the longest


def test_other_lengths_leave_nothing_behind():
    x = fluid.data("x", [None, 4 * SIZE], "float32", lod_level=1)
    loss = layers.mean(memory(x))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for seed in range(40):  # as many orders of rows as are remembered
        exe.run(feed=feed(seed), fetch_list=[loss])
    kept = []
    tracemalloc.start()
    for seed in range(40, 60):
        exe.run(feed=feed(seed), fetch_list=[loss])
        kept.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    # what orders of rows take, and no array of a run
    assert kept[-1] - kept[0] < 20 * 8 * 8 * sum(lengths(0))


def test_freed_memory_is_kept_only_where_the_environment_asks_for_it(monkeypatch):
    monkeypatch.delenv("FLUIDLITE_KEEP_MEMORY", raising=False)
    assert not allocator.keep_freed_memory.__wrapped__()
    monkeypatch.setenv("FLUIDLITE_KEEP_MEMORY", "1")
    monkeypatch.setenv(allocator.VARIABLES[0], "131072")
    assert not allocator.keep_freed_memory.__wrapped__()
