"""Values that live at the same time do not meet in one memory, and it is small."""

import random

import numpy as np

import fluidlite as fluid
from fluidlite.opdef.prepared import ALIGNMENT
from fluidlite.runtime import memory
from fluidlite.runtime.buffers import Allocation
from fluidlite.runtime.packing import Stay, packed

layers = fluid.layers


def most_at_once(stays):
    return max(
        sum(stay.nbytes for stay in stays if stay.first <= moment <= stay.last)
        for moment in range(max(stay.last for stay in stays) + 1)
    )


def test_stays_that_meet_in_time_do_not_meet_in_memory():
    draw = random.Random(5)
    for _ in range(40):
        stays = []
        for _ in range(30):
            first = draw.randrange(40)
            stays.append(Stay(draw.randrange(1, 5000), first, first + draw.randrange(12)))
        offsets, total = packed(stays)
        places = list(zip(stays, offsets))
        assert all(offset % ALIGNMENT == 0 for offset in offsets)
        assert max(offset + stay.nbytes for stay, offset in places) <= total
        for k, (one, low) in enumerate(places):
            for other, high in places[:k]:
                apart = one.last < other.first or other.last < one.first
                assert apart or low + one.nbytes <= high or high + other.nbytes <= low


def test_memory_is_no_larger_than_values_need_where_they_follow_each_other():
    stays = [Stay(ALIGNMENT * (k % 7 + 1), k, k + 1) for k in range(20)]
    assert packed(stays)[1] == most_at_once(stays)


def test_no_values_need_no_memory():
    assert packed([]) == ([], 0)


def trained(packs, monkeypatch):
    """Losses and parameters of a net whose values have many sizes, and the memory of its plan."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    monkeypatch.setattr(memory, "SMALLEST_PACKED", 0 if packs else 1 << 40)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        fluid.default_startup_program().random_seed = 3
        x = fluid.data("x", [64, 40])
        hidden = x
        for size in (100, 300, 60, 200):
            hidden = layers.layer_norm(layers.fc(hidden, size, act="tanh"))
        loss = layers.mean(layers.square(hidden))
        fluid.optimizer.Adam(0.01).minimize(loss)
        exe, scope = fluid.Executor(), fluid.Scope()
        exe.run(fluid.default_startup_program(), scope=scope)
        feed = {"x": np.random.default_rng(3).random([64, 40], "float32")}
        losses = [exe.run(feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(5)]
        assigned = exe.plan(fetch_list=[loss]).compiled.assigned
    return np.concatenate(losses), {v.name: v.value for v in scope}, assigned


def test_a_plan_whose_values_are_packed_computes_the_same_in_less_memory(monkeypatch):
    losses, values, apart = trained(False, monkeypatch)
    again, same, assigned = trained(True, monkeypatch)
    np.testing.assert_array_equal(again, losses)
    for name, value in values.items():
        np.testing.assert_array_equal(same[name], value)
    assert sum(type(each) is Allocation for each in assigned.makers) == 1
    assert assigned.footprint.buffers < apart.footprint.buffers
