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


def test_the_gradient_of_a_loop_takes_a_gradient_that_nothing_writes_as_zero():
    main = fluid.Program()
    with fluid.program_guard(main):
        x = fluid.data("x", [2])
        x.stop_gradient = False
        i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
        _, _, result = layers.while_loop(
            lambda i, a, b: layers.less_than(i, n),
            lambda i, a, b: [i + 1, a * a, b * a],
            [i, layers.assign(x), layers.assign(x)],
        )
        (gradient,) = fluid.gradients(layers.reduce_sum(result), x)
    block = main.global_block()
    loop = next(op for op in block.ops if op.type == "while_grad")
    unread = loop.input("Out@GRAD")[0]
    zeros = next(op for op in block.ops if op.writes(unread) and op is not loop)
    block.set_ops([op for op in block.ops if op is not zeros])  # as files of Paddle 2 have it
    feed = {"x": np.array([0.5, -2.0], "float32")}
    (came,) = fluid.Executor().run(main, feed, [gradient])
    np.testing.assert_allclose(came, 8 * feed["x"] ** 7, rtol=1e-6)
