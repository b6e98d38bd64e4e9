"""Devices that operators are marked with, and versions that scripts ask for."""

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, VersionError
from fluidlite.ir.program import Program

from building import data


def devices():
    ops = fluid.default_main_program().global_block().ops
    return [(op.type, op.attr("op_device")) for op in ops]


def test_operators_inside_are_marked_and_first_values_too():
    x = data()
    with fluid.device_guard("gpu"):
        y = fluid.layers.fc(x, 2, bias_attr=False)
        with fluid.device_guard("cpu"):
            y = fluid.layers.relu(y)
        with fluid.device_guard():
            y = fluid.layers.relu(y)
        y = fluid.layers.tanh(y)
    fluid.layers.mean(y)
    forward = [("mul", "gpu"), ("relu", "cpu"), ("relu", ""), ("tanh", "gpu"), ("mean", "")]
    assert devices() == forward
    (first, *_) = fluid.default_startup_program().global_block().ops
    assert first.attr("op_device") == "gpu"


def test_marks_stay_in_the_text_and_in_files():
    with fluid.device_guard("cpu"):
        fluid.layers.relu(data())
    program = fluid.default_main_program()
    for copy in (Program.parse(str(program)), Program.parse_from_string(program.to_bytes())):
        assert copy.global_block().ops[0].attr("op_device") == "cpu"


@pytest.mark.parametrize("device", ["xpu", "gpu:1", "CPU", 3])
def test_other_devices_are_refused(device):
    with pytest.raises(ArgumentError, match='expected device to be "cpu", "gpu" or None'):
        with fluid.device_guard(device):
            pass


def test_there_are_no_pinned_places():
    assert fluid.cuda_pinned_places() == fluid.cuda_pinned_places(3) == []


def test_memory_is_planned_without_being_asked():
    fluid.layers.relu(data())
    program = fluid.default_main_program()
    before = str(program)
    assert fluid.memory_optimize(program, print_log=True) is fluid.release_memory(program) is None
    assert str(program) == before


@pytest.mark.parametrize(
    "versions", [("1.8.5",), ("0.1.0",), ("0.1", "10.0"), ("1",), ("1.8.5", "1.8.5.0")]
)
def test_a_script_for_fluid_1_8_runs(versions):
    fluid.require_version(*versions)


@pytest.mark.parametrize(
    "versions", [("2.0.0",), ("1.8.5.1",), ("0.1.0", "1.7.9"), ("1.9", "2.0"), ("1.8", "1.7")]
)
def test_a_script_for_another_version_does_not(versions):
    with pytest.raises(VersionError, match="this has the interface of fluid 1.8.5"):
        fluid.require_version(*versions)


@pytest.mark.parametrize(
    "versions", [(1,), ("abc",), ("",), ("1.7.0", 5), ("1.8.5-rc",), ("1.2.3.4.5",)]
)
def test_what_is_no_version_is_refused(versions):
    with pytest.raises(ArgumentError, match=r'to be a text such as "1.8.0"'):
        fluid.require_version(*versions)


def test_gradients_and_steps_are_meant_for_the_device_of_their_operator():
    x = fluid.data("x", [2, 3], "float32")
    with fluid.device_guard("cpu"):
        loss = fluid.layers.mean(fluid.layers.fc(x, 2))
    fluid.optimizer.SGD(0.1).minimize(loss)
    assert {op.device for op in loss.block.ops} == {"cpu"}


def test_operators_that_drive_blocks_are_not_marked():
    i, n = (fluid.layers.fill_constant([1], "int64", k) for k in (0, 3))
    loop = fluid.layers.While(fluid.layers.less_than(i, n))

    def build():
        with fluid.device_guard("cpu"), loop.block():
            fluid.layers.increment(i)
            fluid.layers.less_than(i, n, cond=loop.cond_var)

    with pytest.warns(UserWarning, match="while drives a block and stays"):
        build()
    main = fluid.default_main_program()
    assert main.global_block().ops[-1].device == ""
    assert {op.device for op in main.block(1).ops} == {"cpu"}
