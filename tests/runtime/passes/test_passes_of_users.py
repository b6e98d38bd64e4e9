"""Passes over plans that users write: from ``fluidlite.runtime.passes`` to an executor."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, PassError
from fluidlite.runtime import passes


@passes.plan_pass(needs=[passes.no_blocks, passes.static_sizes], keeps=[passes.outputs])
def drop_scales_by_one(graph, context):
    changed = False
    for instruction in graph:
        op = instruction.op
        if op.type == "scale" and op.scale == 1.0 and not op.bias:
            graph.replace(instruction, instruction.inputs[0])
            changed = True
    return changed


def run_by(*own):
    """What an executor with further passes computes, and its plan."""
    y = fluid.layers.tanh(fluid.layers.scale(fluid.data("x", [2]), 1.0))
    exe = fluid.Executor(passes=[*own, *passes.PIPELINE])
    for _ in range(3):
        (value,) = exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
    return value, exe.plan(fetch_list=[y])


def test_a_pass_of_a_user_rewrites_plans():
    value, plan = run_by(drop_scales_by_one)
    np.testing.assert_allclose(value, np.tanh([1, 1]), rtol=1e-6)
    stages = {stage.name: stage.text for stage in plan.stages}
    assert "scale(" in stages["lower"] and "scale(" not in stages["drop_scales_by_one"]


def test_a_pass_of_a_user_that_fails_says_so():
    @passes.plan_pass()
    def fails(graph, context):
        raise KeyError("x")

    with pytest.raises(PassError, match="pass fails: KeyError: 'x'"):
        run_by(fails)


def test_a_pass_that_leaves_a_wrong_graph_is_refused():
    @passes.plan_pass(name="erases")
    def erase_first(graph, context):
        first = next(iter(graph))
        first.results[0].users.clear()
        graph.erase(first)
        return True

    with pytest.raises(PassError, match="pass erases: "):
        run_by(erase_first)


def test_what_a_pass_over_plans_needs_is_checked():
    never = passes.Condition(
        "there are no graphs", lambda graph: f"it has {len(graph)} instructions"
    )
    needing = passes.plan_pass(name="needing", needs=[never])(lambda graph, context: False)
    with pytest.raises(PassError, match="needing: needs .* it has 2 instructions"):
        run_by(needing)


def test_a_sequence_of_passes_has_those_that_every_plan_needs():
    with pytest.raises(ArgumentError, match="'kernel_selection', which every plan needs"):
        fluid.Executor(passes=[drop_scales_by_one])
    with pytest.raises(ArgumentError, match="expected a sequence of passes"):
        fluid.Executor(passes=[print])
