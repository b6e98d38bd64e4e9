"""What a branch that is not taken would have written stays what it was."""

import numpy as np
import pytest

import fluidlite as fluid


@pytest.mark.parametrize("read", [False, True], ids=["by a branch", "by an operator"])
def test_a_persistable_is_read_behind_a_branch_that_may_write_it(read):
    layers = fluid.layers
    kept = layers.create_global_var([1], 5.0, "float32", persistable=True)
    x = fluid.data("x", [1], "float32")
    zero = layers.fill_constant([1], "float32", 0.0)
    positive = layers.less_than(zero, x)
    with layers.Switch() as switch, switch.case(positive):
        layers.assign(zero, kept)
    seen = [layers.elementwise_add(kept, zero)] if read else []
    with layers.Switch() as switch, switch.case(layers.logical_not(positive)):
        layers.increment(kept)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = []
    for value in (-1, -1, 1, -1, 1, -1, -1):
        feed = {"x": np.array([value], "float32")}
        found.append([v[0] for v in exe.run(feed=feed, fetch_list=[kept, *seen])])
    assert [v[0] for v in found] == [6, 7, 0, 1, 0, 1, 2]
    if read:
        assert [v[1] for v in found] == [5, 6, 0, 0, 0, 0, 1]


def test_a_persistable_that_only_a_branch_writes_needs_no_first_value():
    layers = fluid.layers
    x = fluid.data("x", [1], "float32")
    kept = (
        fluid.default_main_program()
        .global_block()
        .create_var(name="kept", shape=[1], dtype="float32", persistable=True)
    )
    with layers.Switch() as switch, switch.case(layers.less_than(x, x + 1.0)):
        layers.assign(x, kept)
    (found,) = fluid.Executor().run(feed={"x": np.ones([1], "float32")}, fetch_list=[kept])
    assert found.tolist() == [1.0]
