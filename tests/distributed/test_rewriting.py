import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.ground.process_group import OneProcess, groups
from fluidlite.opdef.prepared import KernelDeclined

from networks import regression, started

PASSES = ["none", None]


class Doubled(OneProcess):
    """Two processes of which the other one always has the same; notes what is called."""

    size, rank = 2, 0

    def __init__(self):
        self.calls = []

    def all_reduce(self, x, how, ring):
        self.calls.append("all_reduce")
        return x + x

    def start_all_reduce(self, x, how, ring, of=""):
        self.calls.append(f"start {of}")
        return x

    def wait(self, handle):
        self.calls.append("wait")
        return handle + handle

    def all_gather(self, x, ring):
        return np.concatenate([x, x])

    def broadcast(self, x, root, ring):
        self.calls.append("broadcast")
        return x


class Repeated(Doubled):
    """Notes what is repeated, too."""

    def repeat_from(self, position):
        self.calls.append(f"repeat from {position}")


def types(program):
    return [op.type for op in program.global_block().ops]


def deep(depth=4, width=3, clip=None):
    """A net of several layers with an optimizer, rewritten for small messages."""
    x = fluid.data("x", [None, width], "float32")
    y = x
    for _ in range(depth):
        y = fluid.layers.fc(y, width)
    loss = fluid.layers.mean(y)
    fluid.optimizer.SGD(0.1, grad_clip=clip).minimize(loss)
    return loss


def test_each_sum_starts_when_its_last_gradient_is_there_and_is_awaited_before_it_is_read():
    deep()
    main = fluid.distributed.data_parallel(fluid.default_main_program(), bucket_bytes=48)
    ops = main.global_block().ops
    starts = [k for k, op in enumerate(ops) if op.type == "c_allreduce_start"]
    assert len(starts) == 4
    for k in starts:
        op = ops[k]
        assert set(ops[k - 1].output_arg_names) & set(op.input_arg_names)  # made right before
        (handle,) = op.output_arg_names
        (wait,) = [j for j, each in enumerate(ops) if each.reads(handle)]
        assert ops[wait].output_arg_names == op.input_arg_names
        summed = set(op.attrs["of"])
        readers = [j for j, e in enumerate(ops) if j > k and summed & set(e.input_arg_names)]
        assert wait < min(j for j in readers if j != wait)
    backward = [k for k, op in enumerate(ops) if op.type == "mul_grad"]
    assert starts[0] < backward[1]  # while there is more to compute


def test_messages_have_at_most_the_bytes_that_were_asked_for_but_for_single_gradients():
    deep(6)
    main = fluid.distributed.data_parallel(fluid.default_main_program(), bucket_bytes=100)
    block = main.global_block()
    sizes = [
        [4 * int(np.prod(block.var(name).shape)) for name in op.input_arg_names]
        for op in block.ops
        if op.type == "c_allreduce_start"
    ]
    assert all(sum(each) <= 100 for each in sizes)
    assert sum(len(each) for each in sizes) == 12
    assert len(sizes) == 3


def test_clips_and_regularizers_see_the_sums():
    regression(optimizer=fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L2Decay(0.1)))
    main = fluid.distributed.data_parallel(fluid.default_main_program())
    found = types(main)
    assert found.index("c_allreduce_wait") < len(found) - 1 - found[::-1].index("sum")
    clip = fluid.clip.GradientClipByGlobalNorm(1.0)
    other = fluid.Program()
    with fluid.program_guard(other, fluid.Program()):
        deep(clip=clip)
        fluid.distributed.data_parallel(other, fluid.default_startup_program())
    found = types(other)
    assert found.index("c_allreduce_wait") < found.index("square")


def test_a_program_is_rewritten_once():
    regression(optimizer=fluid.optimizer.SGD(0.1))
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    once = str(fluid.distributed.data_parallel(main)), str(startup)
    assert (str(fluid.distributed.data_parallel(main)), str(startup)) == once


def test_first_values_are_those_of_process_0():
    regression(optimizer=fluid.optimizer.Adam(0.1))
    startup = fluid.default_startup_program()
    made = {op.output_arg_names[0] for op in startup.global_block().ops}
    fluid.distributed.data_parallel(fluid.default_main_program())
    sent = [op for op in startup.global_block().ops if op.type == "c_broadcast"]
    assert {op.output_arg_names[0] for op in sent} == made


def test_a_program_that_was_rewritten_is_printed_read_saved_and_cut_for_tests():
    _, _, loss, _ = regression(optimizer=fluid.optimizer.SGD(0.1))
    main = fluid.distributed.data_parallel(fluid.default_main_program())
    again = fluid.Program.parse_from_string(main.desc.serialize_to_string())
    assert types(again) == types(main)
    started()
    feed = {"x": np.ones([4, 4], "float32")}
    exe = fluid.Executor()
    want = exe.run(main, feed=feed, fetch_list=[loss])[0]
    exe.run(fluid.default_startup_program())
    assert exe.run(again, feed=feed, fetch_list=[loss.name])[0].shape == want.shape
    assert not any(type.startswith("c_") for type in types(main.clone(for_test=True)))


def test_totals_of_several_runs_are_summed_where_a_step_is_due():
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    merge = fluid.optimizer.GradientMergeOptimizer(fluid.optimizer.SGD(0.1), k_steps=4)
    merge.minimize(loss)
    main = fluid.distributed.data_parallel(fluid.default_main_program())
    assert "c_allreduce_start" not in types(main)
    assert "c_allreduce_start" in [op.type for op in main.block(1).ops]


def test_what_has_no_gradients_or_is_no_program_is_refused():
    regression()
    with pytest.raises(ArgumentError, match=r"call minimize\(loss\) of an optimizer before"):
        fluid.distributed.data_parallel(fluid.default_main_program())
    with pytest.raises(ArgumentError, match="expected program to be a Program, got 3"):
        fluid.distributed.data_parallel(3)
    with pytest.raises(ArgumentError, match="expected bucket_bytes to be a positive number, got 0"):
        fluid.distributed.data_parallel(fluid.default_main_program(), bucket_bytes=0)


@pytest.mark.parametrize("passes", PASSES)
def test_interpreted_and_compiled_runs_call_the_group_in_the_order_of_the_program(passes):
    deep()
    main = fluid.distributed.data_parallel(fluid.default_main_program(), bucket_bytes=48)
    group = Doubled()
    want = [
        f"start {', '.join(op.attrs['of'])}" if op.type == "c_allreduce_start" else "wait"
        for op in main.global_block().ops
        if op.type in ("c_allreduce_start", "c_allreduce_wait")
    ]
    with groups.guard(group):
        started()
        exe = fluid.Executor(passes=passes)
        for run in range(4):
            group.calls.clear()
            exe.run(main, feed={"x": np.ones([2, 3], "float32")})
            first = [call for call in group.calls if call == "broadcast"]
            assert bool(first) == (run == 0)  # the values that all begin with
            assert group.calls == first + want


def test_a_compiled_run_that_fails_is_repeated_from_where_its_calls_began():
    deep()
    main = fluid.distributed.data_parallel(fluid.default_main_program(), bucket_bytes=48)
    feed = {"x": np.ones([2, 3], "float32")}
    group = Repeated()
    with groups.guard(group):
        started()
        exe = fluid.Executor()
        for _ in range(2):
            exe.run(main, feed=feed)
        compiled, declines = exe.plan(main).compiled, []
        compute = compiled.run

        def declining(*given):
            made = compute(*given)
            if declines:
                raise KernelDeclined
            return made

        compiled.run = declining
        exe.plan(main).bound.of(fluid.global_scope()).clear()  # it is bound to this one
        for _ in range(3):
            group.calls.clear()
            exe.run(main, feed=feed)
        whole = list(group.calls)
        declines.append(True)
        group.calls.clear()
        exe.run(main, feed=feed)
    # by a bound call, as it was planned, and step by step
    assert group.calls == [*whole, "repeat from 0", *whole, "repeat from 0", *whole]


def test_operators_that_nobody_reads_are_run_and_equal_ones_are_not_merged():
    x = fluid.data("x", [None, 3], "float32")
    block = fluid.default_main_program().global_block()
    for name in "abc":
        out = block.create_var(name=name, dtype="float32")
        block.append_op("c_allreduce_sum", {"X": x}, {"Out": out})
    group = Doubled()
    with groups.guard(group):
        exe = fluid.Executor()
        for _ in range(4):
            group.calls.clear()
            made = exe.run(feed={"x": np.ones([2, 3], "float32")}, fetch_list=["b"])[0]
            assert made.tolist() == [[2.0] * 3] * 2
            assert group.calls == ["all_reduce"] * 3


def test_processes_that_have_the_same_gradients_train_as_one():
    loss = deep()
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    startup.random_seed = 3
    feed = {"x": np.ones([2, 3], "float32")}

    def losses():
        exe = started()
        return [exe.run(main, feed=feed, fetch_list=[loss])[0].item() for _ in range(4)]

    want = losses()
    fluid.distributed.data_parallel(main, startup)
    assert losses() == want
    with groups.guard(Doubled()):  # half of the gradient, twice
        assert losses() == want
