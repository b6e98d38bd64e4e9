"""Collective operators among processes: each is held against what NumPy makes of all inputs.

As a script it ends with an error where something is wrong.
"""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground.process_group import groups
from fluidlite.ground.values import SelectedRows
from fluidlite.layers import collective
from fluidlite.opdef.definition import lookup

RUNS = 3  # interpreted, compiled with a look at memory, compiled
TYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


def inputs(size, shape=(4, 3), dtype="float64"):
    """What each process has."""
    rng = np.random.default_rng(7)
    return [(rng.integers(0, 3, shape)).astype(dtype) for _ in range(size)]


def fetched(build, x):
    """What a program computes of x, in each of its runs."""
    main = fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, fluid.Program()):
        data = fluid.data("x", list(x.shape), str(x.dtype))
        data.stop_gradient = False
        wanted = build(data)
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        return [exe.run(main, feed={"x": x}, fetch_list=wanted) for _ in range(RUNS)]


def of_type(type, **attrs):
    """What appends an operator."""

    def build(x):
        block = fluid.default_main_program().global_block()
        out = block.create_var(name="out", dtype=x.dtype)
        block.append_op(type, {"X": x}, {"Out": out}, attrs)
        return [out]

    return build


def check(build, x, *wants):
    """Each run has to give these values."""
    for found in fetched(build, x):
        for value, want in zip(found, wants, strict=True):
            assert value.dtype == want.dtype, (value.dtype, want.dtype)
            np.testing.assert_array_equal(value, want)


def reductions(rank, size):
    """Sums and their kin, of all element types."""
    ways = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
    for dtype in TYPES:
        given = inputs(size, dtype=dtype)
        for number, (how, ufunc) in enumerate(ways.items()):
            want = ufunc.reduce(given).astype(dtype)
            if dtype != "bool":  # which programs refuse; groups do not
                check(of_type(f"c_allreduce_{how}"), given[rank], want)
                check(of_type("allreduce", reduce_type=number), given[rank], want)
            made = groups.get().all_reduce(given[rank], how, 0)
            assert made.dtype == want.dtype
            np.testing.assert_array_equal(made, want)
    halves = [np.full([2], 1000.0 + 0.5 * k, "float16") for k in range(size)]
    want = sum(h.astype("float32") for h in halves).astype("float16")  # rounded once
    check(of_type("c_allreduce_sum"), halves[rank], want)
    empty = np.zeros([0, 3])
    check(of_type("c_allreduce_sum"), empty, empty)


def movements(rank, size):
    """What is sent and not computed with, in rings of the same processes."""
    given = inputs(size, (2 * size, 3))
    for ring in (0, 1):
        for root in range(size):
            check(of_type("c_broadcast", root=root, ring_id=ring), given[rank], given[root])
        check(of_type("c_allgather", nranks=size, ring_id=ring), given[rank], np.concatenate(given))
        part = sum(given)[2 * rank : 2 * rank + 2]
        check(of_type("c_reducescatter", nranks=size, ring_id=ring), given[rank], part)
    check(of_type("broadcast", root=size - 1), given[rank], given[-1])
    truths = given[rank] > 1
    check(of_type("c_broadcast", root=0), truths, given[0] > 1)


def gradients(rank, size):
    """The derivatives of the sum of all processes' losses, each of what all of them have."""
    given = inputs(size)
    total = sum(given)

    def summed(x):
        y = collective._c_allreduce(x, reduce_type="sum")
        return fluid.gradients([fluid.layers.reduce_sum(y * y)], [x])

    check(summed, given[rank], 2 * size * total)

    def gathered(x):
        y = collective._c_allgather(x, nranks=size)
        return fluid.gradients([fluid.layers.reduce_sum(y * y)], [x])

    check(gathered, given[rank], 2 * size * given[rank])

    def scattered(x):
        y = collective._c_reducescatter(x, nranks=size)
        return fluid.gradients([fluid.layers.reduce_sum(y * y)], [x])

    wide = inputs(size, (size, 3))
    check(scattered, wide[rank], 2 * sum(wide))


def together(rank, size):
    """Several values in one row, and rows of tables."""
    given = inputs(size)

    def build(x):
        block = fluid.default_main_program().global_block()
        double = fluid.layers.scale(x, 2.0)
        handle = block.create_var(name="handle", dtype=x.dtype)
        outs = [block.create_var(name=n, dtype=x.dtype) for n in ("a", "b")]
        block.append_op("c_allreduce_start", {"X": [x, double]}, {"Handle": handle})
        meanwhile = fluid.layers.scale(x, 3.0)
        shapes = dict(shape_concat=[4, 3, 4, 3], ranks=[2, 2])
        block.append_op("c_allreduce_wait", {"Handle": handle}, {"Out": outs}, shapes)
        return [*outs, meanwhile]

    check(build, given[rank], sum(given), 2 * sum(given), 3 * given[rank])
    mine = SelectedRows([rank, 0][: 1 + rank % 2], 5, inputs(size, (2, 3))[rank][: 1 + rank % 2])
    made = lookup("c_allgather_rows")().run(np, mine)
    parts = [(k, inputs(size, (2, 3))[k][: 1 + k % 2]) for k in range(size)]
    assert made.rows() == [n for k, _ in parts for n in [k, 0][: 1 + k % 2]]
    np.testing.assert_array_equal(made.value, np.concatenate([value for _, value in parts]))
    none = SelectedRows([], 5, np.zeros([0, 3]))  # one process may have no rows
    made = lookup("c_allgather_rows")().run(np, mine if rank else none)
    assert made.value.shape == (sum(1 + k % 2 for k in range(1, size)), 3)


def repeated(rank, size):
    """A run that is repeated gets what was sent before; nobody else notices."""
    group = groups.get()
    if size == 1:  # nothing is sent
        return
    begun = group.begin_run()
    x = np.full([3], rank + 1.0)
    first = group.all_reduce(x, "sum", 0)
    handle = group.start_all_reduce(x.copy(), "sum", 0)
    if rank == 0:
        group.repeat_from(0)
        assert group.all_reduce(x, "sum", 0) is first
        assert group.start_all_reduce(x.copy(), "sum", 0) is handle
        done = group.wait(handle)
        group.repeat_from(2)
        assert group.wait(handle) is done
    else:
        done = group.wait(handle)
    group.end_run(begun)
    np.testing.assert_array_equal(done, first)


def meetings(rank, size):
    """Further calls of join, rings that a program opens, and what a group counts."""
    group = groups.get()
    assert fluid.distributed.join() is group
    group.open_ring(0, size, rank)
    if size == 1:
        return
    before = group.traffic.messages, group.traffic.bytes
    group.all_reduce(np.zeros(4), "sum", 0)
    assert (group.traffic.messages, group.traffic.bytes) == (before[0] + 1, before[1] + 32)
    with pytest.raises(NotImplementedError, match=f"got one of {size + 1}"):
        group.open_ring(0, size + 1, rank)


def main():
    """All of it."""
    group = fluid.distributed.join()
    for each in (reductions, movements, gradients, together, repeated, meetings):
        each(group.rank, group.size)
    if group.size > 1:  # as on several machines
        group.is_polled = True
        for _ in range(10):
            together(group.rank, group.size)
    print("all is well", flush=True)


if __name__ == "__main__":
    main()
