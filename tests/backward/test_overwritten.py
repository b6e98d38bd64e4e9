"""Values that are overwritten before a gradient operator reads them are saved."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ir.verify import verify

layers = fluid.layers


def start(value=2.0):
    x = fluid.data("x", [1], "float64")
    x.stop_gradient = False
    return x, {"x": np.array([value])}


def run(fetch, feed):
    verify(fluid.default_main_program())
    return [float(v[0]) for v in fluid.Executor().run(feed=feed, fetch_list=fetch)]


def test_a_value_that_assign_overwrites_keeps_its_own_gradient():
    x, feed = start()
    y = layers.scale(x, 1.0)
    square = layers.square(y)  # reads 2
    layers.assign(layers.scale(y, 10.0), y)
    loss = layers.reduce_sum(square + layers.square(y))  # x^2 + 100 x^2
    (dx,) = fluid.gradients(loss, x)
    assert run([dx], feed) == [404.0]


def test_an_operator_that_writes_what_it_reads_is_differentiated_at_what_it_read():
    x, feed = start(3.0)
    y = layers.scale(x, 1.0)
    block = fluid.default_main_program().global_block()
    for _ in range(2):
        block.append_op("square", {"X": y}, {"Out": y})
    (dx,) = fluid.gradients(layers.reduce_sum(y), x)
    assert run([dx], feed) == [4 * 3.0**3]


def test_increment_in_place_passes_gradients():
    x, feed = start()
    y = layers.scale(x, 1.0)
    layers.increment(y, value=1.0, in_place=True)
    (dx,) = fluid.gradients(layers.reduce_sum(y * y), x)
    assert run([dx], feed) == [6.0]


def test_a_second_sweep_over_saved_values_is_right_too():
    x, feed = start()
    y = layers.scale(x, 1.0)
    square = layers.square(y)
    layers.assign(square * y, y)  # x^3
    (first,) = fluid.gradients(layers.reduce_sum(y), x)
    (second,) = fluid.gradients(first, x)
    (third,) = fluid.gradients(second, x)
    assert run([first, second, third], feed) == [12.0, 12.0, 6.0]


def test_parameters_that_a_first_optimizer_updates_are_differentiated_at_their_old_values():
    w = layers.create_parameter(
        [1], "float64", attr=fluid.ParamAttr("w", initializer=fluid.initializer.Constant(3.0))
    )
    loss = layers.reduce_sum(layers.square(w))
    fluid.optimizer.SGD(0.5).minimize(loss)  # w becomes 0
    with pytest.warns(UserWarning, match="updates w already"):
        fluid.optimizer.SGD(0.125).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run()
    left = np.array(fluid.global_scope().find_var("w").get_tensor())
    np.testing.assert_allclose(left, [-0.75])
