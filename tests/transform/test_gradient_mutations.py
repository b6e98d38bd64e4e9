"""Mistakes in gradient parts are found, and what changes nothing is not taken for a mistake.

``python tests/tools/mutate_gradients.py`` tries as many as one likes in random programs.
"""

import pytest
from gradient_mutations import tried
from shares import share

import fluidlite as fluid

MISTAKES = share(24)  #: in each network


def dense(x):
    layers = fluid.layers
    hidden = layers.fc(x, 5, act="relu")
    shared = layers.elementwise_add(layers.fc(hidden, 5, act="tanh"), hidden)
    label = fluid.data("label", [None, 1], "int64")
    cost = layers.softmax_with_cross_entropy(layers.fc(shared, 3), label)
    return layers.mean(cost) + layers.mean(layers.square(shared))


def images(x):
    layers = fluid.layers
    image = layers.reshape(layers.fc(x, 16), [-1, 1, 4, 4])
    hidden = layers.batch_norm(layers.conv2d(image, 2, 3, padding=1), act="relu")
    pooled = layers.pool2d(hidden, 2, "avg", 2)
    return layers.mean(layers.square(layers.fc(pooled, 2, act="sigmoid")))


def loop(x):
    layers = fluid.layers
    state = layers.fc(x, 4)
    i, count = (layers.fill_constant([1], "int64", n) for n in (0, 3))
    _, state = layers.while_loop(
        lambda i, s: layers.less_than(i, count),
        lambda i, s: [layers.increment(i, in_place=False), layers.tanh(s * x + s)],
        [i, state],
    )
    return layers.mean(layers.square(state))


@pytest.mark.parametrize("network", [dense, images, loop])
def test_a_mistake_is_found_where_it_changes_a_gradient(network):
    x = fluid.data("x", [None, 4], "float32")
    x.stop_gradient = False
    fluid.append_backward(network(x))
    findings, counts = tried(fluid.default_main_program(), range(MISTAKES))
    assert not findings
    changed = sum(n for (truth, _), n in counts.items() if truth == "changed")
    assert changed >= MISTAKES // 8  # the others break the program, or change nothing
