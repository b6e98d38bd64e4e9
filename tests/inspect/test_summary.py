"""Costs of programs: tables and timelines."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.inspect import memory_timeline, summary
from fluidlite.ir.costs import multiply_adds
from fluidlite.runtime.plan import Plan

from specimens import deep, evil, lenet, lenet_feed, loop


def main():
    return fluid.default_main_program()


# -- summary ---------------------------------------------------------------------------------------


def test_layers_have_their_parameters_shapes_and_multiply_adds():
    lenet()
    rows = {row.name: row for row in main().summary(batch_size=6).rows}
    conv = rows["conv2d_0"]
    assert conv.operators == ("conv2d", "elementwise_add", "relu")
    assert conv.parameters == 4 * 25 + 4 and conv.shape == (-1, 4, 12, 12)
    assert conv.multiply_adds == 6 * 4 * 12 * 12 * 25
    assert rows["fc_0"].multiply_adds == 6 * 144 * 20
    assert rows["fc_0"].parameters == 144 * 20 + 20


def test_totals_count_everything_once():
    lenet()
    found = summary(main(), batch_size=6)
    parameters = sum(int(np.prod(p.shape)) for p in main().all_parameters())
    assert found.parameters == found.trainable == parameters
    assert found.parameter_bytes == 4 * parameters
    assert found.state_bytes == 4 * parameters + 4  # velocities, and the learning rate
    assert dict(found.operators)["optimize"] == 6
    costs = dict(found.multiply_adds)
    # two products for each of the forward one, but for the gradient of the image
    conv = 6 * 4 * 12 * 12 * 25
    assert costs["backward"] == 2 * costs["forward"] - conv


def test_forward_values_take_what_a_run_finds():
    lenet(train=False)
    program = main()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    trace = exe.trace(program, lenet_feed(6))
    taken = {n: v.nbytes for r in trace for n, v in r.outputs.items()}
    assert summary(program, 6).value_bytes == sum(taken.values())


def test_a_shared_parameter_is_counted_at_its_first_use():
    x = fluid.data("x", [None, 4], "float32")
    attr = fluid.ParamAttr(name="shared")
    for _ in range(2):
        x = fluid.layers.fc(x, size=4, param_attr=attr, bias_attr=False)
    rows = summary(main()).rows
    assert [row.parameters for row in rows] == [16, 0]


def test_the_table_is_aligned_and_survives_json():
    found = summary(deep(3))
    lines = str(found).splitlines()
    assert lines[0].split() == ["layer", "operators", "output", "parameters", "multiply-adds"]
    column = lines[0].index("parameters")
    assert all(line[column - 1] == " " for line in lines[2:10] if len(line) > column)
    assert json.loads(json.dumps(found.to_dict()))["parameters"] == found.parameters


def test_counts_agree_with_what_kernels_multiply():
    rng = np.random.default_rng(0)
    x = fluid.data("x", [2, 3, 5, 7], "float32")
    fluid.layers.conv2d(x, 4, [3, 2], groups=1, bias_attr=False)
    fluid.layers.matmul(x, fluid.layers.transpose(x, [0, 1, 3, 2]))
    fluid.layers.conv2d_transpose(x, 4, filter_size=3, bias_attr=False)
    counts = {op.type: multiply_adds(op, 1) for op in main().global_block().ops}
    assert counts["conv2d"] == 2 * 4 * 3 * 6 * (3 * 3 * 2)
    assert counts["matmul"] == 2 * 3 * 5 * 5 * 7
    assert counts["conv2d_transpose"] == 2 * 3 * 5 * 7 * (4 * 3 * 3)
    assert counts["transpose2"] == 0 and rng is not None


def test_strange_programs_have_summaries():
    for program in (fluid.Program(), evil()):
        assert summary(program).parameters == 0
        assert "<script" not in summary(program)._repr_html_()
    loop()
    assert "while" in str(summary(main()))


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(ArgumentError, match="positive batch size, got 0"):
        fluid.Program().summary(batch_size=0)
    with pytest.raises(ArgumentError, match="expected a Program, got 1"):
        summary(1)


# -- memory ----------------------------------------------------------------------------------------


def test_values_are_held_until_the_last_operator_that_reads_them():
    x = fluid.data("x", [None, 100], "float32")
    a = fluid.layers.relu(x)
    b = fluid.layers.tanh(a)
    c = fluid.layers.elementwise_add(a, b)
    timeline = memory_timeline(main(), batch_size=3)
    size = 3 * 100 * 4
    assert [m.live for m in timeline.moments] == [2 * size, 2 * size, 3 * size]
    assert [m.freed for m in timeline.moments] == [size, 0, 3 * size]
    assert timeline.everything == 4 * size and timeline.peak is timeline.moments[2]
    assert dict(timeline.at_peak) == {a.name: size, b.name: size, c.name: size}


def test_what_is_fetched_is_held_to_the_end():
    x = fluid.data("x", [10], "float32")
    a = fluid.layers.relu(x)
    fluid.layers.tanh(fluid.layers.relu(a))
    kept = memory_timeline(main(), fetch_list=[a]).moments[-1].live
    assert kept == memory_timeline(Plan(main(), [a.name])).moments[-1].live == 3 * 40


def test_parameters_stand_beside_the_timeline():
    lenet()
    timeline = memory_timeline(main(), batch_size=6)
    found = summary(main())
    assert timeline.kept == found.parameter_bytes + found.state_bytes
    assert timeline.peak.live < timeline.everything
    assert str(timeline).splitlines()[2].startswith("  peak ")


def test_the_timeline_is_drawn(tmp_path):
    lenet()
    timeline = memory_timeline(main())
    timeline.draw(tmp_path / "memory.svg")
    root = ET.parse(tmp_path / "memory.svg").getroot()
    assert any("peak: " in (each.text or "") for each in root.iter())
    assert "<svg" in timeline._repr_html_()
    with pytest.raises(ArgumentError, match="drawn as .svg, got 'memory.gif'"):
        timeline.draw("memory.gif")


def test_empty_programs_take_no_memory():
    timeline = memory_timeline(fluid.Program())
    assert timeline.peak is None and "no operators" in str(timeline)
    assert "</svg>" in timeline.to_svg()
    with pytest.raises(ArgumentError, match="a Plan or a Program, got int"):
        memory_timeline(3)
