"""Operators that write into what their output held before."""

import numpy as np

import fluidlite as fluid


def test_a_tensor_of_the_scope_that_is_written_in_part_is_kept_from_run_to_run():
    x = fluid.data("x", [None, 2], "float32")
    block, scope = fluid.default_main_program().global_block(), fluid.global_scope()
    firsts = {"scale": np.array([0.001], "f"), "step": np.array([0]), "window": np.zeros(3, "f")}
    for name, value in firsts.items():
        block.create_var(name=name, shape=value.shape, dtype=value.dtype, persistable=True)
        scope.var(name).get_tensor().set(value)
    out = block.create_var(name="out", shape=[-1, 2], dtype="float32")
    block.append_op("increment", {"X": "step"}, {"Out": "step"}, {"step": 1.0})
    block.append_op(
        "fake_quantize_range_abs_max",
        {"X": x, "InScale": "scale", "Iter": "step"},
        {"Out": out, "OutScale": "scale", "OutScales": "window"},
        {"window_size": 3},
    )
    executor, found = fluid.Executor(), []
    for most in (5, 4, 3, 2, 1):
        feed = {"x": np.full([1, 2], most, "float32")}
        found.append(executor.run(feed=feed, fetch_list=["scale", "window"]))
    assert [scale.item() for scale, _ in found] == [5, 5, 5, 4, 3]
    assert [window.tolist() for _, window in found[2:]] == [[3, 5, 4], [3, 2, 4], [3, 2, 1]]
