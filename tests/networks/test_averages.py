"""Slow weights and averages of weights are those of torch, by a program."""

from network_values import STEPS
from torch_losses import Numbers, assert_as_torch, in_both_precisions

import fluidlite as fluid
from fluidlite import layers


@in_both_precisions
def test_lookahead_and_averages(dtype):
    numbers = Numbers(dtype)
    x, y = fluid.data("x", [None, 4], dtype), fluid.data("y", [None, 1], dtype)
    hidden = layers.fc(x, 6, act="tanh", param_attr="w1", bias_attr="b1")
    found = layers.fc(hidden, 1, param_attr="w2", bias_attr="b2")
    loss = layers.mean(layers.square_error_cost(found, y))
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.25), alpha=0.5, k=4).minimize(loss)
    moving = fluid.optimizer.ExponentialMovingAverage(0.875)
    moving.update()
    whole = fluid.optimizer.ModelAverage(1.0, min_average_window=100, max_average_window=100)
    executor = fluid.Executor()
    feed = {"x": numbers.array("x", 16, 4), "y": numbers.array("y", 16, 1)}
    executor.run(fluid.default_startup_program())
    for parameter in fluid.default_main_program().all_parameters():
        for name in (parameter.name, f"{parameter.name}@SLOW"):
            held = fluid.global_scope().find_var(name)
            if held is not None:
                value = numbers.start(parameter.name, *parameter.shape)
                held.get_tensor().set(value, fluid.CPUPlace())
    losses = [executor.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(STEPS)]
    for average in (moving, whole):
        with average.apply(executor):
            losses.append(executor.run(test, feed=feed, fetch_list=[loss])[0].item())
    assert_as_torch("lookahead_and_averages", losses, dtype)
