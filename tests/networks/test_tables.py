"""Programs on tables and graphs lose what they lose in torch, step by step."""

import numpy as np
from network_values import STEPS, integers
from torch_losses import Numbers, assert_as_torch, in_both_precisions

import fluidlite as fluid
from fluidlite import layers


def run(numbers, loss, feed_of):
    """The losses of the steps of a program whose parameters are called as their start values."""
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    for parameter in fluid.default_main_program().all_parameters():
        tensor = fluid.global_scope().find_var(parameter.name).get_tensor()
        tensor.set(numbers.start(parameter.name, *parameter.shape), fluid.CPUPlace())
    return [executor.run(feed=feed_of(step), fetch_list=[loss])[0].item() for step in range(STEPS)]


@in_both_precisions
def test_two_towers_with_sparse_tables(dtype):
    numbers = Numbers(dtype)

    def tower(name, size, count):
        ids = fluid.data(name, [None, count], "int64")
        rows = fluid.embedding(
            ids, [size, 4], is_sparse=True, param_attr=f"{name} table", dtype=dtype
        )
        hidden = layers.fc(
            layers.reduce_mean(rows, dim=1),
            3,
            act="tanh",
            param_attr=f"{name} matrix",
            bias_attr=f"{name} bias",
        )
        return layers.l2_normalize(hidden, axis=1)

    scores = layers.matmul(tower("users", 9, 2), tower("items", 12, 3), transpose_y=True, alpha=4.0)
    label = layers.assign(np.arange(5).reshape(5, 1))
    loss = layers.mean(layers.softmax_with_cross_entropy(scores, label))
    fluid.optimizer.Adagrad(0.25, epsilon=1e-6).minimize(loss)
    losses = run(
        numbers,
        loss,
        lambda step: {
            "users": integers(f"users of {step}", 9, 5, 2),
            "items": integers(f"items of {step}", 12, 5, 3),
        },
    )
    assert_as_torch("two_towers", losses, dtype)


@in_both_precisions
def test_a_graph_convolution(dtype):
    numbers = Numbers(dtype)
    ends = integers("edges of a graph", 10, 2, 24)
    begin, end = np.concatenate([ends, ends[::-1], np.tile(np.arange(10), (2, 1))], axis=1)
    degree = np.bincount(end, minlength=10)
    shares = ((degree[begin] * degree[end]) ** -0.5).astype(dtype)[:, None]
    x, share = fluid.data("x", [10, 5], dtype), fluid.data("share", [None, 1], dtype)
    sources, targets = (
        fluid.data("sources", [None], "int64"),
        fluid.data("targets", [None, 1], "int64"),
    )
    label = fluid.data("label", [7, 1], "int64")

    def passed(y):
        zeros = layers.fill_constant([10, y.shape[1]], dtype, 0.0)
        return layers.scatter_nd_add(zeros, targets, layers.gather(y, sources) * share)

    def product(y, name, size):
        return layers.fc(y, size, param_attr=name, bias_attr=False)

    bias = layers.create_parameter([6], dtype, attr="bias")
    hidden = layers.relu(layers.elementwise_add(passed(product(x, "first", 6)), bias))
    scores = passed(product(hidden, "second", 3))
    loss = layers.mean(layers.softmax_with_cross_entropy(scores[:7], label))
    fluid.optimizer.Momentum(
        0.25, 0.875, use_nesterov=True, regularization=fluid.regularizer.L2Decay(0.0078125)
    ).minimize(loss)
    feed = {
        "x": numbers.array("nodes", 10, 5),
        "share": shares,
        "sources": begin,
        "targets": end[:, None],
        "label": integers("kinds", 3, 10)[:7, None],
    }
    assert_as_torch("graph_convolution", run(numbers, loss, lambda _: feed), dtype)
