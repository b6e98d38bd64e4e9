"""Operators that run blocks."""

import numpy as np
import pytest

import fluidlite as fluid

layers = fluid.layers


@pytest.mark.parametrize("reverse", [False, True])
def test_a_recurrence_runs_from_either_end(reverse):
    main = fluid.Program()
    with fluid.program_guard(main):
        x = fluid.data("x", [3, 2], "float32")
        x.stop_gradient = False
        start = layers.fill_constant([2], "float32", 1.0)
        rnn = layers.StaticRNN()
        with rnn.step():
            before = rnn.memory(init=start)
            after = before * rnn.step_input(x)
            rnn.update_memory(before, after)
            rnn.step_output(after)
        out = rnn()
        (op,) = [op for op in out.block.ops if op.type == "recurrent"]
        op.replace_attr("reverse", reverse)
        (slope,) = fluid.gradients(layers.reduce_sum(out), x)
    value = np.array([[1, 2], [3, 4], [5, 6]], "float32")
    found, slopes = fluid.Executor().run(main, feed={"x": value}, fetch_list=[out, slope])
    order = slice(None, None, -1 if reverse else 1)
    np.testing.assert_array_equal(found, np.cumprod(value[order], 0)[order])
    a, b, c = value[order]
    expected = np.stack([1 + b + b * c, a + a * c, a * b])[order]
    np.testing.assert_array_equal(slopes, expected)
