"""Steps, and what those of one form share."""

import numpy as np

import fluidlite as fluid
from fluidlite.runtime.plan import Plan

layers = fluid.layers


def test_steps_of_one_type_with_the_same_slots_share_a_form():
    x = fluid.data("x", [2, 3])
    y = layers.scale(layers.scale(x, 2.0), 3.0) + x
    first, second, last = Plan(y.block.program, [y.name]).steps
    assert first.direct.form is second.direct.form
    assert first.direct.op.scale == 2.0 and second.direct.op.scale == 3.0
    assert last.direct.form is not first.direct.form


def test_an_operator_without_an_optional_input_has_another_form():
    x, index = fluid.data("x", [2, 3]), fluid.data("index", [1], "int32")
    one = layers.slice(x, [0], [0], [1])
    other = layers.slice(x, [0], [index], [2])
    plan = Plan(x.block.program, [one.name, other.name])
    forms = [step.direct.form for step in plan.steps if step.op.type == "slice"]
    assert len(forms) == 2 and forms[0] is not forms[1]
    feed = {"x": np.arange(6, dtype="float32").reshape(2, 3), "index": np.array([1], "int32")}
    results = fluid.Executor().run(feed=feed, fetch_list=[one, other])
    assert [each.tolist() for each in results] == [[[0, 1, 2]], [[3, 4, 5]]]
