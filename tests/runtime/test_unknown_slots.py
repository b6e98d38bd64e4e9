"""Operators of files with slots that their definitions do not have: they run without them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import NotInitializedError

from protobuf_messages import message_classes


def read_with(change):
    """A program of two operators as a file has it whose first operator was changed."""
    with fluid.program_guard(fluid.Program()):
        x = fluid.data("x", [2], "float32")
        x.stop_gradient = False
        y = fluid.layers.scale(fluid.layers.relu(x), 2.0)
        data = fluid.default_main_program().to_bytes()
    message = message_classes()["ProgramDesc"].FromString(data)
    change(message.blocks[0].ops[0])
    with pytest.warns(UserWarning, match=r"does not know the \w+ slot 'Extra'"):
        return fluid.Program.parse_from_string(message.SerializeToString()), y.name


def more(side, name):
    def change(op):
        slot = getattr(op, side).add()
        slot.parameter = b"Extra"
        slot.arguments.append(name)

    return change


@pytest.mark.parametrize("change", [more("inputs", b"x"), more("outputs", b"z")])
def test_a_program_runs_and_is_differentiated_without_slots_that_nobody_knows(change):
    program, y = read_with(change)
    with fluid.program_guard(program):
        (dx,) = fluid.gradients(program.global_block().var(y), program.global_block().var("x"))
    exe = fluid.Executor()
    for _ in range(4):  # interpreted, compiled, bound
        value, slope = exe.run(
            program, feed={"x": np.array([1, -1], "float32")}, fetch_list=[y, dx]
        )
        assert value.tolist() == slope.tolist() == [2, 0]
    assert "Extra" in str(program)


def test_what_an_unknown_output_would_write_is_written_by_nobody():
    def rename(op):
        op.outputs[0].parameter = b"Extra"

    program, y = read_with(rename)
    feed = {"x": np.ones(2, "float32")}
    with pytest.raises(NotInitializedError, match="scale"):
        fluid.Executor().run(program, feed=feed, fetch_list=[y])


def test_ways_of_gradients_pass_no_slot_that_nobody_knows():
    program, y = read_with(more("inputs", b"x"))
    block = program.global_block()
    assert fluid.explain_gradient(block.var("x"), block.var(y)) is not None
