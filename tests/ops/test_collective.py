"""Operators that several processes run together, alone and in a group that a test makes."""

import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, FluidError, OpError, ShapeError, UnsupportedError
from fluidlite.ground.dtypes import Kind
from fluidlite.ground.process_group import Unrepeated, groups
from fluidlite.layers import collective
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import spec

REDUCE = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


class Threads(Unrepeated):
    """A group whose members are threads of a test; ``run`` calls a function in each of them."""

    def __init__(self, size):
        self.size, self.rings = size, []
        self._barrier, self._given = threading.Barrier(size), [None] * size
        self._rank = threading.local()

    def run(self, function):
        found = [None] * self.size

        def member(rank):
            self._rank.value = rank
            try:
                with groups.guard(self):
                    found[rank] = function(rank)
            except BaseException as error:
                self._barrier.abort()
                found[rank] = error

        threads = [threading.Thread(target=member, args=[rank]) for rank in range(self.size)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for each in found:
            if isinstance(each, BaseException) and not isinstance(
                each, threading.BrokenBarrierError
            ):
                raise each
        return found

    def exchanged(self, x):
        self._given[self._rank.value] = x
        self._barrier.wait()
        given = list(self._given)
        self._barrier.wait()
        return given

    def all_reduce(self, x, how, ring):
        return REDUCE[how](np.stack(self.exchanged(x)), axis=0)

    def broadcast(self, x, root, ring):
        return self.exchanged(x)[root]

    def all_gather(self, x, ring):
        return np.concatenate(self.exchanged(x))

    def reduce_scatter(self, x, ring):
        total = np.sum(np.stack(self.exchanged(x)), axis=0)
        return np.split(total, self.size)[self._rank.value]

    def open_ring(self, ring, size, rank):
        self.rings.append((ring, size, rank))


def computed(layer, shape=(4, 2), size=2):
    """What two members get of values that differ, and the gradients of a weighted sum."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", list(shape), "float32")
        x.stop_gradient = False
        out = layer(x)
        weights = fluid.data("w", [int(n) for n in out.shape], "float32")
        slopes = fluid.gradients(fluid.layers.reduce_sum(out * weights), x)
    given = np.random.default_rng(3).normal(size=[size, *shape]).astype("float32")
    w = np.random.default_rng(4).normal(size=[size, *out.shape]).astype("float32")

    def member(rank):
        exe = fluid.Executor()
        feed = {"x": given[rank], "w": w[rank]}
        runs = [exe.run(main, feed=feed, fetch_list=[out, *slopes]) for _ in range(3)]
        for run in runs[1:]:  # compiled plans compute what interpreting does
            for a, b in zip(runs[0], run):
                assert np.allclose(a, b)
        return runs[-1]

    return given, w, Threads(size).run(member)


@pytest.mark.parametrize("how", ["sum", "max", "min"])
def test_all_members_get_what_all_of_them_have_together(how):
    given, _, found = computed(lambda x: collective._c_allreduce(x, reduce_type=how))
    for each in found:
        assert np.allclose(each[0], REDUCE[how](given, axis=0))


def test_the_gradient_of_a_sum_over_members_is_the_sum_of_their_gradients():
    _, w, found = computed(collective._c_allreduce)
    for each in found:
        assert np.allclose(each[1], w.sum(axis=0), atol=1e-6)


def test_members_get_all_rows_and_the_gradients_go_back_to_whose_rows_they_are():
    given, w, found = computed(lambda x: collective._c_allgather(x, 2))
    for rank, each in enumerate(found):
        assert np.allclose(each[0], given.reshape(8, 2))
        assert np.allclose(each[1], w.sum(axis=0)[4 * rank : 4 * rank + 4], atol=1e-6)


def test_each_member_gets_its_part_of_a_sum_and_gradients_of_all_parts():
    given, w, found = computed(lambda x: collective._c_reducescatter(x, 2))
    for rank, each in enumerate(found):
        assert np.allclose(each[0], given.sum(axis=0)[2 * rank : 2 * rank + 2], atol=1e-6)
        assert np.allclose(each[1], w.reshape(4, 2))


@pytest.mark.parametrize("layer", [collective._c_broadcast, collective._broadcast])
def test_members_get_what_the_root_has(layer):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.layers.cast(fluid.data("x", [2], "float32"), "float64")
        layer(x, 1)

    def member(rank):
        feed = {"x": np.full(2, rank, "float32")}
        return fluid.Executor().run(main, feed=feed, fetch_list=[x])[0]

    assert [each.tolist() for each in Threads(2).run(member)] == [[1, 1], [1, 1]]


@pytest.mark.parametrize("number, how", [(0, "sum"), (1, "prod"), (2, "max"), (3, "min")])
def test_the_older_operator_numbers_its_reductions_as_fluid_does(number, how):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        out = collective._allreduce(fluid.data("x", [3], "float32"), reduce_type=how)
    assert main.global_block().ops[-1].attr("reduce_type") == number
    given = np.random.default_rng(2).normal(size=[2, 3]).astype("float32")

    def member(rank):
        return fluid.Executor().run(main, feed={"x": given[rank]}, fetch_list=[out])[0]

    for each in Threads(2).run(member):
        assert np.allclose(each, REDUCE[how](given, axis=0))


def startup_program(size, rank, ring=0):
    program = fluid.Program()
    block = program.global_block()
    number = block.create_var(name="nccl_id", type=Kind.RAW, persistable=True)
    attrs = dict(rank=rank, endpoint="127.0.0.1:1", other_endpoints=["127.0.0.1:2"])
    block.append_op("c_gen_nccl_id", {}, {"Out": number}, attrs)
    block.append_op("c_comm_init", {"X": number}, {}, dict(nranks=size, rank=rank, ring_id=ring))
    block.append_op("c_comm_init_all", {}, {}, dict(devices=[0]))
    return program


def test_a_startup_program_of_one_process_runs():
    fluid.Executor().run(startup_program(1, 0))


def test_a_startup_program_opens_its_ring_in_the_group_that_runs():
    group = Threads(2)
    group.run(lambda rank: fluid.Executor().run(startup_program(2, rank, ring=3)))
    assert sorted(group.rings) == [(3, 2, 0), (3, 2, 1)]


def test_a_program_of_two_processes_does_not_run_alone():
    with pytest.raises(UnsupportedError, match="one of 2 of which this is number 1"):
        fluid.Executor().run(startup_program(2, 1))


def test_a_program_with_collective_operators_is_read_as_it_was_written():
    program = startup_program(2, 0)
    with fluid.program_guard(program, fluid.Program()):
        x = fluid.data("x", [4, 2], "float32")
        for make in (
            collective._c_sync_calc_stream,
            collective._c_allreduce,
            collective._allreduce,
        ):
            x = make(x)
        collective._c_sync_comm_stream(collective._c_broadcast(collective._allreduce(x)), 0)
        collective._c_reducescatter(collective._c_allgather(x, 2), 2)
    read = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    assert read.to_bytes() == program.to_bytes()
    types = [op.type for op in read.global_block().ops]
    assert types == [op.type for op in program.global_block().ops]
    assert "c_allgather(X=" in str(read)


@pytest.mark.parametrize(
    "layer, message",
    [
        (lambda x: collective._c_allgather(x, 0), "nranks to be 1 or more, got 0"),
        (lambda x: collective._c_reducescatter(x, 3), "4, to be a multiple of nranks=3"),
        (lambda x: collective._c_broadcast(x, -1), "root to be 0 or more, got -1"),
        (lambda x: collective._c_allreduce(x, reduce_type="mean"), "max, min, got 'mean'"),
    ],
)
def test_what_cannot_be_is_refused_when_the_program_is_built(layer, message):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [4, 2], "float32")
        with pytest.raises(FluidError, match=message):
            layer(x)
    assert not main.global_block().ops


def test_a_reduction_of_no_number_is_refused():
    with pytest.raises(AttributeValueError, match=r"0 \(sum\), 1 \(prod\).*got 4"):
        lookup("allreduce")({"reduce_type": 4}).infer(spec([2], "float32"))


def test_rows_are_needed_to_gather_them():
    with pytest.raises(ShapeError, match="expected X to have 1 dimension"):
        lookup("c_allgather")({"nranks": 2}).infer(spec([], "float32"))


@pytest.mark.parametrize(
    "layer, message",
    [
        (lambda x: collective._c_allgather(x, 2), "processes that run, 1, got 2"),
        (lambda x: collective._c_broadcast(x, 1), "of which there is 1, got 1"),
    ],
)
def test_a_program_that_is_made_for_more_processes_says_so_when_it_runs(layer, message):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        out = layer(fluid.data("x", [4, 2], "float32"))
    with pytest.raises((OpError, FluidError), match=message):
        fluid.Executor().run(main, feed={"x": np.ones([4, 2], "float32")}, fetch_list=[out])
